// Whether a client reads what it is sent, judged by the bytes that are queued for it: congested above the
// high mark, until they are below the low mark. The gap keeps a session from changing its mind with every
// message.
#pragma once

#include <cstddef>
#include <utility>

#include "wire/channel.h"

namespace corral::transport {

class WaterMarks {
 public:
  bool congested() const { return congested_; }

  /// To be called when something was queued.
  void rose(std::size_t queued) { congested_ = congested_ || queued > wire::Channel::kHighWater; }

  /// To be called when something was read or given up. Returns whether this ended the congestion: then the
  /// session must be told.
  bool fell(std::size_t queued) {
    return queued < wire::Channel::kLowWater && std::exchange(congested_, false);
  }

 private:
  bool congested_ = false;
};

}  // namespace corral::transport
