#include "daemon/http_api.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "control/hello.h"
#include "wire/json_text.h"

namespace corral::daemon {
namespace {

using ExchangePointer = std::shared_ptr<http::Exchange>;

constexpr std::string_view kApi = "/api/v1/";
constexpr std::string_view kMetrics = "/metrics";

http::Response api_reply(int status, std::string json) {
  return {status,
          {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          std::move(json),
          nullptr};
}

http::Response api_error(int status, const std::string& sentence) {
  return api_reply(status, R"({"error":)" + wire::quoted(sentence) + "}");
}

/// Nothing if it is no number; `otherwise` if it is not there.
std::optional<std::uint64_t> number_in(std::string_view query, std::string_view name,
                                       std::uint64_t otherwise) {
  const std::string text = http::query_value(query, name);
  if (text.empty()) return otherwise;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool HttpApi::take(const http::Request& request, const ExchangePointer& exchange,
                   const http::Principal& who) {
  if (request.path != kMetrics && !request.path.starts_with(kApi)) return false;
  if (!who.servers.empty()) {
    exchange->reply(
        api_error(403, "this shows all servers, and the token is limited to some: use one without a limit"));
    return true;
  }
  if (request.method != "GET" && request.method != "HEAD") {
    http::Response refusal = api_error(405, "only GET and HEAD are served here");
    refusal.headers.push_back({"Allow", "GET, HEAD"});
    exchange->reply(std::move(refusal));
    return true;
  }
  answer(request, exchange);
  return true;
}

void HttpApi::answer(const http::Request& request, const ExchangePointer& exchange) {
  if (request.path == kMetrics) {
    return hub_.measured_snapshot([hub = &hub_, exchange](const observe::Snapshot& shot) {
      exchange->reply(
          {200,
           {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}, {"Cache-Control", "no-store"}},
           hub->records().metrics().text(shot),
           nullptr});
    });
  }
  const std::string_view what = std::string_view(request.path).substr(kApi.size());
  if (what == "info") {
    return hub_.measured_snapshot([exchange](const observe::Snapshot& shot) {
      exchange->reply(api_reply(200, observe::info_json(shot)));
    });
  }
  if (what == "servers") return exchange->reply(api_reply(200, observe::servers_json(hub_.snapshot())));
  if (what == "events") return answer_events(request, exchange);
  if (what != "instances" && what != "sessions") {
    return exchange->reply(
        api_error(404,
                  "there is nothing at this path; there are /api/v1/info, servers, instances, "
                  "sessions and events, and /metrics"));
  }
  const bool instances = what == "instances";
  hub_.measured_snapshot([exchange, instances](const observe::Snapshot& shot) {
    exchange->reply(api_reply(200, instances ? observe::instances_json(shot) : observe::sessions_json(shot)));
  });
}

void HttpApi::answer_events(const http::Request& request, const ExchangePointer& exchange) {
  const auto after = number_in(request.query, "after", 0);
  const auto limit = number_in(request.query, "limit", control::kMostEvents);
  const auto wait = number_in(request.query, "wait_ms", 0);
  const bool in_range = after && limit && wait && *limit > 0 && *limit <= control::kMostEvents &&
                        *wait <= static_cast<std::uint64_t>(control::kLongestWait.count());
  if (!in_range) {
    return exchange->reply(api_error(
        400, "\"after\" must be a number, \"limit\" one from 1 to " + std::to_string(control::kMostEvents) +
                 ", \"wait_ms\" one up to " + std::to_string(control::kLongestWait.count())));
  }
  const observe::EventReader::Wish wish{*after, *limit, std::chrono::milliseconds(*wait)};
  hub_.records().reader().read(
      wish, [exchange](const std::string& json) { exchange->reply(api_reply(200, json)); });
}

}  // namespace corral::daemon
