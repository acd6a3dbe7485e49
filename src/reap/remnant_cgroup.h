// Ends the cgroup that a dead daemon created for an instance. Its random name proves that it is corral's
// (ownership.h), and so is everything in it, whichever user it runs as; but not all of it may be ended.
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
    std::optional<Outcome::Kind> left{};  // why it must not be ended; empty = it may be ended
    bool there = false;                   // it should have ended but is still there
  };
  /// Called for each member while it is held open. `OtherInstance` counts only while a keeper lives in the
  /// group and still has time: any process can look like a keeper.
  using Judge = std::function<Member(pid_t)>;

  CgroupRemnant(std::string directory, Judge judge);

  /// Waits for keepers of a corral inside, which end their own trees and run their terminators. Continues
  /// keepers that are stopped. Blocks.
  void wait_for_keepers(std::chrono::milliseconds at_most);

  /// Kills the whole group if no member must be spared, otherwise single members; waits up to `patience`.
  /// Removes the directory if it is empty.
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
  bool empty = true;                           // and removed; also true if it did not exist
  std::vector<CgroupRemnant::Member> members;  // the members that were in it
};

}  // namespace corral::reap
