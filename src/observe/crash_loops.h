// Detects servers that die repeatedly, from the event stream. Includes servers that have no slot in the pool
// because every session starts its own instance. Must be used on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "events/event.h"
#include "observe/snapshot.h"

namespace corral::observe {

class CrashLoops {
 public:
  /// `clock` returns Unix milliseconds, as in events; null = the system clock.
  explicit CrashLoops(std::function<std::int64_t()> clock = nullptr);

  /// Call with every event.
  void handle(const events::Event& event);
  /// The servers that are in a crash loop now.
  std::vector<CrashLoop> now() const;

 private:
  struct Deaths {
    std::size_t in_a_row = 0;
    std::int64_t last_ms = 0;
    std::int64_t ready_ms = 0;  // when an instance became ready since then; 0 = none has
    std::string words;
  };
  void died(const events::Event& event);
  void make_room();

  std::function<std::int64_t()> clock_;
  std::map<std::string, Deaths> by_server_;
};

}  // namespace corral::observe
