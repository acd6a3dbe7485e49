#include "daemon/http_front.h"

#include <string_view>

#include "http/cross_origin.h"
#include "version.h"
#include "wire/error_codes.h"
#include "wire/json_writer.h"

namespace corral::daemon {
namespace {

enum class Route : std::uint8_t { Mcp, Health, Readiness, Api, Nothing };

/// MCP first, because most requests are MCP. The endpoint checks the rest of the path and may still refuse
/// it.
Route route_of(std::string_view path) {
  if (path.starts_with("/mcp") || path.starts_with("/sse") || path.starts_with("/messages"))
    return Route::Mcp;
  if (path == "/healthz") return Route::Health;
  if (path == "/readyz") return Route::Readiness;
  return HttpApi::serves(path) ? Route::Api : Route::Nothing;
}

http::Response json_reply(int status, std::string body) {
  return {status,
          {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          std::move(body),
          nullptr};
}

/// As a JSON-RPC error, because most clients use MCP.
http::Response refused(int status, const std::string& message) {
  http::Response response = json_reply(status, wire::error_message({}, wire::kInvalidRequest, message));
  if (status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

http::Response not_found() {
  return json_reply(404, R"({"error":"unknown path; servers are at /mcp/NAME and )"
                         R"(/sse/NAME, health at /healthz and /readyz, more at /api/v1/info and /metrics"})");
}

bool reads(const http::Request& request) { return request.method == "GET" || request.method == "HEAD"; }

http::Response only_read() {
  http::Response response = json_reply(405, R"({"error":"this path accepts only GET and HEAD"})");
  response.headers.push_back({"Allow", "GET, HEAD"});
  return response;
}

}  // namespace

HttpFront::HttpFront(Hub& hub, transport::HttpEndpoint& endpoint, http::AccessRules rules, Tokens tokens)
    : hub_(hub),
      api_(hub.snapshots(), hub.records()),
      endpoint_(endpoint),
      rules_(std::move(rules)),
      tokens_(std::move(tokens)) {}

/// Loading tokens stats the token file, so they are not loaded for requests without an Authorization header.
const std::vector<http::Token>& HttpFront::tokens_for(const http::Request& request) const {
  static const std::vector<http::Token> none;
  return request.find("Authorization") == nullptr ? none : tokens_();
}

std::optional<http::Response> HttpFront::refuse_early(const http::Request& head) {
  const http::Access access = http::check_access(head, rules_, tokens_for(head));
  if (access.status == 200) return std::nullopt;
  return refused(access.status, access.message);
}

void HttpFront::handle(const http::Request& request, std::shared_ptr<http::Exchange> exchange) {
  const http::Access access = http::check_access(request, rules_, tokens_for(request));
  if (access.status == 403) return exchange->reply(refused(403, access.message));
  if (!access.allowed_origin.empty()) {
    if (http::is_preflight(request)) return exchange->reply(http::preflight_reply(access.allowed_origin));
    exchange = http::for_origin(std::move(exchange), access.allowed_origin);
  }
  dispatch(request, exchange, access);
}

void HttpFront::dispatch(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                         const http::Access& access) {
  const Route route = route_of(request.path);
  if (route == Route::Health) return answer_health(request, *exchange);
  if (route == Route::Readiness) return answer_readiness(request, *exchange, access);
  if (access.status != 200) return exchange->reply(refused(access.status, access.message));
  if (request.method == "OPTIONS") {
    return exchange->reply({204, {{"Allow", "GET, POST, DELETE, OPTIONS"}}, "", nullptr});
  }
  if (route == Route::Mcp && endpoint_.handle(request, exchange, access.principal)) return;
  if (route == Route::Api) return api_.answer(request, exchange, access.principal);
  exchange->reply(not_found());
}

/// Needs no token: that the daemon is running is not a secret.
void HttpFront::answer_health(const http::Request& request, http::Exchange& exchange) const {
  if (!reads(request)) return exchange.reply(only_read());
  exchange.reply(
      json_reply(200, wire::JsonObject().text("status", "alive").text("version", kVersion).json()));
}

/// Needs no token, but only an authorized client learns which servers are not ready.
void HttpFront::answer_readiness(const http::Request& request, http::Exchange& exchange,
                                 const http::Access& access) const {
  if (!reads(request)) return exchange.reply(only_read());
  const Readiness readiness = hub_.readiness(access.status == 200 ? &access.principal : nullptr);
  exchange.reply(json_reply(readiness.ready ? 200 : 503, readiness.json));
}

}  // namespace corral::daemon
