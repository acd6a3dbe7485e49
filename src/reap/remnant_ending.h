// One run of remnants.h: opens the processes that the records claim, proves that they belong to the instance,
// ends them, and searches again until two searches in a row find none.
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

/// The identity that a record describes.
proc::Identity identity_of(const registry::DaemonRecord& daemon, const registry::ProcessFacts& facts);

/// Also true for a zombie.
bool process_ended(const UniqueFd& pidfd);

/// Create one per run, on one thread. The records and the rules must outlive it.
class RemnantEnding {
 public:
  /// Whether processes below this one are ended. A dead daemon cannot have any there; the tree of our own
  /// lost keeper can be.
  enum class Below : std::uint8_t { Spared, Ended };

  RemnantEnding(const registry::DaemonRecord& daemon, const std::vector<registry::InstanceRecord>& instances,
                const RemnantRules& rules, Below below);

  /// Blocking; bounded by the rules. Call once.
  Remnants run();

 private:
  using Clock = std::chrono::steady_clock;

  struct Member {
    std::size_t instance;
    UniqueFd pidfd;  // held open until the process has ended
    pid_t pid;
    std::uint64_t start_ticks;
    std::string comm;
    bool keeper;
    bool waiting;  // its end is awaited
    Outcome::Kind kind = Outcome::Kind::Ended;
    int signal = 0;
    Outcome::Killed killed = Outcome::Killed::AtOnce;  // until SIGTERM is sent
  };

  void spare_what_holds_us();
  void open_known();
  enum class Seen : std::uint8_t { Nothing, Nobody, Perhaps, Somebody };  // Nothing: /proc cannot be read
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
  bool slipped_ = false;  // a marked process was gone before it could be opened
  std::vector<Member> members_;
  std::unordered_map<pid_t, std::size_t> by_pid_;  // those that are still alive
  std::unordered_set<pid_t> unopened_;
  bool killing_ = false;
  Remnants result_;
};

}  // namespace corral::reap
