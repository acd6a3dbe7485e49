// Whether a session belongs to one process, as far as its messages tell. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace corral::transport {

class LeaseState {
 public:
  enum class Stage : std::uint8_t {
    New,      // no message yet
    Seen,     // one: a program for each message looks the same so far
    Bound,    // two or more, all of the same process
    Unbound,  // of several processes, or of one that cannot be told; for good
  };

  /// A message came; nothing = from whom, cannot be told.
  Stage message_from(std::optional<std::uint64_t> identity);
  Stage stage() const { return stage_; }

 private:
  std::uint64_t identity_ = 0;
  Stage stage_ = Stage::New;
};

}  // namespace corral::transport
