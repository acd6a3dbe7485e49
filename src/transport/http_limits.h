// How much an HTTP session may hold, and how long its clients wait. The values are the defaults; tests use
// smaller ones. docs/internals lists the limits of every queue.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/clock.h"

namespace corral::transport {

struct HttpLimits {
  /// Messages of one program that wait because the server does not read. More are refused with 503.
  std::size_t waiting = 64;
  /// POSTs of one session or program that wait for their answers. More are refused with 429.
  std::size_t open_requests = 256;
  /// Bytes that the clients of one session have not read. Beyond that, the session ends.
  std::size_t queued = std::size_t{96} << 20;
  /// Bytes that are kept for a client that reconnects.
  std::size_t replay = std::size_t{1} << 20;
  /// How long a status line waits for the first message, which decides whether the answer is a stream.
  Clock::duration hold = std::chrono::seconds(10);
  /// Between two comments on a silent stream, so that no proxy closes it.
  Clock::duration alive = std::chrono::seconds(20);
  /// What clients are told to wait before they reconnect.
  Clock::duration retry = std::chrono::seconds(2);
};

}  // namespace corral::transport
