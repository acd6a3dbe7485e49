// Reads from /proc what tells whose a process is, in as few system calls as possible: one file for each
// process, and the marks only of those that can have one. Belongs to whoever made it; one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
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
    uid_t owner = 0;  // of its files: whom it runs as, or root if it hides its memory
    std::uint64_t start_ticks = 0;
    std::string comm{};
  };

  /// Empty if /proc cannot be read.
  std::vector<pid_t> pids();
  /// The number that was handed out last; 0 if that cannot be read.
  pid_t newest() const;
  std::optional<Line> line(pid_t pid);

  struct Cookie {
    bool seen = false;  // the environment could be read, and there was one
    std::string instance{};
  };
  /// The value of CORRAL_INSTANCE, as long as an instance id is; empty if there is none.
  Cookie cookie(pid_t pid);
  /// 0 = none: the limit is not set, or cannot be read.
  std::uint64_t rlimit_tag(pid_t pid);

 private:
  std::size_t read_file(pid_t pid, const char* name, uid_t* owner);

  UniqueFd root_;
  std::vector<char> buffer_;
};

/// Searches all processes for the marks of some instances, again and again.
class MarkSearch {
 public:
  MarkSearch(ProcMarks& marks, const std::vector<Claim>& claims, uid_t uid);

  struct Hit {
    pid_t pid = 0;
    std::size_t claim = 0;
    std::uint64_t start_ticks = 0;
  };

  struct Pass {
    bool readable = true;    // false: there is no /proc
    std::size_t missed = 0;  // listed, but gone before they could be read: who changes his number hides so
  };
  /// Tells of each who carries a mark, at once and newest first: some do not live for long. Who was seen
  /// without one by the search before is not read again: a mark is inherited at birth, and nobody who could
  /// start a marked one is alive.
  Pass next(const std::function<void(const Hit&)>& found);
  /// The same of one process; nothing if it is gone or carries no mark.
  std::optional<Hit> look(pid_t pid) { return look_at(pid).hit; }
  /// The same of everybody whose number was handed out after `known`. Returns the newest number.
  pid_t look_at_newborn(pid_t known, const std::function<void(const Hit&)>& found);

 private:
  struct Found {
    std::optional<Hit> hit{};
    bool final = true;  // it will stay without a mark
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
