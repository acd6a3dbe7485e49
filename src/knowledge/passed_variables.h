// Which variables of a client a known server gets. Where it is known which variables a server reads, the
// others make no difference, so they are not passed on: what reaches a server, it could notice. Pure; any
// thread may call these functions.
#pragma once

#include <span>
#include <string_view>

#include "knowledge/known_servers.h"
#include "proc/launch_spec.h"

namespace corral::knowledge {

/// Variables that a server may read without a word in its own source, with the reason.
struct RuntimeVariables {
  std::string_view names;  // as in match_name
  std::string_view why;
};
std::span<const RuntimeVariables> runtime_variables();

/// Whether the variable configures what runs below the server: the interpreter, its launcher, libraries.
bool configures_runtime(std::string_view name);

/// Whether the command line has the name as a word, as `docker run -e NAME` and `sh -c 'server $NAME'` have.
bool is_in_command_line(const proc::LaunchSpec& launch, std::string_view name);

enum class Directory : bool { Ignored, Counts };
/// For the command of a client: removes the variables that must not reach its server. These are the project's
/// other names where the directory does not count, and everything that a known server does not read, except
/// credentials and what every program gets. `unnoticed` is empty for an unknown server.
void withhold_variables(proc::LaunchSpec& launch, const Unnoticed& unnoticed, Directory directory);

}  // namespace corral::knowledge
