// Which servers die again and again, from what the event stream tells: also those that no place is kept for,
// because every session starts one of its own. Belongs to the loop thread.
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
  /// Milliseconds since 1970, as events have them; null = the clock.
  explicit CrashLoops(std::function<std::int64_t()> clock = nullptr);

  void hear(const events::Event& event);
  std::vector<CrashLoop> now() const;

 private:
  struct Deaths {
    std::size_t in_a_row = 0;
    std::int64_t last_ms = 0;
    std::int64_t ready_ms = 0;  // of an instance since then; 0 = none
    std::string words;
  };
  void died(const events::Event& event);
  void make_room();

  std::function<std::int64_t()> clock_;
  std::map<std::string, Deaths> by_server_;
};

}  // namespace corral::observe
