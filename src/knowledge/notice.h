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
  bool directory_fixed = false;         // it matters, whatever is declared: the command line refers to it
  bool path = true;                     // the variable PATH
  bool project_follows = false;         // variables that name the project matter only with the directory
  std::vector<std::string> ignored{};   // variables that do not matter, sorted
  std::vector<std::string> declared{};  // the variables that were declared, sorted: `ignored` or credentials
  std::vector<std::string> programs{};  // what PATH finds before the server runs; counts if PATH does not

  bool operator==(const Noticed&) const = default;
};

/// Decides by evidence. `launch` is complete; `known` is the server in the list of known servers, or null.
/// `ignore` is what the user has declared (base/ignored_words.h). A directory that the command line refers to
/// always matters.
Noticed what_server_notices(const proc::LaunchSpec& launch, const KnownServer* known,
                            const std::vector<std::string>& ignore);

/// Whether the variable of this name makes a difference.
bool counts(const Noticed& noticed, std::string_view variable);

/// The variables that make a difference, sorted by name. Several of one name stay in their order, because a
/// program gets the first one.
std::vector<std::string_view> variables_that_count(const proc::LaunchSpec& launch, const Noticed& noticed);

/// Whether an argument names a file or directory relative to `directory`: it is written like a relative path,
/// or something of that name is there. An argument with spaces may be a command for a shell, so each of its
/// words is looked at.
bool refers_to_directory(std::string_view argument, const std::string& directory);

struct NoticedLaunch {
  const proc::LaunchSpec& launch;
  const Noticed& noticed;
};
/// One thing that makes two servers of two launches.
struct Difference {
  std::string name{};       // "PATH", "the directory", "EDITOR"; never a value
  std::string ignore{};     // the word that declares that it makes no difference; empty = none does
  bool credential = false;  // or looks like one
  bool is_directory = false;

  bool operator==(const Difference&) const = default;
};
/// Empty if and only if both have the same key (launch_key.h).
std::vector<Difference> differences(const NoticedLaunch& one, const NoticedLaunch& other);

}  // namespace corral::knowledge
