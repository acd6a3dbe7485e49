#include "survey/hidden_processes.h"

#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "proc/proc_files.h"
#include "proc/proc_texts.h"

namespace corral::survey {
namespace {

constexpr std::size_t kLongestMountinfo = 4 * 1024 * 1024;

/// "rw,gid=4,hidepid=invisible". Older kernels write numbers.
HidePid parse_options(std::string_view options) {
  HidePid hide;
  while (!options.empty()) {
    const std::string_view option = options.substr(0, options.find(','));
    options.remove_prefix(std::min(option.size() + 1, options.size()));
    if (option.starts_with("gid=")) {
      hide.group = static_cast<unsigned>(proc::whole_number(option.substr(4)).value_or(0));
    }
    if (!option.starts_with("hidepid=")) continue;
    const std::string_view value = option.substr(8);
    if (value == "0" || value == "off")
      hide.mode = HidePid::Mode::Off;
    else if (value == "4" || value == "ptraceable")
      hide.mode = HidePid::Mode::ForAll;
    else
      hide.mode = HidePid::Mode::ForAllButOneGroup;  // noaccess, invisible
  }
  return hide;
}

bool is_in_group(gid_t group) {
  if (getegid() == group) return true;
  const int count = getgroups(0, nullptr);
  if (count <= 0) return false;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  const int got = getgroups(count, groups.data());
  return got > 0 && std::find(groups.begin(), groups.begin() + got, group) != groups.begin() + got;
}

bool may_trace_everybody(std::string_view status) {
  const std::string_view text = proc::value_of(status, "CapEff");
  std::uint64_t capabilities = 0;
  std::from_chars(text.data(), text.data() + text.size(), capabilities, 16);
  return (capabilities >> CAP_SYS_PTRACE & 1) != 0;
}

}  // namespace

HidePid parse_hidepid(std::string_view mountinfo, std::string_view mount_point) {
  HidePid hide;
  for (std::string_view line; proc::take_line(mountinfo, line);) {
    // "22 27 0:21 / /proc rw,relatime shared:5 - proc proc rw,hidepid=invisible"
    const std::size_t dash = line.find(" - proc ");
    if (dash == std::string_view::npos) continue;
    std::string_view head = line.substr(0, dash);
    for (int skipped = 0; skipped < 4; ++skipped) proc::take_word(head);
    if (proc::take_word(head) != mount_point) continue;
    std::string_view tail = line.substr(dash + 8);
    proc::take_word(tail);                        // the source
    hide = parse_options(proc::take_word(tail));  // a later mount covers an earlier one
  }
  return hide;
}

bool hides_processes(int directory, const std::string& mount_point) {
  const auto mountinfo = proc::read_whole(directory, "self/mountinfo", kLongestMountinfo);
  const auto status = proc::read_whole(directory, "self/status", 65536);
  if (!mountinfo || !status) return false;
  const HidePid hide = parse_hidepid(*mountinfo, mount_point);
  if (hide.mode == HidePid::Mode::Off || may_trace_everybody(*status)) return false;
  return hide.mode == HidePid::Mode::ForAll || !is_in_group(hide.group);
}

}  // namespace corral::survey
