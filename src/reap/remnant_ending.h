// One run of remnants.h: opens what the records claim, proves it, ends it, and looks again until nothing is
// found twice in a row.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/unique_fd.h"
#include "proc/identity.h"
#include "reap/ownership.h"
#include "reap/proc_marks.h"
#include "reap/remnant_cgroup.h"
#include "reap/remnants.h"

namespace corral::reap {

proc::Identity identity_of(const registry::DaemonRecord& daemon, const registry::ProcessFacts& facts);

/// Also true of a zombie.
bool process_ended(const UniqueFd& pidfd);

class RemnantEnding {
 public:
  /// What lives below this process: of a dead daemon nothing can be there, of our own a lost keeper's tree
  /// is.
  enum class Below : std::uint8_t { Spared, Ended };

  RemnantEnding(const registry::DaemonRecord& daemon, const std::vector<registry::InstanceRecord>& instances,
                const RemnantRules& rules, Below below);

  Remnants run();

 private:
  using Clock = std::chrono::steady_clock;

  struct Member {
    std::size_t instance;
    UniqueFd pidfd;  // held until it has ended
    pid_t pid;
    std::uint64_t start_ticks;
    std::string comm;
    bool keeper;
    bool waiting;  // for its end
    Outcome::Kind kind = Outcome::Kind::Ended;
    int signal = 0;
    Outcome::Killed killed = Outcome::Killed::AtOnce;  // until it is asked
  };

  void spare_what_holds_us();
  void open_known();
  enum class Seen : std::uint8_t { Nothing, Nobody, Perhaps, Somebody };  // Nothing: there is no /proc
  Seen search();
  Seen chase();
  void found(const MarkSearch::Hit& hit);
  void consider(pid_t pid, std::size_t instance, UniqueFd pidfd, Bearer::Known known);
  Bearer read(pid_t pid);
  bool below_us(pid_t pid);
  void wait_for_keepers();
  void end_members();
  void send(Member& member, int signo);
  void signal_all(int signo);
  bool any_waiting() const;
  void wait_until(Clock::time_point deadline);
  void give_up();
  void end_cgroups();
  void end_cgroup(std::size_t instance);
  CgroupRemnant::Member judge_in_group(std::size_t instance, pid_t pid);
  void tell_of_group(std::size_t instance, const CgroupEnd& end);
  void add(std::size_t instance, const Outcome& outcome);
  void put_in_order();
  Remnants conclude();

  const registry::DaemonRecord& daemon_;
  const std::vector<registry::InstanceRecord>& instances_;
  const RemnantRules& rules_;
  const Below below_;
  std::vector<pid_t> own_line_;
  std::vector<Claim> claims_;
  ProcMarks marks_;
  std::optional<MarkSearch> search_;
  bool slipped_ = false;  // somebody with a mark was gone before he could be held
  std::vector<Member> members_;
  std::unordered_map<pid_t, std::size_t> by_pid_;  // those that are still there
  std::unordered_set<pid_t> unopened_;
  bool killing_ = false;
  Remnants result_;
};

}  // namespace corral::reap
