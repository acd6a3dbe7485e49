// Watches the keeper of one process tree: passes on what it reports, and sees to it that an end that was
// requested comes. A keeper that does not run (stopped again and again, held by a debugger) must not hold up
// the end, so it is killed after all the time that its plan allows.
//
// Owned by an Instance and used on the loop's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/loop.h"
#include "keeper/lifeline.h"
#include "proc/process_tree.h"

namespace corral::instance {

/// How much time a tree has to end.
enum class Haste : std::uint8_t {
  Polite,      // the server sees the end of its input, and has the time that its plan gives it
  ClientGone,  // the same with a short grace
  Now,
};

class KeeperWatch {
 public:
  enum class Loss : std::uint8_t {
    Killed,   // by another process
    TooSlow,  // by this object, because it did not end the tree in time
  };

  /// Each function is called from the loop and may destroy the watch. After `on_tree_ended` or
  /// `on_keeper_lost` nothing more is called.
  class Events {
   public:
    virtual ~Events() = default;
    /// The server runs. `event` is valid during the call.
    virtual void on_server_started(const keeper::Event& event) = 0;
    /// The tree is gone, or the server was never started. `event` is valid during the call.
    virtual void on_tree_ended(const keeper::Event& event) = 0;
    /// The keeper was killed. Its processes are children of this process now; another part of the daemon ends
    /// them.
    virtual void on_keeper_lost(Loss loss) = 0;
  };

  /// `executable` names the server in the log. `loop`, `tree` and `events` must outlive the watch.
  KeeperWatch(Loop& loop, proc::ProcessTree& tree, std::string executable, Events& events);
  KeeperWatch(const KeeperWatch&) = delete;
  KeeperWatch& operator=(const KeeperWatch&) = delete;

  /// Whether the server can see the end of its input already.
  enum class Input : std::uint8_t { Closed, HasUnread };
  /// Requests the end. With `Haste::Polite` the keeper is asked only if the server does not read the rest of
  /// its input soon, because such a server would never see the end of it. A hastier call shortens the time
  /// that is left; another one of the same haste does not prolong it.
  void end(Haste haste, Input input);
  /// Nothing is called from now on.
  void cancel();

 private:
  void wait();
  void read();
  void limit(Haste haste);
  void replace_keeper();
  void lose(Loss loss);

  proc::ProcessTree& tree_;
  std::string executable_;
  Events& events_;
  Watch watch_;
  Timer unread_;  // until a server that does not read its input is ended
  Timer clock_;   // until the keeper is killed, and then until its end is no longer waited for
  std::optional<Clock::time_point> until_;
  Loss loss_ = Loss::Killed;
};

}  // namespace corral::instance
