// Server-sent events, as they are written. A message is JSON on one line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "http/exchange.h"

namespace corral::http {

struct Event {
  std::string_view id;    // empty = none
  std::string_view name;  // empty = "message", which is not written
  wire::Line data;        // without a line end
  std::optional<std::chrono::milliseconds> retry;
};

/// What an answer that is a stream begins with.
Headers event_stream_headers();

void write_event(Exchange& exchange, const Event& event);
/// Says nothing, so that nobody in between takes the stream for dead.
void write_comment(Exchange& exchange);

}  // namespace corral::http
