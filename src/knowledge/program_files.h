// Which files change when the code of a program changes. Reads the file system; never runs a program.
#pragma once

#include <string>
#include <vector>

namespace corral::knowledge {

struct Program {
  std::string executable;  // absolute; empty = not known
  std::vector<std::string> argv;
  std::string directory;  // its working directory
};

/// The executable; the script that it runs, if it is an interpreter or the file looks like a script; and the
/// package manifests and lock files from the nearest directories above the script. The paths are absolute and
/// may be links: a link that names another file later counts as a change. The search upwards ends before
/// `home`, whose files belong to no package.
std::vector<std::string> files_of(const Program& program, const std::string& home);

}  // namespace corral::knowledge
