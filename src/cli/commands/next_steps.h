// What to do with a server that was just added: how to look at it, and the line for each client of this user.
// Looks at files and at PATH; starts nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/registration.h"
#include "cli/screen/page.h"

namespace corral::cli {

/// The environment of this process, as "NAME=value".
std::vector<std::string> own_variables();

/// `corral connect NAME` as a client can run it: with the full path if PATH does not find this program. The
/// directory and the file may be empty.
std::vector<std::string> connect_words(const std::string& runtime_dir, const std::string& config,
                                       const std::string& name);

/// The clients of this user: their program is in PATH, or their configuration exists. In the order of
/// `client_titles`.
std::vector<ClientTitle> installed_clients(const std::vector<std::string>& environment);

/// Prints the steps. `config` is the file that the server is in.
void show_next_steps(Page& page, const std::string& config, const std::string& name);

}  // namespace corral::cli
