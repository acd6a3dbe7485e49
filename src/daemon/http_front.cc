#include "daemon/http_front.h"

#include "http/cross_origin.h"
#include "version.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::daemon {
namespace {

http::Response json_reply(int status, std::string body) {
  return {status,
          {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          std::move(body),
          nullptr};
}

/// With an id as JSON-RPC has it: whoever asks is mostly an MCP client.
http::Response refused(int status, const std::string& message) {
  http::Response response = json_reply(status, wire::error_message({}, wire::kInvalidRequest, message));
  if (status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

bool reads(const http::Request& request) { return request.method == "GET" || request.method == "HEAD"; }

http::Response only_read() {
  http::Response response = json_reply(405, R"({"error":"only GET and HEAD are served here"})");
  response.headers.push_back({"Allow", "GET, HEAD"});
  return response;
}

}  // namespace

HttpFront::HttpFront(Hub& hub, transport::HttpEndpoint& endpoint, http::AccessRules rules, Tokens tokens)
    : hub_(hub), api_(hub), endpoint_(endpoint), rules_(std::move(rules)), tokens_(std::move(tokens)) {}

/// To have them means to look at their file, which who shows none need not wait for.
const std::vector<http::Token>& HttpFront::tokens_for(const http::Request& request) const {
  static const std::vector<http::Token> none;
  return request.find("Authorization") == nullptr ? none : tokens_();
}

std::optional<http::Response> HttpFront::refuse_early(const http::Request& head) {
  const http::Access access = http::check_access(head, rules_, tokens_for(head));
  if (access.status == 200) return std::nullopt;
  return refused(access.status, access.message);
}

void HttpFront::take(const http::Request& request, std::shared_ptr<http::Exchange> exchange) {
  const http::Access access = http::check_access(request, rules_, tokens_for(request));
  if (access.status == 403) return exchange->reply(refused(403, access.message));
  if (!access.allowed_origin.empty()) {
    if (http::is_preflight(request)) return exchange->reply(http::preflight_reply(access.allowed_origin));
    exchange = http::for_origin(std::move(exchange), access.allowed_origin);
  }
  dispatch(request, exchange, access);
}

/// Whether we live is no secret. Everything else is for those who may come in.
void HttpFront::dispatch(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                         const http::Access& access) {
  const bool known = access.status == 200;
  if (request.path == "/healthz") {
    if (!reads(request)) return exchange->reply(only_read());
    return exchange->reply(
        json_reply(200, std::string(R"({"status":"alive","version":")") + kVersion + "\"}"));
  }
  if (request.path == "/readyz") {
    if (!reads(request)) return exchange->reply(only_read());
    const Hub::Readiness readiness = hub_.readiness(known ? &access.principal : nullptr);
    return exchange->reply(json_reply(readiness.ready ? 200 : 503, readiness.json));
  }
  if (!known) return exchange->reply(refused(access.status, access.message));
  if (request.method == "OPTIONS") {
    return exchange->reply({204, {{"Allow", "GET, POST, DELETE, OPTIONS"}}, "", nullptr});
  }
  if (api_.take(request, exchange, access.principal)) return;
  if (endpoint_.handle(request, exchange, access.principal)) return;
  exchange->reply(
      json_reply(404, R"({"error":"there is nothing at this path; servers are at /mcp/NAME and )"
                      R"(/sse/NAME, health at /healthz and /readyz, more at /api/v1/info and /metrics"})"));
}

}  // namespace corral::daemon
