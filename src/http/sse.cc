#include "http/sse.h"

#include <algorithm>

namespace corral::http {
namespace {

/// A line end would end the data. In JSON it can only be white space between two tokens.
void append_data(std::string& to, std::string_view data) {
  const std::size_t at = to.size();
  to.append(data);
  std::replace_if(
      to.begin() + static_cast<std::ptrdiff_t>(at), to.end(), [](char c) { return c == '\r' || c == '\n'; },
      ' ');
}

}  // namespace

Headers event_stream_headers() {
  return {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
}

/// One piece if the message is small, so that it is one write and one chunk.
void write_event(Exchange& exchange, const Event& event) {
  std::string head;
  if (!event.name.empty()) head.append("event: ").append(event.name).append("\n");
  if (!event.id.empty()) head.append("id: ").append(event.id).append("\n");
  if (event.retry) head.append("retry: ").append(std::to_string(event.retry->count())).append("\n");
  head.append(event.data.text.empty() ? "data:" : "data: ");
  const std::string_view data = event.data.text;
  // One search for both characters is a hundred times slower.
  const bool broken = data.find('\n') != std::string_view::npos || data.find('\r') != std::string_view::npos;
  if (!event.data.owner || data.size() < wire::kLargeText || broken) {
    append_data(head, data);
    head.append("\n\n");
    return exchange.write({head, nullptr});
  }
  exchange.write({head, nullptr});
  exchange.write(event.data);
  exchange.write({"\n\n", nullptr});
}

void write_comment(Exchange& exchange) { exchange.write({":\n\n", nullptr}); }

}  // namespace corral::http
