// One client of a server, and many at once. Every question is different, and every answer is compared with
// it: an answer that belongs to somebody else is the worst thing that a shared server can do.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "child.h"

namespace corral::bench {

/// While one of these lives, a read that waits for too long fails instead of waiting for ever. One at a time.
class TimeLimit {
 public:
  explicit TimeLimit(unsigned seconds);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
};

class Link {
 public:
  /// The child's pipes. It is ended with the link.
  Link(std::string name, Child child);
  /// Owns both, which may be the same descriptor (a socket).
  Link(std::string name, int to, int from);
  Link(Link&& other) noexcept;
  Link& operator=(Link&&) = delete;
  ~Link();

  /// initialize, notifications/initialized, tools/list. Throws std::runtime_error unless both are answered.
  void open();
  /// server/discover and tools/list, and from here on every question in the words of 2026-07-28.
  void open_modern();

  /// One question of about so many bytes, the same back; microseconds. Throws for a wrong or missing answer.
  double echo(std::size_t bytes);
  /// One small question, so many bytes back.
  double blob(std::size_t bytes);
  /// A ping; microseconds.
  double ping();

  /// Until a question is answered rightly, however many are answered with an error before: for a server that
  /// is dead or away. News on the way is skipped. Milliseconds, and the number of errors.
  struct Persistence {
    double ms = 0;
    int errors = 0;
  };
  Persistence echo_until_right(std::size_t bytes);

  // For many at once: ask, then wait until `from` is readable, then take.
  enum class Taken { Partly, Right, Wrong };
  void ask_echo(std::size_t bytes);
  /// Throws if the other side is gone.
  Taken take();

  int from() const { return from_; }
  /// For who says something else.
  int to() const { return to_; }
  pid_t pid() const { return child_ ? child_->pid() : -1; }

  /// Closes our side, and waits for the child if there is one.
  void close();

 private:
  void write_all(const std::string& text);
  bool read_some();
  std::string read_line();
  std::string next_echo(std::size_t bytes);
  double timed(const std::string& question);
  bool is_right() const;
  void close_both();

  std::string name_;  // in every question, so that a stranger's answer is seen
  std::optional<Child> child_;
  int to_ = -1;
  int from_ = -1;
  unsigned next_id_ = 1;
  bool modern_ = false;
  std::string wanted_id_;
  std::string wanted_text_;
  std::vector<char> line_;
  std::size_t filled_ = 0;
};

struct Load {
  std::size_t calls = 0;
  std::size_t wrong = 0;
  double per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
};

/// Every client (Link, HttpClient) has one small question in flight, for so long. From one thread, by epoll.
template <typename Client>
Load drive(std::vector<Client>& clients, std::chrono::milliseconds time, std::size_t bytes);

}  // namespace corral::bench
