#include "reap/end_trees.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <span>
#include <unordered_map>

#include "keeper/kernel.h"
#include "keeper/proc_fs.h"
#include "proc/open_files.h"
#include "reap/last_look.h"
#include "survey/protection.h"

// Why no signal can hit the wrong process: a pidfd refers to one process for its whole life. It is opened by
// file handle, or compared with the identity after opening (proc/identity.cc), and every later check happens
// while it is open. A new child is accepted only if its parent is a member that is still alive after the
// child's parent was read: then the parent's pid cannot have been reused, and the child belongs to the tree.

namespace corral::reap {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostRounds = 32;

struct Member {
  std::size_t tree;
  UniqueFd pidfd;
  pid_t pid;
  std::string comm;
  int signal = 0;
  bool waiting = true;  // its end is awaited
  Outcome::Kind kind = Outcome::Kind::Ended;
};

bool has_ended(const UniqueFd& pidfd) {
  pollfd ready{pidfd.get(), POLLIN, 0};
  return poll(&ready, 1, 0) == 1;
}

std::string comm_of(pid_t pid) {
  char comm[16];
  keeper::read_comm(pid, comm);
  return comm;
}

class TreeBatch {
 public:
  explicit TreeBatch(const Graces& graces) : graces_(graces), own_line_(own_line()), own_uid_(geteuid()) {}

  std::vector<EndedTree> run(std::span<const survey::Server* const> servers);

 private:
  void open_tree(std::size_t tree, const survey::Server& server);
  void refuse(std::size_t tree, pid_t pid, Outcome::Kind kind);
  void collect_new();
  bool collect_children(std::size_t index);
  void signal_all(int signo);
  void send(Member& member, int signo);
  bool wait_until(Clock::time_point deadline);
  void freeze_and_kill();
  void give_up();
  void conclude();
  bool is_own(pid_t pid) const {
    return std::find(own_line_.begin(), own_line_.end(), pid) != own_line_.end();
  }

  const Graces& graces_;
  const std::vector<pid_t> own_line_;
  const uid_t own_uid_;
  std::vector<EndedTree> trees_;
  std::vector<Member> members_;
  std::unordered_map<pid_t, std::size_t> by_pid_;  // living members
};

void TreeBatch::refuse(std::size_t tree, pid_t pid, Outcome::Kind kind) {
  trees_[tree].outcomes.push_back({pid, comm_of(pid), kind, 0});
}

void TreeBatch::open_tree(std::size_t tree, const survey::Server& server) {
  for (const proc::Identity& identity : server.identities) {
    if (!is_own(identity.pid)) continue;
    refuse(tree, identity.pid,
           Outcome::Kind::OwnAncestor);  // ending the rest would end this process as well
    return;
  }
  for (const proc::Identity& identity : server.identities) {
    std::optional<UniqueFd> pidfd = proc::reopen(identity);
    if (!pidfd) {
      // If processes can be opened at all, a refusal means that this one is gone.
      keeper::StatLine stat;
      const UniqueFd self(keeper::pidfd_open(getpid()));
      const bool gone = self.valid() || !keeper::read_stat(identity.pid, stat);
      refuse(tree, identity.pid, gone ? Outcome::Kind::AlreadyGone : Outcome::Kind::NotProved);
      continue;
    }
    by_pid_[identity.pid] = members_.size();
    members_.push_back({tree, std::move(*pidfd), identity.pid, comm_of(identity.pid)});
  }
}

/// Adds children of a member that are not members yet. Returns true if there were any.
bool TreeBatch::collect_children(std::size_t index) {
  std::array<pid_t, 512> below{};
  const std::size_t count = keeper::descendants(members_[index].pid, below);
  bool found = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (by_pid_.contains(below[i]) || is_own(below[i])) continue;
    UniqueFd pidfd(keeper::pidfd_open(below[i]));
    keeper::StatLine stat;
    if (!pidfd.valid() || !keeper::read_stat(below[i], stat) || has_ended(pidfd)) continue;
    const std::string comm = comm_of(below[i]);
    if (comm == survey::kKeeperName) continue;  // a keeper ends its own tree when its session ends
    const auto parent = by_pid_.find(stat.parent);
    if (parent == by_pid_.end() || has_ended(members_[parent->second].pidfd)) continue;
    by_pid_[below[i]] = members_.size();
    members_.push_back({members_[index].tree, std::move(pidfd), below[i], comm});
    found = true;
  }
  return found;
}

void TreeBatch::collect_new() {
  bool found = true;
  for (int round = 0; found && round < kMostRounds; ++round) {
    found = false;
    const std::size_t count = members_.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (members_[i].waiting) found |= collect_children(i);
    }
  }
}

void TreeBatch::send(Member& member, int signo) {
  if (!member.waiting || has_ended(member.pidfd)) return;
  const LastLook now = look(member.pid);
  if (!now.there) return;
  if (const auto spared = survey::protection_of({now.real, now.effective, now.tracer}, own_uid_)) {
    member.kind = outcome_of(*spared);
    member.waiting = false;
    return;
  }
  if (keeper::pidfd_send_signal(member.pidfd.get(), signo) == 0) {
    if (signo == SIGTERM || signo == SIGKILL) member.signal = signo;
  } else if (errno == EPERM) {
    member.kind = Outcome::Kind::NoPermission;
    member.waiting = false;
  }
}

void TreeBatch::signal_all(int signo) {
  for (Member& member : members_) send(member, signo);
}

/// Returns true once every member has ended.
bool TreeBatch::wait_until(Clock::time_point deadline) {
  for (;;) {
    std::vector<pollfd> ready;
    for (Member& member : members_) {
      if (member.waiting && has_ended(member.pidfd)) {
        member.waiting = false;
        by_pid_.erase(member.pid);
      }
      if (member.waiting) ready.push_back({member.pidfd.get(), POLLIN, 0});
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (ready.empty()) return true;
    if (left <= 0) return false;
    poll(ready.data(), ready.size(), static_cast<int>(left));
  }
}

/// A stopped process cannot fork, so once a round of stopping finds no new process, the tree is complete.
void TreeBatch::freeze_and_kill() {
  const auto deadline = Clock::now() + graces_.kill;
  do {
    signal_all(SIGSTOP);
    collect_new();
    signal_all(SIGKILL);
    if (wait_until(std::min(deadline, Clock::now() + std::chrono::milliseconds(100)))) return;
  } while (Clock::now() < deadline);
}

void TreeBatch::give_up() {
  for (Member& member : members_) {
    if (!member.waiting) continue;
    member.kind = look(member.pid).state == 'D' ? Outcome::Kind::Uninterruptible : Outcome::Kind::StillThere;
  }
}

void TreeBatch::conclude() {
  for (const Member& member : members_) {
    const bool unheard = member.kind == Outcome::Kind::Ended && member.signal == 0;
    trees_[member.tree].outcomes.push_back(
        {member.pid, member.comm, unheard ? Outcome::Kind::AlreadyGone : member.kind, member.signal});
  }
}

std::vector<EndedTree> TreeBatch::run(std::span<const survey::Server* const> servers) {
  for (std::size_t i = 0; i < servers.size(); ++i) {
    trees_.push_back({servers[i]->pid, {}});
    open_tree(i, *servers[i]);
  }
  collect_new();
  signal_all(SIGTERM);
  signal_all(SIGCONT);  // a stopped process does not react to other signals
  if (!wait_until(Clock::now() + graces_.term)) {
    collect_new();
    freeze_and_kill();
    give_up();
  }
  conclude();
  return std::move(trees_);
}

/// Every member needs a descriptor. Uses half of the limit, because trees grow while they are examined.
std::size_t budget_of(const proc::MoreOpenFiles& files) {
  constexpr std::uint64_t kEnough = 16384;
  return static_cast<std::size_t>(std::min(files.most(), kEnough) / 2);
}

}  // namespace

const char* name_of(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::Ended: return "ended";
    case Outcome::Kind::AlreadyGone: return "already-gone";
    case Outcome::Kind::NoPermission: return "no-permission";
    case Outcome::Kind::Uninterruptible: return "uninterruptible";
    case Outcome::Kind::StillThere: return "still-there";
    case Outcome::Kind::NotProved: return "not-proved";
    case Outcome::Kind::OtherUser: return "other-user";
    case Outcome::Kind::Debugged: return "debugged";
    case Outcome::Kind::OwnAncestor: return "own-ancestor";
    case Outcome::Kind::OtherInstance: return "other-instance";
  }
  return "?";
}

Outcome::Kind outcome_of(survey::Protection protection) {
  switch (protection) {
    case survey::Protection::OwnLine: return Outcome::Kind::OwnAncestor;
    case survey::Protection::Debugger: return Outcome::Kind::Debugged;
    case survey::Protection::OtherUser: return Outcome::Kind::OtherUser;
    default: return Outcome::Kind::NotProved;  // the others do not apply to a single process
  }
}

bool EndedTree::gone() const {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) { return outcome.gone(); });
}

std::vector<EndedTree> end_trees(const std::vector<const survey::Server*>& servers, const Graces& graces) {
  const proc::MoreOpenFiles descriptors;
  std::vector<EndedTree> ended;
  for (std::size_t begin = 0; begin < servers.size();) {
    std::size_t end = begin;
    for (std::size_t used = 0; end < servers.size(); ++end) {
      used += servers[end]->identities.size();
      if (used > budget_of(descriptors) && end > begin) break;
    }
    std::vector<EndedTree> batch = TreeBatch(graces).run(std::span(servers.data() + begin, end - begin));
    std::move(batch.begin(), batch.end(), std::back_inserter(ended));
    begin = end;
  }
  return ended;
}

}  // namespace corral::reap
