// A child process with pipes to its stdin and stdout, and the JSON-RPC question that all measurements ask it.
// Destroying a running child kills and reaps it, so that an error in a measurement leaves nothing behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace corral::bench {

using Clock = std::chrono::steady_clock;

/// Milliseconds since `start`.
double ms_since(Clock::time_point start);

struct SpawnSettings {
  bool own_session = false;  // setsid, so that killpg reaches the child's tree and not us
  std::string stderr_file;   // empty: our own stderr
};

class Child {
 public:
  /// Throws std::system_error if it can't be started.
  Child(const std::vector<std::string>& argv, const SpawnSettings& settings);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  int in() const { return in_; }    // we write
  int out() const { return out_; }  // we read

  /// One request, one answer; microseconds. Throws std::runtime_error if there is no or a wrong answer.
  double ask();

  void close_stdin();

  /// Blocks until the child has ended. Returns its exit code, or 128 + signal.
  int wait();

  /// Somebody else reaps it from here on.
  pid_t release();

 private:
  pid_t pid_ = -1;  // -1 once reaped or moved from
  int in_ = -1;     // we write
  int out_ = -1;    // we read
  unsigned next_id_ = 1;
};

}  // namespace corral::bench
