// Whether /proc is mounted so that it shows each user only their own processes (hidepid), and we are such a
// user.
#pragma once

#include <string>
#include <string_view>

namespace corral::survey {

struct HidePid {
  enum class Mode { Off, ForAllButOneGroup, ForAll };

  Mode mode = Mode::Off;
  unsigned group = 0;  // its members see everything
};

/// From the text of mountinfo: what holds for `mount_point`.
HidePid parse_hidepid(std::string_view mountinfo, std::string_view mount_point);

/// `directory` is the open mount point.
bool hides_processes(int directory, const std::string& mount_point);

}  // namespace corral::survey
