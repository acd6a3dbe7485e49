// Reads the servers from the configuration of a known client and translates them into corral's format. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/credentials.h"
#include "config/merge.h"

namespace corral::config {

/// What was left out or changed, and why; never values, which may be secret.
struct ImportNote {
  std::string text;
  std::string server{};  // the server that is changed; empty = it is left out, or there are several
};

struct Import {
  std::vector<NewServer> servers;
  /// By the name of the server; of those that are left out, too.
  std::vector<std::pair<std::string, PlainCredential>> credentials;
  std::vector<ImportNote> notes;
};

/// The extension of the file decides whether it is JSON or TOML; without one, the first character does. An
/// error if the text cannot be parsed, or if none of the known places has servers.
Result<Import> import_servers(const std::string& text, const std::string& file);

}  // namespace corral::config
