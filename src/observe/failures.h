// The last failure of each server: it could not be started, refused its handshake, died, died too often, or
// its client was refused. `ps` shows it for a while, because often nothing else is left of a server that
// failed. Counts the failures, too. Must be used on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "events/event.h"
#include "observe/snapshot.h"

namespace corral::observe {

class Failures {
 public:
  /// `clock` returns Unix milliseconds, as in events; null = the system clock.
  explicit Failures(std::function<std::int64_t()> clock = nullptr);

  /// Call with every event.
  void handle(const events::Event& event);
  /// A client was refused, and there is no event, because there were too many.
  void refused_without_event() { ++refusals_; }
  /// Those of the last ten minutes, unless the server has been ready since then; the newest first.
  std::vector<FailureView> now() const;
  /// Sets how many there were since the daemon started, with and without the name of a server.
  void count_in(TotalsView& totals) const;

 private:
  struct Failure {
    std::int64_t time_ms = 0;
    events::Kind kind = events::Kind::Failed;
    std::string text;
    std::vector<std::string> error_lines;
  };

  void count(events::Kind kind);
  void make_room();

  std::function<std::int64_t()> clock_;
  std::map<std::string, Failure> by_server_;
  std::uint64_t failed_starts_ = 0;
  std::uint64_t refusals_ = 0;
  std::uint64_t crashes_ = 0;
};

}  // namespace corral::observe
