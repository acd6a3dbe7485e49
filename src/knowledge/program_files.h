// Which files a running program consists of, as far as they change when its code does. Reads the file system,
// never runs anything.
#pragma once

#include <string>
#include <vector>

namespace corral::knowledge {

struct Program {
  std::string executable;  // absolute; empty = not known
  std::vector<std::string> argv;
  std::string directory;  // in which it stands
};

/// The executable; the script that it runs, if it is an interpreter or the script looks like one; and from
/// the nearest folders above that script the package manifests and the lock files. Absolute, as they were
/// found: a link that is turned to another file counts as a change. `home` ends the way up: what lies in it
/// belongs to nobody.
std::vector<std::string> files_of(const Program& program, const std::string& home);

}  // namespace corral::knowledge
