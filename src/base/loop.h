// The one thread of the daemon: waits for descriptors, timers and tasks, and calls who asked. Everything here
// belongs to that thread, but `Loop::post`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "base/unique_fd.h"

struct epoll_event;

namespace corral {

using Clock = std::chrono::steady_clock;
using Task = std::function<void()>;

class Watch;
class Timer;

/// A turn of the loop calls what the kernel reported, then timers that are due, then tasks.
class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;

  /// Returns after `stop`.
  void run();
  void stop() { stopped_ = true; }
  /// Calls whatever is due now and returns, without waiting for more. For tests.
  void run_due();

  /// The time, as it was when the turn began that is under way: good enough for deadlines and notes.
  Clock::time_point now() const { return in_turn_ ? now_ : Clock::now(); }

  /// Runs the task soon, after what is due already. Other threads may call it.
  void post(Task task);

 private:
  friend class Watch;
  friend class Timer;
  using Timers = std::multimap<Clock::time_point, Timer*>;

  /// Whose news an event brings: the number tells a watch from an earlier one of the same descriptor.
  struct Entry {
    Watch* watch = nullptr;
    std::uint32_t number = 0;
  };

  bool turn(bool may_sleep);
  bool wants_sleep(bool may_sleep);
  int until_next_timer() const;
  bool dispatch(const epoll_event& event);
  bool run_timers();
  bool run_tasks();
  std::uint32_t enter(int fd, Watch& watch);
  Watch* find(int fd, std::uint32_t number) const;

  UniqueFd epoll_;
  UniqueFd alarm_;              // an eventfd that wakes us
  std::vector<Entry> entries_;  // by descriptor
  std::uint32_t last_number_ = 0;
  std::uint64_t turns_ = 0;
  bool stopped_ = false;
  bool in_turn_ = false;
  Clock::time_point now_{};
  Timers timers_;

  std::mutex mutex_;  // for the rest: other threads post
  std::vector<Task> tasks_;
  std::vector<Task> spare_;  // empty; its room is used again
  std::atomic<bool> asleep_ = false;
};

/// Waits for one descriptor, which its owner keeps open for longer than this lives; no two watches may have
/// the same. A callback may destroy the watch that calls it.
class Watch {
 public:
  Watch(Loop& loop, int fd) : loop_(loop), fd_(fd) {}
  ~Watch();
  Watch(const Watch&) = delete;

  /// Calls once, when reading would not block: also at the end of the stream and on an error.
  void when_readable(Task task);
  void when_writable(Task task);
  /// Calls once when the other side hung up or failed, without reading anything.
  void when_broken(Task task);
  void cancel();

 private:
  friend class Loop;

  struct Wait {
    Task task;
    std::uint64_t since = 0;  // the turn in which it began
  };

  void wait(Wait& wait, Task task);
  std::uint32_t wanted() const;
  void ask_kernel(std::uint32_t events);
  bool tell(std::uint32_t events, std::uint64_t begun_before);
  void settle(std::uint32_t events, bool called);
  void leave();

  Loop& loop_;
  int fd_;
  std::uint32_t number_ = 0;    // of our entry in the loop; 0: there is none
  std::uint32_t interest_ = 0;  // what the kernel tells us of
  Wait readable_;
  Wait writable_;
  Wait broken_;
};

/// Calls once, later. Starting it again forgets the earlier start; so does destroying it.
class Timer {
 public:
  explicit Timer(Loop& loop) : loop_(loop) {}
  ~Timer() { cancel(); }
  Timer(const Timer&) = delete;

  void start(Clock::duration after, Task task);
  void cancel();
  bool running() const { return task_ != nullptr; }

 private:
  friend class Loop;

  Loop& loop_;
  Task task_;  // while it runs
  Loop::Timers::iterator at_;
};

}  // namespace corral
