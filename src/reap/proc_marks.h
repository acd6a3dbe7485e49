// Reads from /proc which instance a process belongs to, with as few system calls as possible: one file per
// process, and the marks only of processes that can have one. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/unique_fd.h"
#include "reap/ownership.h"

namespace corral::reap {

class ProcMarks {
 public:
  explicit ProcMarks(const std::string& root = "/proc");

  struct Line {
    pid_t pid = 0;
    pid_t parent = 0;
    char state = '?';
    uid_t owner = 0;  // owner of its files: its user, or root if it hides its memory
    std::uint64_t start_ticks = 0;
    std::string comm{};
  };

  /// Empty if /proc cannot be read.
  std::vector<pid_t> pids();
  /// The most recent pid; 0 if it cannot be read.
  pid_t newest() const;
  /// Empty if the process is gone.
  std::optional<Line> line(pid_t pid);

  struct Cookie {
    bool seen = false;  // the environment was readable and not empty
    std::string instance{};
  };
  /// The value of CORRAL_INSTANCE if it has the length of an instance id; otherwise empty.
  Cookie cookie(pid_t pid);
  /// 0 if the limit is not set or cannot be read.
  std::uint64_t rlimit_tag(pid_t pid);

 private:
  std::string_view read_file(pid_t pid, const char* name, uid_t* owner);

  UniqueFd root_;
  std::vector<char> buffer_;
};

/// Searches all processes for the marks of some instances, repeatedly. `marks` must outlive it.
class MarkSearch {
 public:
  MarkSearch(ProcMarks& marks, const std::vector<Claim>& claims, uid_t uid);

  struct Hit {
    pid_t pid = 0;
    std::size_t claim = 0;
    std::uint64_t start_ticks = 0;
  };

  struct Pass {
    bool readable = true;  // false: /proc cannot be read
    std::size_t missed =
        0;  // listed, but gone before they could be read; a process that keeps forking hides this way
  };
  /// Reports each process with a mark at once, newest first, because some of them are short-lived. A process
  /// that the previous search found without a mark is not read again: marks are inherited at birth, and no
  /// process that could start a marked one is alive.
  Pass next(const std::function<void(const Hit&)>& found);
  /// The same for one process; empty if it is gone or has no mark.
  std::optional<Hit> look(pid_t pid) { return look_at(pid).hit; }
  /// The same for all processes with a pid newer than `known`. Returns the newest pid.
  pid_t look_at_newborn(pid_t known, const std::function<void(const Hit&)>& found);

 private:
  struct Found {
    std::optional<Hit> hit{};
    bool final = true;  // it will never have a mark
    bool missed = false;
  };
  Found look_at(pid_t pid);

  ProcMarks& marks_;
  uid_t uid_;
  std::unordered_map<std::string, std::size_t> by_cookie_;
  std::unordered_map<std::uint64_t, std::size_t> by_tag_;
  std::uint64_t not_before_ = ~0ULL;
  std::unordered_set<pid_t> unmarked_;
};

}  // namespace corral::reap
