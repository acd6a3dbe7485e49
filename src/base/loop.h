// The one thread of the daemon: waits for descriptors, timers and tasks, and calls who asked. Everything here
// belongs to that thread, but `Loop::post`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"

struct epoll_event;

namespace corral {

using Task = std::function<void()>;

class Watch;
class Timer;

/// What a handler is busy with, for whoever asks why a turn took long. No word of a peer's.
struct Work {
  const char* what = nullptr;  // a constant: "client-messages"
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// A turn that took more of the thread's time than any turn may.
struct SlowTurn {
  std::chrono::milliseconds cpu{0};  // what the thread has used, rounded down by up to 10 ms
  std::chrono::milliseconds wall{0};
  std::uint64_t calls = 0;  // handlers that were called
  Work longest;             // what took longest of them
};

/// A turn of the loop calls what the kernel reported, then timers that are due, then tasks. Of each of the
/// three it stops when they have taken a while, and goes on in the next turn: whoever has much to do must not
/// keep the others waiting.
class Loop {
 public:
  /// Of the thread's time that a turn may take.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr std::chrono::milliseconds kSlowTurn{1000};
#else
  static constexpr std::chrono::milliseconds kSlowTurn{100};
#endif

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

  /// When the next timer is due; nothing if none runs.
  std::optional<Clock::time_point> next_timer() const;

  /// Runs the task soon, after what is due already. Other threads may call it.
  void post(Task task);

  /// What the handler does that is being called; the last word counts.
  void doing(const Work& work) { work_ = work; }
  /// Called after a turn that took longer than kSlowTurn.
  void when_slow(std::function<void(const SlowTurn&)> told) { told_slow_ = std::move(told); }

 private:
  friend class Watch;
  friend class Timer;
  using Timers = std::multimap<Clock::time_point, Timer*>;

  /// Whose news an event brings: the number tells a watch from an earlier one of the same descriptor.
  struct Entry {
    Watch* watch = nullptr;
    std::uint32_t number = 0;
    std::uint64_t left_out = 0;  // the turn that had no time for its event; 0 = none
  };

  bool turn(bool may_sleep);
  bool wants_sleep(bool may_sleep);
  int until_next_timer() const;
  bool run_events(std::span<epoll_event> events);
  bool dispatch(const epoll_event& event);
  std::uint64_t left_out_since(const epoll_event& event) const;
  bool run_timers();
  bool run_tasks();
  void keep_for_later(std::vector<Task>& due, std::size_t done);
  void begin_turn();
  void returned(const char* kind);
  bool used_up(Clock::time_point since) const;
  void end_turn();
  std::uint32_t enter(int fd, Watch& watch);
  Watch* find(int fd, std::uint32_t number) const;

  UniqueFd epoll_;
  UniqueFd alarm_;              // an eventfd that wakes us
  std::vector<Entry> entries_;  // by descriptor
  std::uint32_t last_number_ = 0;
  std::uint64_t turns_ = 0;
  bool stopped_ = false;
  bool in_turn_ = false;
  bool some_left_out_ = false;  // events of entries
  Clock::time_point now_{};
  Timers timers_;

  Work work_;                     // of the handler that is being called
  Clock::time_point returned_{};  // when the last handler did, or the turn began
  Clock::duration longest_{};     // call of this turn
  Work longest_work_;
  std::uint64_t calls_ = 0;
  Clock::time_point sampled_{};      // when the thread's time was read
  std::chrono::nanoseconds cpu_{0};  // what it was
  std::function<void(const SlowTurn&)> told_slow_;

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
