// What process trees use, measured in one pass over /proc. Stateless; any thread may call it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace corral::survey {

struct ProcessUsage {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string name;                  // comm, printable
  char state = '?';                  // as in /proc/PID/stat
  std::uint64_t memory = 0;          // bytes: PSS and swap, so that a sum counts shared pages once
  std::chrono::milliseconds cpu{0};  // ever used
  std::chrono::milliseconds age{0};
};

struct TreeUsage {
  std::vector<ProcessUsage> processes;  // parents first, without the root itself
  std::uint64_t memory = 0;
  std::chrono::milliseconds cpu{0};
};

/// The descendants of each root (a keeper). A root that has exited has no entry. `proc` is another directory
/// in tests only.
std::map<pid_t, TreeUsage> measure_trees(const std::vector<pid_t>& roots, const std::string& proc = "/proc");

}  // namespace corral::survey
