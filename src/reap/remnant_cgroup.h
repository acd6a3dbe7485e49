// The end of a cgroup that a dead daemon has made for an instance. The directory is ours by its random name
// (ownership.h), so all that is in it is, whoever it runs as; but not all of it may be ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "reap/end_trees.h"

namespace corral::reap {

struct CgroupEnd;

class CgroupRemnant {
 public:
  struct Member {
    pid_t pid = 0;
    std::string comm;
    std::optional<Outcome::Kind> left{};  // why it must not be ended; nothing = it may be
    bool there = false;                   // it was to be ended, and is still there
  };
  /// Asked about each member while it is held open. `OtherInstance` counts only while a keeper lives in the
  /// group and has not had its time: anybody can look like a keeper.
  using Judge = std::function<Member(pid_t)>;

  CgroupRemnant(std::string directory, Judge judge);

  /// Keepers of a corral inside end their own trees, and run what belongs to that end. Those that are stopped
  /// go on.
  void wait_for_keepers(std::chrono::milliseconds at_most);

  /// Kills all at once if nobody must be left, else one by one; waits for so long at most. Removes what is
  /// empty.
  CgroupEnd end(std::chrono::milliseconds patience) const;

 private:
  struct Held {
    Member member;
    UniqueFd pidfd;
  };
  std::vector<Held> look() const;
  bool holds(pid_t pid) const;
  enum class Wake : std::uint8_t { No, Stopped };
  bool keeper_inside(Wake wake = Wake::No) const;
  void kill_one_by_one(const std::vector<Held>& held) const;

  std::string directory_;
  Judge judge_;
  bool ours_ = false;
  bool keepers_had_time_ = false;
};

struct CgroupEnd {
  bool empty = true;                           // and removed; also if it was not there
  std::vector<CgroupRemnant::Member> members;  // that were in it
};

}  // namespace corral::reap
