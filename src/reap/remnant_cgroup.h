// The end of a cgroup that a dead daemon has made for an instance. The directory is ours by its random name
// (ownership.h), so all that is in it is, whoever it runs as.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace corral::reap {

struct CgroupMember {
  pid_t pid = 0;
  std::string comm;
};

struct CgroupEnd {
  bool empty = true;                  // and removed; also if it was not there
  std::vector<CgroupMember> members;  // that were in it
};

/// Kills all that is in it, unless that is one of `own_line`; waits for so long at most.
CgroupEnd end_cgroup_remnant(const std::string& directory, const std::vector<pid_t>& own_line,
                             std::chrono::milliseconds patience);

}  // namespace corral::reap
