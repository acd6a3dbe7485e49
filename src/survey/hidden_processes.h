// Whether /proc is mounted so that this user sees only its own processes (mount option hidepid). Then the
// list of processes is not complete, and `doctor` says so; nothing else depends on it. Root, members of the
// mount's group and processes with CAP_SYS_PTRACE see everything.
#pragma once

#include <string>
#include <string_view>

namespace corral::survey {

struct HidePid {
  enum class Mode { Off, ForAllButOneGroup, ForAll };

  Mode mode = Mode::Off;
  unsigned group = 0;  // its members see everything
};

/// The options of `mount_point` in the text of mountinfo. Pure.
HidePid parse_hidepid(std::string_view mountinfo, std::string_view mount_point);

/// Reads mountinfo and the groups of this process. `directory` is the open mount point. False if the files
/// cannot be read.
bool hides_processes(int directory, const std::string& mount_point);

}  // namespace corral::survey
