#include "daemon/http_api.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "control/hello.h"
#include "wire/json_writer.h"

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
  return api_reply(status, wire::JsonObject().text("error", sentence).json());
}

/// Nothing if it is not a number; `otherwise` if it is absent.
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

bool HttpApi::serves(std::string_view path) { return path == kMetrics || path.starts_with(kApi); }

void HttpApi::answer(const http::Request& request, const ExchangePointer& exchange,
                     const http::Principal& who) {
  if (!who.servers.empty()) {
    return exchange->reply(api_error(
        403, "this path shows all servers, and the token is limited to some: use a token without a limit"));
  }
  if (request.method != "GET" && request.method != "HEAD") {
    http::Response refusal = api_error(405, "this path accepts only GET and HEAD");
    refusal.headers.push_back({"Allow", "GET, HEAD"});
    return exchange->reply(std::move(refusal));
  }
  show(request, exchange, who);
}

void HttpApi::show(const http::Request& request, const ExchangePointer& exchange,
                   const http::Principal& who) {
  if (request.path == kMetrics) return show_metrics(exchange);
  using ToJson = std::string (*)(const observe::Snapshot&);
  const auto measured = [this, &exchange](ToJson to_json) {
    snapshots_.measure([exchange, to_json](const observe::Snapshot& snapshot) {
      exchange->reply(api_reply(200, to_json(snapshot)));
    });
  };
  const std::string_view what = std::string_view(request.path).substr(kApi.size());
  if (what == "info") return measured(observe::info_json);
  if (what == "instances") return measured(observe::instances_json);
  if (what == "sessions") return measured(observe::sessions_json);
  if (what == "servers") return exchange->reply(api_reply(200, observe::servers_json(snapshots_.now())));
  if (what == "events") return show_events(request, exchange, who);
  exchange->reply(api_error(404,
                            "unknown path; the API has /api/v1/info, servers, instances, "
                            "sessions and events, and /metrics"));
}

void HttpApi::show_metrics(const ExchangePointer& exchange) {
  snapshots_.measure([records = &records_, exchange](const observe::Snapshot& snapshot) {
    exchange->reply(
        {200,
         {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}, {"Cache-Control", "no-store"}},
         records->metrics().text(snapshot),
         nullptr});
  });
}

void HttpApi::show_events(const http::Request& request, const ExchangePointer& exchange,
                          const http::Principal& who) {
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
  using ErrorLines = observe::EventReader::ErrorLines;
  const observe::EventReader::Query query{*after, *limit, std::chrono::milliseconds(*wait),
                                          who.name == "user" ? ErrorLines::Shown : ErrorLines::Hidden};
  records_.reader().read(query,
                         [exchange](const std::string& json) { exchange->reply(api_reply(200, json)); });
}

}  // namespace corral::daemon
