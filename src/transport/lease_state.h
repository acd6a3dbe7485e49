// Whether a session belongs to one process, according to its messages. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace corral::transport {

class LeaseState {
 public:
  enum class Stage : std::uint8_t {
    New,      // no message yet
    Seen,     // one; it could still be a new process for each message
    Bound,    // two or more, all from the same process
    Unbound,  // from several processes, or from an unknown one; permanent
  };

  /// Records a message; empty = the sender is unknown.
  Stage message_from(std::optional<std::uint64_t> identity);
  Stage stage() const { return stage_; }

 private:
  std::uint64_t identity_ = 0;
  Stage stage_ = Stage::New;
};

}  // namespace corral::transport
