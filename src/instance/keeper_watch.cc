#include "instance/keeper_watch.h"

#include <utility>
#include <vector>

#include "base/log.h"
#include "keeper/plan.h"
#include "proc/plan_bytes.h"

namespace corral::instance {
namespace {

// For a server that does not read what is still queued when its end begins.
constexpr std::chrono::seconds kUnreadPatience{2};
// For a keeper on a busy machine, beyond all that its plan allows; and from SIGKILL to its end.
constexpr std::chrono::seconds kKeeperMargin{3};
constexpr std::chrono::seconds kKeeperDeath{2};

}  // namespace

KeeperWatch::KeeperWatch(Loop& loop, proc::ProcessTree& tree, std::string executable, Events& events)
    : tree_(tree),
      executable_(std::move(executable)),
      events_(events),
      watch_(loop, tree.events()),
      unread_(loop),
      clock_(loop) {
  wait();
}

void KeeperWatch::wait() {
  watch_.when_readable([this] { read(); });
}

void KeeperWatch::read() {
  const keeper::Event* event = tree_.take_event();
  if (event == nullptr) return lose(loss_);
  if (event->kind == keeper::Event::Kind::Started) {
    wait();
    return events_.on_server_started(*event);
  }
  cancel();
  events_.on_tree_ended(*event);
}

void KeeperWatch::end(Haste haste, Input input) {
  if (haste == Haste::ClientGone) tree_.stop(keeper::Reason::ClientGone);
  if (haste == Haste::Now) tree_.stop(keeper::Reason::Signal);
  if (haste == Haste::Polite && input == Input::HasUnread) {
    unread_.start(kUnreadPatience, [this] { tree_.stop(keeper::Reason::Signal); });
  }
  limit(haste);
}

void KeeperWatch::limit(Haste haste) {
  std::vector<char*> pointers;
  const keeper::PlanHeader header = proc::read_plan(tree_.plan(), pointers).header;
  Clock::duration at_most = keeper::longest_end(header) + kKeeperMargin;
  if (haste == Haste::Polite) {
    at_most += header.graces.stdin_closed + header.graces.unread_cap + kUnreadPatience;
  }
  const Clock::time_point until = Clock::now() + at_most;
  if (until_ && *until_ <= until) return;
  until_ = until;
  clock_.start(at_most, [this] { replace_keeper(); });
}

/// The part of the daemon that watches its children then does the keeper's work. The lifeline shows the end
/// of the keeper, unless a child that hangs in the kernel holds a copy of it.
void KeeperWatch::replace_keeper() {
  log_line("the keeper (pid " + std::to_string(tree_.keeper()) + ") of " + executable_ +
           " makes no progress; corral ends it and its processes");
  loss_ = Loss::TooSlow;
  tree_.kill_keeper();
  clock_.start(kKeeperDeath, [this] { lose(Loss::TooSlow); });
}

void KeeperWatch::lose(Loss loss) {
  cancel();
  events_.on_keeper_lost(loss);
}

void KeeperWatch::cancel() {
  unread_.cancel();
  clock_.cancel();
  watch_.cancel();
}

}  // namespace corral::instance
