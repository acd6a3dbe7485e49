// The daemon's event loop: waits for descriptors, timers and posted tasks, and runs their callbacks.
// Everything except `Loop::post` must be called on the thread that runs the loop. The loop must outlive its
// watches and timers.
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

/// What a callback is doing, reported when a turn took too long. Never contains text from a peer.
struct Work {
  const char* what = nullptr;  // a string literal: "client-messages"
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// A turn that used more than kSlowTurn of the thread's CPU time.
struct SlowTurn {
  std::chrono::milliseconds cpu{0};  // used by the thread, rounded down by up to 10 ms
  std::chrono::milliseconds wall{0};
  std::uint64_t calls = 0;  // callbacks that ran
  Work longest;             // what the longest of them was doing
};

/// One turn of the loop runs the callbacks of ready descriptors, then due timers, then tasks. Each of the
/// three groups stops after a time slice and continues in the next turn, so a busy peer cannot keep the
/// others waiting. A callback may create and destroy watches and timers, including its own, and may post
/// tasks; it must not call `run` or `run_due`.
class Loop {
 public:
  /// The CPU time that one turn may take.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr std::chrono::milliseconds kSlowTurn{1000};
#else
  static constexpr std::chrono::milliseconds kSlowTurn{100};
#endif

  Loop();
  ~Loop();
  Loop(const Loop&) = delete;

  /// Runs turns until `stop` is called.
  void run();
  void stop() { stopped_ = true; }
  /// Runs the callbacks that are due now and returns without waiting for more. For tests.
  void run_due();

  /// The time at which the current turn began: accurate enough for deadlines and records.
  Clock::time_point now() const { return in_turn_ ? now_ : Clock::now(); }

  /// When the next timer is due; empty if none is running.
  std::optional<Clock::time_point> next_timer() const;

  /// Runs the task soon, after everything that is already due. May be called on any thread. Tasks that have
  /// not run when the loop is destroyed are destroyed without being run.
  void post(Task task);

  /// Says what the running callback is doing, for SlowTurn; the last call counts.
  void doing(const Work& work) { work_ = work; }
  /// `told` runs after each turn that took longer than kSlowTurn.
  void when_slow(std::function<void(const SlowTurn&)> told) { told_slow_ = std::move(told); }

 private:
  friend class Watch;
  friend class Timer;
  using Timers = std::multimap<Clock::time_point, Timer*>;

  /// The watch of a descriptor. The number distinguishes it from an earlier watch of the same descriptor.
  struct Entry {
    Watch* watch = nullptr;
    std::uint32_t number = 0;
    std::uint64_t left_out = 0;  // the turn that had no time for its event; 0 = none
  };

  /// Whether a turn with nothing to do waits.
  enum class Sleep : bool { No, Allowed };

  bool turn(Sleep sleep);
  bool wants_sleep(Sleep sleep);
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
  UniqueFd alarm_;              // eventfd that wakes the loop
  std::vector<Entry> entries_;  // by descriptor
  std::uint32_t last_number_ = 0;
  std::uint64_t turns_ = 0;
  bool stopped_ = false;
  bool in_turn_ = false;
  bool some_left_out_ = false;  // some entry has left_out set
  Clock::time_point now_{};
  Timers timers_;

  Work work_;                     // of the running callback
  Clock::time_point returned_{};  // when the last callback returned, or when the turn began
  Clock::duration longest_{};     // longest callback of this turn
  Work longest_work_;
  std::uint64_t calls_ = 0;
  Clock::time_point sampled_{};      // when the thread's CPU time was last read
  std::chrono::nanoseconds cpu_{0};  // the CPU time that was read then
  std::function<void(const SlowTurn&)> told_slow_;

  std::mutex mutex_;  // guards the members below, because other threads post
  std::vector<Task> tasks_;
  std::vector<Task> spare_;  // empty; its capacity is reused
  std::atomic<bool> asleep_ = false;
};

/// Waits for one descriptor. The caller owns the descriptor and keeps it open for longer than the watch
/// lives; a descriptor has at most one watch. A callback may destroy the watch that runs it. Destroying the
/// watch drops its callbacks.
class Watch {
 public:
  Watch(Loop& loop, int fd) : loop_(loop), fd_(fd) {}
  ~Watch();
  Watch(const Watch&) = delete;

  /// Runs `task` once, when reading would not block; that includes the end of the stream and errors.
  void when_readable(Task task);
  /// Runs `task` once, when writing would not block.
  void when_writable(Task task);
  /// Runs `task` once, when the other side has hung up or failed. Nothing is read.
  void when_broken(Task task);
  /// Drops all callbacks that are waiting.
  void cancel();

 private:
  friend class Loop;

  enum class Report : std::uint8_t { Ignored, Handled };
  struct Wait {
    Task task;
    std::uint64_t since = 0;  // the turn in which the wait began
  };

  void wait(Wait& wait, Task task);
  std::uint32_t wanted() const;
  void ask_kernel(std::uint32_t events);
  bool tell(std::uint32_t events, std::uint64_t begun_before);
  void settle(std::uint32_t events, Report report);
  void leave();

  Loop& loop_;
  int fd_;
  std::uint32_t number_ = 0;    // number of our entry in the loop; 0 = no entry
  std::uint32_t interest_ = 0;  // events that the kernel reports to us
  Wait readable_;
  Wait writable_;
  Wait broken_;
};

/// Runs a task once, after a delay. Starting it again replaces the earlier start. The task may destroy the
/// timer; destroying the timer drops the task.
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
  Task task_;  // set while the timer runs
  Loop::Timers::iterator at_;
};

}  // namespace corral
