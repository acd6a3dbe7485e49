#include "reap/remnant_ending.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <tuple>

#include "base/words.h"
#include "keeper/keepers_below.h"
#include "keeper/kernel.h"
#include "keeper/proc_fs.h"
#include "reap/last_look.h"
#include "reap/remnant_text.h"
#include "survey/process.h"

// Why no signal can hit the wrong process: each process is held open before anything about it is read, all
// facts are read afterwards, and then it must still be alive. So its pid was its own the whole time, and so
// are the facts. The signal goes through the open descriptor.

namespace corral::reap {
namespace {

constexpr std::chrono::milliseconds kBetweenSearches{50};
constexpr std::chrono::milliseconds kBetweenKills{
    10};  // a busy loop would take CPU time from processes that are exiting
constexpr int kCleanSearches = 2;
constexpr std::chrono::milliseconds kChase{100};
constexpr std::size_t kMostMembers = 4096;  // each needs a descriptor; the next search finds the rest

std::string name_of_process(pid_t pid) {
  char comm[16];
  keeper::read_comm(pid, comm);
  return comm;
}

/// Without a handle or an inode, the identity is not proof (proc/identity.h).
bool is_proof(const registry::ProcessFacts& facts) { return !facts.handle.empty() || facts.pidfs_inode != 0; }

}  // namespace

proc::Identity identity_of(const registry::DaemonRecord& daemon, const registry::ProcessFacts& facts) {
  proc::Identity identity;
  identity.boot_id = daemon.boot_id;
  identity.pid = facts.pid;
  identity.pidfs_inode = facts.pidfs_inode;
  identity.start_ticks = facts.start_ticks;
  identity.uid = facts.uid;
  identity.handle.assign(facts.handle.begin(), facts.handle.end());
  return identity;
}

bool process_ended(const UniqueFd& pidfd) {
  pollfd ready{pidfd.get(), POLLIN, 0};
  return poll(&ready, 1, 0) == 1;
}

RemnantEnding::RemnantEnding(const registry::DaemonRecord& daemon,
                             const std::vector<registry::InstanceRecord>& instances,
                             const RemnantRules& rules, Below below)
    : daemon_(daemon), instances_(instances), rules_(rules), below_(below), own_line_(own_line()) {
  for (const registry::InstanceRecord& instance : instances_) claims_.push_back(claim_of(daemon_, instance));
  result_.settled = true;
}

Remnants RemnantEnding::run() {
  spare_what_holds_us();
  search_.emplace(marks_, claims_, geteuid());
  open_known();
  if (search() == Seen::Nothing) {
    return {false, {}, "/proc cannot be read, so corral cannot find the remaining processes: mount it"};
  }
  wait_for_keepers();
  end_members();
  end_cgroups();
  return conclude();
}

/// A daemon may be started from a process that is itself a remnant. Ending the rest of that tree would end
/// this process as well.
void RemnantEnding::spare_what_holds_us() {
  for (const pid_t pid : own_line_) {
    const std::string cookie = marks_.cookie(pid).instance;
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      if (claims_[i].cookie.empty() || claims_[i].cookie != cookie) continue;
      claims_[i] = {};
      add(i, {pid, name_of_process(pid), Outcome::Kind::OwnAncestor, 0});
    }
  }
}

// ---- finding

void RemnantEnding::open_known() {
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    if (claims_[i].cookie.empty()) {
      result_.settled = false;  // damaged, or spared
      continue;
    }
    for (const registry::ProcessFacts* facts : {&instances_[i].keeper, &instances_[i].process}) {
      if (facts->pid <= 0) continue;
      std::optional<UniqueFd> pidfd = proc::reopen(identity_of(daemon_, *facts));
      if (!pidfd) continue;
      const Result<proc::Identity> now = proc::identify(pidfd->get());
      const bool agrees = now && now->pid == facts->pid && now->start_ticks == facts->start_ticks;
      const bool proved = agrees && is_proof(*facts);
      consider(now ? now->pid : facts->pid, i, std::move(*pidfd),
               proved ? Bearer::Known::Proved : Bearer::Known::Number);
    }
  }
}

RemnantEnding::Seen RemnantEnding::search() {
  const std::size_t before = members_.size();
  slipped_ = false;
  const MarkSearch::Pass pass = search_->next([this](const MarkSearch::Hit& hit) { found(hit); });
  if (!pass.readable) return Seen::Nothing;
  if (members_.size() > before || slipped_) return Seen::Somebody;
  return pass.missed > 0 ? Seen::Perhaps : Seen::Nobody;
}

/// A process was gone before the search reached it: an unrelated one, as on any busy machine, or one of the
/// instance that keeps forking to change its pid. Pids are assigned in order, so a new process has one of the
/// next pids and is examined as soon as it appears.
RemnantEnding::Seen RemnantEnding::chase() {
  const std::size_t before = members_.size();
  slipped_ = false;
  const Clock::time_point deadline = Clock::now() + kChase;
  for (pid_t known = marks_.newest(); Clock::now() < deadline;) {
    known = search_->look_at_newborn(known, [this](const MarkSearch::Hit& hit) { found(hit); });
  }
  return members_.size() > before || slipped_ ? Seen::Somebody : Seen::Nobody;
}

void RemnantEnding::found(const MarkSearch::Hit& hit) {
  if (by_pid_.size() >= kMostMembers || by_pid_.contains(hit.pid)) return;
  UniqueFd pidfd(keeper::pidfd_open(hit.pid));
  if (pidfd.valid()) {
    consider(hit.pid, hit.claim, std::move(pidfd), Bearer::Known::No);
  } else if (errno == ESRCH) {
    slipped_ = true;
  } else if (unopened_.insert(hit.pid).second) {  // no descriptor left, or no pidfds at all
    add(hit.claim, {hit.pid, name_of_process(hit.pid), Outcome::Kind::NotProved, 0});
  }
}

void RemnantEnding::consider(pid_t pid, std::size_t instance, UniqueFd pidfd, Bearer::Known known) {
  Bearer bearer = read(pid);
  bearer.known = known;
  std::string comm = name_of_process(pid);
  if (process_ended(pidfd)) {
    slipped_ = true;
    return;
  }
  Member member{instance, std::move(pidfd), pid, bearer.start_ticks, std::move(comm), false, false};
  switch (judge(bearer, claims_[instance])) {
    case Verdict::Ours:
      member.waiting = true;
      member.keeper = member.comm == survey::kKeeperName;
      break;
    case Verdict::Gone:
    case Verdict::NotMarked:
    case Verdict::OtherInstance:
    case Verdict::Older: return;  // belongs to another owner
    case Verdict::OtherUser: member.kind = Outcome::Kind::OtherUser; break;
    case Verdict::Debugged: member.kind = Outcome::Kind::Debugged; break;
    case Verdict::NotProved: member.kind = Outcome::Kind::NotProved; break;
    case Verdict::Own: return;
  }
  by_pid_[pid] = members_.size();
  members_.push_back(std::move(member));
  // It may fork and be gone a moment later.
  if (killing_ && members_.back().waiting) send(members_.back(), SIGKILL);
}

Bearer RemnantEnding::read(pid_t pid) {
  Bearer bearer;
  bearer.pid = pid;
  if (const auto line = marks_.line(pid)) {
    bearer.state = line->state;
    bearer.start_ticks = line->start_ticks;
  }
  bearer.cookie = marks_.cookie(pid).instance;
  bearer.rlimit_tag = marks_.rlimit_tag(pid);
  bearer.keeper = keeper::is_keeper(pid, {});
  const LastLook now = look(pid);
  bearer.real = now.there ? now.real : static_cast<uid_t>(-1);
  bearer.effective = now.effective;
  bearer.tracer = now.tracer;
  bearer.own = contains(own_line_, pid) || below_us(pid);
  return bearer;
}

/// Processes that we have started since may have inherited a tag from us.
bool RemnantEnding::below_us(pid_t pid) {
  if (below_ == Below::Ended) return false;
  constexpr int kDeepest = 256;
  for (int depth = 0; pid > 1 && depth < kDeepest; ++depth) {
    if (pid == getpid()) return true;
    const auto line = marks_.line(pid);
    if (!line) return false;
    pid = line->parent;
  }
  return false;
}

// ---- ending

/// Their lifeline is closed: they end their trees themselves and run their terminators.
void RemnantEnding::wait_for_keepers() {
  const Clock::time_point deadline = Clock::now() + rules_.keepers;
  for (Member& member : members_) {
    if (member.waiting && member.keeper) keeper::pidfd_send_signal(member.pidfd.get(), SIGCONT);
  }
  for (;;) {
    std::vector<pollfd> keepers;
    for (const Member& member : members_) {
      if (member.waiting && member.keeper && !process_ended(member.pidfd)) {
        keepers.push_back({member.pidfd.get(), POLLIN, 0});
      }
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (keepers.empty() || left <= 0) return wait_until(Clock::now());
    poll(keepers.data(), keepers.size(), static_cast<int>(left));
  }
}

void RemnantEnding::end_members() {
  std::optional<Clock::time_point> term_until;
  Clock::time_point kill_until;
  int clean = 0;
  while (clean < kCleanSearches) {
    Seen seen = search();
    const bool doubtful = seen == Seen::Perhaps || !members_.empty();
    if (seen != Seen::Somebody && doubtful && !any_waiting()) seen = chase();
    const Clock::time_point now = Clock::now();
    if (seen != Seen::Somebody && !any_waiting()) {
      ++clean;
      continue;
    }
    clean = 0;
    if (!term_until) term_until = now + rules_.graces.term;
    if (now >= *term_until && !killing_) {
      killing_ = true;
      kill_until = now + rules_.graces.kill;
    }
    if (killing_ && now >= kill_until) break;
    signal_all(killing_ ? SIGKILL : SIGTERM);
    wait_until(killing_ ? std::min(kill_until, now + kBetweenKills)
                        : std::min(*term_until, now + kBetweenSearches));
  }
  if (clean < kCleanSearches) result_.settled = false;
  give_up();
}

/// SIGTERM once, SIGKILL as often as necessary; oldest first.
void RemnantEnding::signal_all(int signo) {
  put_in_order();
  for (Member& member : members_) {
    if (!member.waiting || (signo == SIGTERM && member.signal != 0)) continue;
    send(member, signo);
    if (signo == SIGTERM && member.waiting) keeper::pidfd_send_signal(member.pidfd.get(), SIGCONT);
  }
}

/// The process may run as another user, or be debugged, since it was judged.
void RemnantEnding::send(Member& member, int signo) {
  const LastLook now = look(member.pid);
  if (process_ended(member.pidfd) || !now.there) return;
  const bool own = contains(own_line_, member.pid);
  if (const auto spared = survey::protection_of({now.real, now.effective, now.tracer, own}, geteuid())) {
    member.kind = outcome_of(*spared);
    member.waiting = false;
  } else if (keeper::pidfd_send_signal(member.pidfd.get(), signo) == 0) {
    if (signo == SIGTERM) member.killed = Outcome::Killed::AfterAsking;
    member.signal = signo;
  } else if (errno == EPERM) {
    member.kind = Outcome::Kind::NoPermission;
    member.waiting = false;
  }
}

bool RemnantEnding::any_waiting() const {
  return std::any_of(members_.begin(), members_.end(), [](const Member& member) { return member.waiting; });
}

/// Returns when all have ended or at the deadline. Every member is checked at least once.
void RemnantEnding::wait_until(Clock::time_point deadline) {
  for (;;) {
    std::vector<pollfd> ready;
    for (Member& member : members_) {
      if (member.waiting && process_ended(member.pidfd)) {
        member.waiting = false;
        member.pidfd.reset();
        by_pid_.erase(member.pid);
      }
      if (member.waiting) ready.push_back({member.pidfd.get(), POLLIN, 0});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (ready.empty() || left <= 0) return;
    poll(ready.data(), ready.size(), static_cast<int>(left));
  }
}

void RemnantEnding::give_up() {
  for (Member& member : members_) {
    if (!member.waiting) continue;
    member.kind = look(member.pid).state == 'D' ? Outcome::Kind::Uninterruptible : Outcome::Kind::StillThere;
  }
}

/// A process that shows no mark, or runs as another user by now, cannot have left the cgroup that it was born
/// in.
void RemnantEnding::end_cgroups() {
  for (std::size_t i = 0; i < instances_.size(); ++i) {
    if (claims_[i].cookie.empty() || !is_cgroup_of(instances_[i].cgroup, claims_[i].cookie)) continue;
    end_cgroup(i);
  }
}

/// Kills the group as a whole if no member has to be spared, because cgroup.kill makes no exceptions.
void RemnantEnding::end_cgroup(std::size_t instance) {
  CgroupRemnant group(instances_[instance].cgroup,
                      [this, instance](pid_t pid) { return judge_in_group(instance, pid); });
  group.wait_for_keepers(rules_.keepers);
  const CgroupEnd end = group.end(rules_.graces.kill);
  tell_of_group(instance, end);
  if (!end.empty) result_.settled = false;
}

CgroupRemnant::Member RemnantEnding::judge_in_group(std::size_t instance, pid_t pid) {
  const Bearer bearer = read(pid);
  CgroupRemnant::Member member{pid, name_of_process(pid)};
  const bool another = is_instance_id(bearer.cookie) && bearer.cookie != claims_[instance].cookie;
  if (const auto spared = protection_in_group(bearer)) {
    member.left = outcome_of(*spared);
  } else if (another) {
    member.left = Outcome::Kind::OtherInstance;  // while its keeper still has time
  }
  return member;
}

void RemnantEnding::tell_of_group(std::size_t instance, const CgroupEnd& end) {
  for (const CgroupRemnant::Member& member : end.members) {
    const auto kind = member.left    ? *member.left
                      : member.there ? Outcome::Kind::StillThere
                                     : Outcome::Kind::Ended;
    const auto known = by_pid_.find(member.pid);
    if (known == by_pid_.end()) {
      add(instance, {member.pid, member.comm, kind, member.left ? 0 : SIGKILL, Outcome::Killed::WithGroup});
      continue;
    }
    Member& before = members_[known->second];
    before.kind = kind;
    before.waiting = false;
    if (member.left) continue;
    if (before.signal == 0) before.killed = Outcome::Killed::WithGroup;
    before.signal = SIGKILL;
  }
}

// ---- reporting

void RemnantEnding::add(std::size_t instance, const Outcome& outcome) {
  const registry::InstanceRecord& record = instances_[instance];
  if (!outcome.gone()) result_.settled = false;
  result_.processes.push_back({record.server, record.id, outcome, remnant_text(record, outcome)});
}

void RemnantEnding::put_in_order() {
  std::stable_sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
    return std::tie(a.start_ticks, a.pid) < std::tie(b.start_ticks, b.pid);
  });
  for (auto& [pid, index] : by_pid_) index = members_.size();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto living = members_[i].pidfd.valid() ? by_pid_.find(members_[i].pid) : by_pid_.end();
    if (living != by_pid_.end()) living->second = i;
  }
}

Remnants RemnantEnding::conclude() {
  put_in_order();
  for (const Member& member : members_) {
    const bool unheard = member.kind == Outcome::Kind::Ended && member.signal == 0;
    add(member.instance, {member.pid, member.comm, unheard ? Outcome::Kind::AlreadyGone : member.kind,
                          member.signal, member.killed});
  }
  return std::move(result_);
}

}  // namespace corral::reap
