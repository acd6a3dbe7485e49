// Writes server-sent events. A message is JSON on one line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "http/exchange.h"

namespace corral::http {

/// The views must be valid during `write_event` only.
struct Event {
  std::string_view id;    // empty = none
  std::string_view name;  // empty = "message", which is not written
  wire::Line data;        // without a line end
  std::optional<std::chrono::milliseconds> retry;
};

/// The headers of an answer that is a stream of events.
Headers event_stream_headers();

/// On an exchange that has begun. Data with an owner is not copied.
void write_event(Exchange& exchange, const Event& event);
/// Writes an event that clients ignore, so that no proxy closes a silent stream.
void write_comment(Exchange& exchange);

}  // namespace corral::http
