// What /proc says about the processes that we started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace corral::bench {

/// The whole file, empty if it can't be read.
std::string read_file(const std::string& path);

/// The living descendants of `root`, itself not included.
std::vector<pid_t> descendants(pid_t root);

/// comm of a process, empty if it is gone.
std::string process_name(pid_t pid);

struct Memory {
  double pss_mb = 0;  // its own pages plus its share of shared ones
  double rss_mb = 0;
  double anonymous_mb = 0;  // of the PSS; without the program's text, of which every shim takes a share
};

/// From smaps_rollup. MB is 1,000,000 bytes.
Memory memory_of(pid_t pid);

/// How often the process, all of its threads, has gone to sleep so far. Each of them is a wake-up.
double wake_ups_of(pid_t pid);

/// Every process but ourselves that has `tag` in its environment or arguments, zombies not counted.
std::vector<pid_t> tagged(const std::string& tag);

/// Waits until nothing carries the tag, at most `seconds`. Returns what is left.
std::vector<pid_t> wait_for_none(const std::string& tag, int seconds);

/// SIGKILL to each that still carries the tag, through a pidfd: a recycled pid is never hit.
void end_tagged(const std::vector<pid_t>& pids, const std::string& tag);

}  // namespace corral::bench
