// What a server can notice of the way in which it is started. Two launches that differ only in what their
// server cannot notice are the same server, and may share an instance.
//
// Reads the file system, to resolve programs and to see which arguments are paths; keeps nothing. Any thread
// may call these functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "knowledge/known_servers.h"
#include "proc/launch_spec.h"

namespace corral::knowledge {

/// Which parts of a launch matter to its server. By default, all of them.
struct Noticed {
  bool directory = true;
  bool path = true;                     // the variable PATH
  std::vector<std::string> ignored{};   // variables that do not matter, sorted
  std::vector<std::string> programs{};  // if PATH does not matter: the programs that were found through it

  bool operator==(const Noticed&) const = default;
};

/// What a user has declared about a server, in its entry or with --ignore. The words that `ignore` accepts.
inline constexpr std::string_view kIgnoreDirectory = "cwd";
inline constexpr std::string_view kIgnorePath = "PATH";

/// Decides by evidence. `launch` is complete; `known` is the server in the list of known servers, or null.
/// `ignore` is what the user has declared. A directory that the command line refers to always matters.
Noticed what_server_notices(const proc::LaunchSpec& launch, const KnownServer* known,
                            const std::vector<std::string>& ignore);

/// Whether the variable of this name makes a difference.
bool counts(const Noticed& noticed, std::string_view variable);

/// Whether an argument names a file or directory relative to `directory`: it is written like a relative path,
/// or something of that name is there.
bool refers_to_directory(std::string_view argument, const std::string& directory);

struct NoticedLaunch {
  const proc::LaunchSpec& launch;
  const Noticed& noticed;
};
/// What makes two servers of two launches, by name and without a value: "PATH", "the directory", "EDITOR".
/// Empty if nothing differs that matters.
std::vector<std::string> differences(const NoticedLaunch& one, const NoticedLaunch& other);

}  // namespace corral::knowledge
