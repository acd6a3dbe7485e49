#include "transport/http_endpoint.h"

#include <utility>
#include <variant>

#include "base/unique_id.h"
#include "transport/http_refusal.h"
#include "transport/http_rules.h"
#include "transport/modern_session.h"
#include "transport/sse_session.h"
#include "transport/streamable_session.h"
#include "wire/error_codes.h"
#include "wire/revisions.h"

namespace corral::transport {
namespace {

constexpr std::size_t kSessionIdBytes = 16;
// If many requests are open at a shared server, it matters which program sent them: one that leaks requests
// must not use up the others' share. The lookup costs time, so it begins at this number of open requests.
constexpr std::size_t kCrowd = 64;
constexpr int kNoSession = -32000;  // the SDKs use the same code
constexpr int kSessionNotFound = -32001;

enum class Route : std::uint8_t { Streamable, Sse, Messages };

/// The transport and the server that a request addresses.
struct Target {
  Route route;
  std::string server;  // empty = not named
};

std::optional<Target> target_of(const std::string& path) {
  constexpr std::pair<std::string_view, Route> kPaths[] = {
      {"/mcp", Route::Streamable}, {"/sse", Route::Sse}, {"/messages", Route::Messages}};
  for (const auto& [prefix, route] : kPaths) {
    if (!path.starts_with(prefix)) continue;
    const std::string_view rest = std::string_view(path).substr(prefix.size());
    if (rest.empty() || rest == "/") return Target{route, ""};
    if (rest.front() == '/') return Target{route, http::percent_decoded(rest.substr(1))};
  }
  return std::nullopt;
}

HttpRefusal wrong_method(const std::string& method, const char* allowed) {
  return {405, wire::kInvalidRequest, method + " is not supported here; use " + allowed, "", allowed};
}

/// Requests with the same key belong together: all requests of a principal to a server or, where each client
/// has a private instance, those of one process.
std::string group_of(const HttpArrival& arrival, const std::optional<Owner>& owner) {
  return arrival.principal + "\n" + arrival.server + "\n" + arrival.root + "\n" +
         (owner ? std::to_string(owner->identity) : "");
}

/// Identifies the program as far as possible: a local process, or a remote machine.
std::uint64_t program_of(const std::optional<Owner>& owner, const http::Peer& peer) {
  if (owner) return owner->identity;
  if (peer.ours) return 0;
  return std::hash<std::string_view>{}(std::string_view(peer.address).substr(0, peer.address.rfind(':')));
}

const HttpRefusal kUnknownSession = {
    404, kSessionNotFound, "Session not found: it has ended or never existed; start again with initialize",
    "", ""};

}  // namespace

HttpEndpoint::HttpEndpoint(Loop& loop, HttpSessionOpener& opener, HttpLimits limits, Clock::duration idle)
    : loop_(loop), opener_(opener), limits_(limits), finder_(loop), sessions_(loop, opener, finder_, idle) {}

bool HttpEndpoint::handle(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                          const http::Principal& principal) {
  std::optional<Target> target = target_of(request.path);
  if (!target) return false;
  if (target->server.empty()) target->server = opener_.only_server();
  if (target->server.empty()) {
    refuse_post(exchange.get(),
                {404, wire::kInvalidRequest,
                 "this URL does not name a server: add its name, as in /mcp/NAME; `corral config "
                 "check` lists the names",
                 "", ""});
    return true;
  }
  if (!principal.may_use(target->server)) {
    refuse_post(exchange.get(),
                {403, wire::kInvalidRequest,
                 "this token does not give access to server " + target->server +
                     "; `corral token create NAME --server " + target->server + "` creates one that does",
                 "", ""});
    return true;
  }
  HttpArrival arrival{target->server, http::query_value(request.query, "root"), principal.name, "",
                      principal.roots};
  switch (target->route) {
    case Route::Streamable: streamable(request, exchange, std::move(arrival)); break;
    case Route::Sse: sse(request, exchange, std::move(arrival)); break;
    case Route::Messages: messages(request, exchange, arrival); break;
  }
  return true;
}

HttpEndpoint::Entry* HttpEndpoint::open(const std::string& key, const HttpArrival& arrival,
                                        std::unique_ptr<HttpSession> session, http::Exchange& exchange,
                                        std::string_view id) {
  auto opened = sessions_.open(key, arrival, std::move(session));
  if (Entry** const entry = std::get_if<Entry*>(&opened)) return *entry;
  refuse_post(&exchange, std::get<HttpRefusal>(opened), id);
  return nullptr;
}

// ---- Streamable HTTP

void HttpEndpoint::streamable(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                              HttpArrival arrival) {
  arrival.transport = "http";
  if (request.method == "POST") return post(request, exchange, arrival);
  const bool get = request.method == "GET";
  if (!get && request.method != "DELETE") {
    return refuse_post(exchange.get(), wrong_method(request.method, "POST, GET, DELETE"));
  }
  if (const auto refusal = get ? check_get(request) : check_delete(request)) {
    return refuse_post(exchange.get(), *refusal);
  }
  const Entry* const entry = sessions_.find(std::string(request.header("Mcp-Session-Id")), arrival);
  auto* const session = entry == nullptr ? nullptr : dynamic_cast<StreamableSession*>(entry->session.get());
  if (session == nullptr) return refuse_post(exchange.get(), kUnknownSession);
  if (get) return session->listen(exchange, request.header("Last-Event-ID"));
  session->session().end(session::EndReason::Deleted);
  exchange->reply({204, {}, "", nullptr});
}

void HttpEndpoint::post(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                        const HttpArrival& arrival) {
  auto classified = classify_post(request);
  if (const auto* const refused = std::get_if<RefusedPost>(&classified)) {
    return refuse_post(exchange.get(), refused->refusal, refused->id);
  }
  const Classified& call = std::get<Classified>(classified);
  if (call.kind == Classified::Kind::Modern) return modern(request, exchange, arrival, call.posted);
  if (call.kind == Classified::Kind::Initialize) return initialize(exchange, arrival, call.posted);
  const std::string_view id = call.posted.answer_id();
  if (call.session.empty()) {
    return refuse_post(
        exchange.get(),
        {400, kNoSession,
         "Bad Request: the header Mcp-Session-Id is missing; start with initialize, or name the "
         "protocol version " +
             std::string(wire::kModern) + " in _meta",
         "", ""},
        id);
  }
  Entry* const entry = sessions_.find(std::string(call.session), arrival);
  if (entry == nullptr) return refuse_post(exchange.get(), kUnknownSession, id);
  sessions_.message_from(*entry, exchange->peer());
  entry->session->post(exchange, call.posted);
}

void HttpEndpoint::initialize(const std::shared_ptr<http::Exchange>& exchange, const HttpArrival& arrival,
                              const Posted& posted) {
  const std::string key = random_hex(kSessionIdBytes);
  Entry* const entry =
      open(key, arrival, std::make_unique<StreamableSession>(loop_, key, limits_, sessions_.forgets(key)),
           *exchange, posted.message.id());
  if (entry == nullptr) return;
  if (opener_.would_be_private(arrival)) sessions_.may_bind(*entry);
  sessions_.message_from(*entry, exchange->peer());
  entry->session->post(exchange, posted);
}

// ---- modern requests

void HttpEndpoint::modern(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                          const HttpArrival& arrival, const Posted& posted) {
  const bool apart = opener_.would_be_private(arrival);
  if (!apart && !sessions_.crowded(group_of(arrival, std::nullopt), kCrowd)) {
    return modern_from(std::nullopt, request, exchange, arrival, posted);
  }
  // A client that hangs up during the lookup needs no answer.
  const auto gone = std::make_shared<bool>(false);
  exchange->when_gone([gone] { *gone = true; });
  const auto found = [this, request, exchange, arrival, posted, gone,
                      apart](const std::optional<Owner>& owner) {
    if (*gone) return;
    Posted of_program = posted;
    of_program.program = program_of(owner, exchange->peer());
    modern_from(apart ? owner : std::nullopt, request, exchange, arrival, of_program);
  };
  finder_.find(exchange->peer(), lifetime_.guard(found));
}

void HttpEndpoint::modern_from(const std::optional<Owner>& owner, const http::Request& request,
                               const std::shared_ptr<http::Exchange>& exchange, const HttpArrival& arrival,
                               const Posted& posted) {
  const std::string_view id = posted.answer_id();
  const std::string group = group_of(arrival, owner);
  std::vector<std::string> capabilities = capability_names(posted);
  Entry* entry = sessions_.find_in(group, arrival, capabilities);
  if (entry == nullptr) {
    const std::string key = random_hex(kSessionIdBytes);
    const auto programs = owner ? ModernSession::Programs::One : ModernSession::Programs::Several;
    entry =
        open(key, arrival, std::make_unique<ModernSession>(loop_, limits_, sessions_.forgets(key), programs),
             *exchange, id);
    if (entry == nullptr) return;
    sessions_.add_to_group(*entry, key, group);
    if (owner) sessions_.bind(*entry, *owner);
  }
  const session::Session& session = entry->session->session();
  if (session.attachment().takes_any_client()) entry->capabilities = std::move(capabilities);
  if (posted.message.method() == "tools/call") {
    const auto refusal = check_param_headers(request, posted, session.known_tools());
    if (refusal) return refuse_post(exchange.get(), *refusal, id);
  }
  entry->session->post(exchange, posted);
}

// ---- HTTP+SSE

void HttpEndpoint::sse(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                       HttpArrival arrival) {
  arrival.transport = "sse";
  if (request.method != "GET") return refuse_post(exchange.get(), wrong_method(request.method, "GET"));
  const std::string key = random_hex(kSessionIdBytes);
  const std::string endpoint =
      "/messages" + request.path.substr(std::string_view("/sse").size()) + "?sessionId=" + key;
  Entry* const entry = open(
      key, arrival, std::make_unique<SseSession>(loop_, exchange, endpoint, limits_, sessions_.forgets(key)),
      *exchange, "null");
  if (entry != nullptr) entry->last_used = Clock::now();
}

void HttpEndpoint::messages(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                            const HttpArrival& arrival) {
  if (request.method != "POST") return refuse_post(exchange.get(), wrong_method(request.method, "POST"));
  auto posted = read_message(request);
  if (const auto* const refused = std::get_if<RefusedPost>(&posted)) {
    return refuse_post(exchange.get(), refused->refusal, refused->id);
  }
  const Entry* const entry = sessions_.find(http::query_value(request.query, "sessionId"), arrival);
  auto* const session = entry == nullptr ? nullptr : dynamic_cast<SseSession*>(entry->session.get());
  if (session == nullptr) return refuse_post(exchange.get(), kUnknownSession);
  session->post(exchange, std::get<Posted>(posted));
}

}  // namespace corral::transport
