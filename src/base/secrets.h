// What may be a secret in a command line, and how a command line is shown without it. Pure.
//
// corral shows command lines of processes and of configured servers in reports, logs and JSON. Nothing says
// which of their words are secrets, so these rules go by names (`--token X`, API_KEY=...), by the form of
// well-known keys
// (`sk-...`), and by passwords in URLs. They hide too much rather than too little.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corral {

/// Whether the name of an option, a variable or a header announces a secret: `--token`, API_KEY, apiKey.
/// False if the name ends with a word such as "file" or "id": its value only says where the secret is.
bool names_secret(std::string_view name);

/// Whether the value of a variable looks like a secret by its form: a well-known kind of key, a long random
/// word, or a URL with a password.
bool looks_secret(std::string_view value);

/// The words of a command line, each printable and with `***` in place of secrets. A word is cut after 4,096
/// bytes.
std::vector<std::string> hide_secrets(const std::vector<std::string>& argv);

/// A command line for people, on one line and always printable (base/text.h). Words that a shell would split
/// are quoted, and each secret becomes `***`. Longer lines than 4,096 bytes are cut and end with "…".
std::string show_command(const std::vector<std::string>& argv);

}  // namespace corral
