// The last failure of each server: it could not be started, refused its handshake, died, or died too often.
// `ps` shows it for a while, because often nothing else is left of a server that failed. Must be used on the
// loop's thread.
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
  /// Those of the last ten minutes, unless the server has been ready since then; the newest first.
  std::vector<FailureView> now() const;

 private:
  struct Failure {
    std::int64_t time_ms = 0;
    std::string text;
  };

  std::function<std::int64_t()> clock_;
  std::map<std::string, Failure> by_server_;
};

}  // namespace corral::observe
