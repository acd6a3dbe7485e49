// The one thread of the daemon: waits for descriptors, timers and tasks, and calls who asked. Asio
// underneath; only loop.cc sees it. Everything here belongs to that thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace corral {

using Clock = std::chrono::steady_clock;
using Task = std::function<void()>;

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;

  /// Returns after `stop`.
  void run();
  void stop();
  /// Calls whatever is due now and returns, without waiting for more. For tests.
  void run_due();

  /// Runs the task soon, after what is due already.
  void post(Task task);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Waits for one descriptor, which its owner keeps open for longer than this lives. A callback may destroy
/// the watch that calls it.
class Watch {
 public:
  Watch(Loop& loop, int fd);
  ~Watch();
  Watch(const Watch&) = delete;

  /// Calls once, when reading would not block: also at the end of the stream and on an error.
  void when_readable(Task task);
  void when_writable(Task task);
  /// Calls once when the other side hung up or failed, without reading anything.
  void when_broken(Task task);
  void cancel();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// Calls once, later. Starting it again forgets the earlier start; so does destroying it.
class Timer {
 public:
  explicit Timer(Loop& loop);
  ~Timer();
  Timer(const Timer&) = delete;

  void start(Clock::duration after, Task task);
  void cancel();
  bool running() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral
