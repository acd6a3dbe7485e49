// The path of this program for a configuration of another program, which is read for months: in the places of
// this user, not where this process happened to find it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::proc {

struct OwnProgram {
  std::string path;   // absolute: the one in PATH if that is this program, else the file that runs
  std::string doubt;  // why it may not be there for long, as a sentence; empty = none
};

Result<OwnProgram> own_program(const std::vector<std::string>& environment);

/// The file that this process runs, and what is at its path now.
struct RunningProgram {
  enum class File { Same, Other, Gone };

  std::string path;  // as it was when the process started; empty = not known
  File file = File::Same;
};

/// Compares files, not versions: an upgrade replaces the file even if the version stays.
RunningProgram running_program();
/// The same for another process. `process` is its directory in /proc.
RunningProgram running_program(const std::string& process);

/// Why a program at this path may not be there for long: it is in a build tree, in the cache of npx or in a
/// directory for temporary files.
std::string doubt_about_path(std::string_view path);

}  // namespace corral::proc
