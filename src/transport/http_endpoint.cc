#include "transport/http_endpoint.h"

#include <fcntl.h>

#include <algorithm>
#include <list>
#include <unordered_map>
#include <utility>

#include "base/unique_id.h"
#include "transport/capability_names.h"
#include "transport/http_rules.h"
#include "transport/modern_session.h"
#include "transport/owner_finder.h"
#include "transport/process_lease.h"
#include "transport/sse_session.h"
#include "transport/streamable_session.h"
#include "wire/error_codes.h"
#include "wire/revisions.h"

namespace corral::transport {
namespace {

constexpr std::size_t kSessionIdBytes = 16;
constexpr std::size_t kCrowd = 64;              // open requests at which the sending programs are looked up
constexpr std::size_t kMostProfiles = 8;        // of one client, each with its own instance
constexpr std::chrono::seconds kDeathGrace{1};  // a client may hand over its work before it exits
constexpr int kNoSession = -32000;              // the SDKs use the same code
constexpr int kSessionNotFound = -32001;

enum class Way : std::uint8_t { Streamable, Sse, Messages };

/// The transport and the server that a request addresses.
struct Target {
  Way way;
  std::string server;  // empty = not named
};

std::optional<Target> target_of(const std::string& path) {
  constexpr std::pair<std::string_view, Way> kPaths[] = {
      {"/mcp", Way::Streamable}, {"/sse", Way::Sse}, {"/messages", Way::Messages}};
  for (const auto& [prefix, way] : kPaths) {
    if (!path.starts_with(prefix)) continue;
    const std::string_view rest = std::string_view(path).substr(prefix.size());
    if (rest.empty() || rest == "/") return Target{way, ""};
    if (rest.front() == '/') return Target{way, http::percent_decoded(rest.substr(1))};
  }
  return std::nullopt;
}

void refuse(http::Exchange& exchange, const HttpRefusal& refusal, std::string_view id = "null") {
  exchange.reply(refusal_response(refusal, id));
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

struct HttpEndpoint::Impl : std::enable_shared_from_this<HttpEndpoint::Impl> {
  Impl(Loop& given, HttpSessionOpener& of, const HttpLimits& limited, Clock::duration time)
      : loop(given), opener(of), limits(limited), idle(time), finder(given), expiry(given) {}

  /// One session, and what keeps it alive.
  struct Entry {
    Account::Held place;  // outlives the session, which also counts what it holds
    std::unique_ptr<HttpSession> session;
    std::string principal;
    std::string server;
    std::string root;                       // as named at the beginning
    std::string group;                      // modern
    std::vector<std::string> capabilities;  // modern: those that its instance was told about
    Clock::time_point last_used = Clock::now();
    std::list<std::string>::iterator turn;  // in `by_use` of its principal
    std::unique_ptr<ProcessLease> lease;    // legacy: while it may be bound to a process
    UniqueFd owner;                         // modern: the process that it belongs to
    std::unique_ptr<Watch> life;
    std::unique_ptr<Timer> grace;
  };
  using Entries = std::unordered_map<std::string, Entry>;

  // Requests.
  void streamable(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                  HttpArrival arrival);
  void sse(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
           HttpArrival arrival);
  void messages(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                const HttpArrival& arrival);
  void post(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
            const HttpArrival& arrival);
  void initialize(const std::shared_ptr<http::Exchange>& exchange, const HttpArrival& arrival,
                  const Posted& posted);
  void modern(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
              const HttpArrival& arrival, const Posted& posted);
  bool crowded(const HttpArrival& arrival) const;
  void modern_from(const std::optional<Owner>& owner, const http::Request& request,
                   const std::shared_ptr<http::Exchange>& exchange, const HttpArrival& arrival,
                   const Posted& posted);

  // Sessions.
  bool may_go_on(const std::string& key, const Entry& entry, HttpArrival arrival);
  Entry* find(const std::string& key, const HttpArrival& arrival);
  Entry* find_in(const std::string& group, const HttpArrival& arrival,
                 const std::vector<std::string>& capabilities);
  Entry* begin(const std::string& key, const HttpArrival& arrival, std::unique_ptr<HttpSession> session,
               http::Exchange& exchange, std::string_view id);
  std::optional<Account::Held> place_for(const std::string& principal);
  bool end_unused_of(const std::string& principal);
  void hear(Entry& entry, const http::Peer& peer);
  void end_with(Entry& entry, const Owner& owner);
  void forget(const std::string& key);
  HttpSession::Gone forgets(const std::string& key);
  void watch_idle();
  void end_idle();

  Loop& loop;
  HttpSessionOpener& opener;
  const HttpLimits limits;
  const Clock::duration idle;
  OwnerFinder finder;
  Entries entries;  // by Mcp-Session-Id
  std::unordered_map<std::string, std::list<std::string>>
      by_use;  // keys by principal, least recently used first
  std::unordered_map<std::string, std::vector<std::string>> groups;  // by what modern requests have in common
  Timer expiry;
};

// ---- sessions

HttpSession::Gone HttpEndpoint::Impl::forgets(const std::string& key) {
  return [self = weak_from_this(), key](HttpSession&) {
    if (const auto endpoint = self.lock()) endpoint->forget(key);
  };
}

void HttpEndpoint::Impl::forget(const std::string& key) {
  const auto found = entries.find(key);
  if (found == entries.end()) return;
  opener.session_over(found->second.session->session());
  const auto group = groups.find(found->second.group);
  if (group != groups.end() && std::erase(group->second, key) > 0 && group->second.empty())
    groups.erase(group);
  const auto turns = by_use.find(found->second.principal);
  turns->second.erase(found->second.turn);
  if (turns->second.empty()) by_use.erase(turns);
  entries.erase(found);
}

/// A root may have been revoked since the session began. The session ends later, because the caller may be
/// iterating over the sessions.
bool HttpEndpoint::Impl::may_go_on(const std::string& key, const Entry& entry, HttpArrival arrival) {
  arrival.root = entry.root;
  const std::optional<HttpRefusal> refusal = opener.objection(arrival);
  if (!refusal) return true;
  loop.post([self = weak_from_this(), key, why = refusal->message] {
    const auto endpoint = self.lock();
    const auto found = endpoint ? endpoint->entries.find(key) : Entries::iterator();
    if (!endpoint || found == endpoint->entries.end()) return;
    session::Session& session = found->second.session->session();
    if (!session.ended()) session.withdraw(why);  // tells the client why
    const auto left = endpoint->entries.find(key);
    if (left == endpoint->entries.end() || left->second.session->session().ended()) return;
    left->second.session->session().end(session::EndReason::Removed);
  });
  return false;
}

/// The session of another principal or server is reported as unknown.
HttpEndpoint::Impl::Entry* HttpEndpoint::Impl::find(const std::string& key, const HttpArrival& arrival) {
  const auto found = entries.find(key);
  if (found == entries.end()) return nullptr;
  Entry& entry = found->second;
  if (entry.principal != arrival.principal || entry.server != arrival.server) return nullptr;
  if (entry.session->session().ended() || !may_go_on(key, entry, arrival)) return nullptr;
  entry.last_used = loop.now();
  std::list<std::string>& turns = by_use[entry.principal];
  turns.splice(turns.end(), turns, entry.turn);
  return &entry;
}

/// A legacy server that was told about no capability asks nothing, so a client that has the capability needs
/// another instance.
HttpEndpoint::Impl::Entry* HttpEndpoint::Impl::find_in(const std::string& group, const HttpArrival& arrival,
                                                       const std::vector<std::string>& capabilities) {
  const auto found = groups.find(group);
  if (found == groups.end()) return nullptr;
  Entry* last = nullptr;
  for (const std::string& key : found->second) {
    Entry* const entry = find(key, arrival);
    if (entry == nullptr) continue;
    const bool any = entry->session->session().attachment().takes_any_client();
    if (any || covers(entry->capabilities, capabilities)) return entry;
    last = entry;
  }
  return found->second.size() < kMostProfiles ? nullptr : last;
}

HttpEndpoint::Impl::Entry* HttpEndpoint::Impl::begin(const std::string& key, const HttpArrival& arrival,
                                                     std::unique_ptr<HttpSession> session,
                                                     http::Exchange& exchange, std::string_view id) {
  std::optional<Account::Held> place = place_for(arrival.principal);
  if (!place) {
    refuse(exchange,
           {503, wire::kTooManyCalls, opener.account(arrival.principal).objection(Good::Sessions), "", ""},
           id);
    return nullptr;
  }
  auto opened = opener.open(arrival, *session);
  if (const auto* const refusal = std::get_if<HttpRefusal>(&opened)) {
    refuse(exchange, *refusal, id);
    return nullptr;
  }
  Entry& entry = entries[key];
  entry.place = std::move(*place);
  entry.session = std::move(session);
  entry.principal = arrival.principal;
  std::list<std::string>& turns = by_use[arrival.principal];
  entry.turn = turns.insert(turns.end(), key);
  entry.server = arrival.server;
  entry.root = arrival.root;
  entry.session->begin(std::move(std::get<0>(opened)));
  watch_idle();
  return &entry;
}

/// Most clients never end their sessions. A principal at its limit gets a new session in place of its least
/// recently used one.
std::optional<Account::Held> HttpEndpoint::Impl::place_for(const std::string& principal) {
  Account& account = opener.account(principal);
  std::optional<Account::Held> place = account.take(Good::Sessions);
  if (!place && end_unused_of(principal)) place = account.take(Good::Sessions);
  return place;
}

/// Ends only a session without a private server whose client waits for nothing, not even between two
/// connections: then nothing is lost, and its client starts again after a 404.
bool HttpEndpoint::Impl::end_unused_of(const std::string& principal) {
  constexpr std::size_t kLooks = 64;
  const auto turns = by_use.find(principal);
  if (turns == by_use.end()) return false;
  std::list<std::string>& keys = turns->second;
  const std::size_t most = std::min(kLooks, keys.size());
  for (std::size_t looked_at = 0; looked_at < most; ++looked_at) {
    HttpSession& session = *entries.find(keys.front())->second.session;
    const bool its_own = session.session().attachment().has_private_instance();
    const bool awaited = session.in_use() > 0 || session.session().awaited() || session.owes();
    if (awaited || its_own) {
      keys.splice(keys.end(), keys, keys.begin());  // the next search starts after it
      continue;
    }
    const std::string gone = keys.front();
    session.session().end(session::EndReason::Expired);
    forget(gone);
    return true;
  }
  return false;
}

/// Only a session with a private instance needs to know its client.
void HttpEndpoint::Impl::hear(Entry& entry, const http::Peer& peer) {
  if (!entry.lease) return;
  if (entry.session->session().attachment().shares().value_or(false)) return entry.lease.reset();
  entry.lease->message_from(peer);
  opener.bound(entry.session->session(), entry.lease->bound_to());
}

void HttpEndpoint::Impl::watch_idle() {
  if (expiry.running() || entries.empty()) return;
  expiry.start(std::clamp<Clock::duration>(idle / 8, std::chrono::milliseconds(20), std::chrono::seconds(30)),
               [this] { end_idle(); });
}

void HttpEndpoint::Impl::end_idle() {
  const Clock::time_point now = Clock::now();
  for (auto& [key, entry] : entries) {
    if (entry.session->in_use() > 0) entry.last_used = now;
    if (now - entry.last_used > idle) entry.session->session().end(session::EndReason::Expired);
  }
  watch_idle();
}

// ---- Streamable HTTP

void HttpEndpoint::Impl::streamable(const http::Request& request,
                                    const std::shared_ptr<http::Exchange>& exchange, HttpArrival arrival) {
  arrival.transport = "http";
  if (request.method == "POST") return post(request, exchange, arrival);
  const bool get = request.method == "GET";
  if (!get && request.method != "DELETE") {
    return refuse(*exchange, wrong_method(request.method, "POST, GET, DELETE"));
  }
  if (const auto refusal = get ? check_get(request) : check_delete(request)) {
    return refuse(*exchange, *refusal);
  }
  Entry* const entry = find(std::string(request.header("Mcp-Session-Id")), arrival);
  auto* const session = entry == nullptr ? nullptr : dynamic_cast<StreamableSession*>(entry->session.get());
  if (session == nullptr) return refuse(*exchange, kUnknownSession);
  if (get) return session->listen(exchange, request.header("Last-Event-ID"));
  session->session().end(session::EndReason::Deleted);
  exchange->reply({204, {}, "", nullptr});
}

void HttpEndpoint::Impl::post(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                              const HttpArrival& arrival) {
  auto classified = classify_post(request);
  if (const auto* const refused = std::get_if<RefusedPost>(&classified)) {
    return refuse(*exchange, refused->refusal, refused->id);
  }
  const Classified& call = std::get<Classified>(classified);
  if (call.kind == Classified::Kind::Modern) return modern(request, exchange, arrival, call.posted);
  if (call.kind == Classified::Kind::Initialize) return initialize(exchange, arrival, call.posted);
  const std::string_view id = call.posted.answer_id();
  if (call.session.empty()) {
    return refuse(*exchange,
                  {400, kNoSession,
                   "Bad Request: the header Mcp-Session-Id is missing; start with initialize, or name the "
                   "protocol version " +
                       std::string(wire::kModern) + " in _meta",
                   "", ""},
                  id);
  }
  Entry* const entry = find(std::string(call.session), arrival);
  if (entry == nullptr) return refuse(*exchange, kUnknownSession, id);
  hear(*entry, exchange->peer());
  entry->session->post(exchange, call.posted);
}

void HttpEndpoint::Impl::initialize(const std::shared_ptr<http::Exchange>& exchange,
                                    const HttpArrival& arrival, const Posted& posted) {
  const std::string key = random_hex(kSessionIdBytes);
  Entry* const entry =
      begin(key, arrival, std::make_unique<StreamableSession>(loop, key, limits, forgets(key)), *exchange,
            posted.message.id());
  if (entry == nullptr) return;
  if (opener.would_be_private(arrival)) {
    entry->lease = std::make_unique<ProcessLease>(loop, finder, [self = weak_from_this(), key] {
      const auto endpoint = self.lock();
      const auto found = endpoint ? endpoint->entries.find(key) : Entries::iterator();
      if (!endpoint || found == endpoint->entries.end()) return;
      found->second.session->session().end(session::EndReason::ClientGone);
    });
  }
  hear(*entry, exchange->peer());
  entry->session->post(exchange, posted);
}

// ---- modern requests

void HttpEndpoint::Impl::modern(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                                const HttpArrival& arrival, const Posted& posted) {
  const bool apart = opener.would_be_private(arrival);
  if (!apart && !crowded(arrival)) return modern_from(std::nullopt, request, exchange, arrival, posted);
  // A client that hangs up during the lookup needs no answer.
  const auto gone = std::make_shared<bool>(false);
  exchange->when_gone([gone] { *gone = true; });
  finder.find(exchange->peer(), [self = weak_from_this(), request, exchange, arrival, posted, gone,
                                 apart](const std::optional<Owner>& owner) {
    const auto endpoint = self.lock();
    if (!endpoint || *gone) return;
    Posted of_program = posted;
    of_program.program = program_of(owner, exchange->peer());
    endpoint->modern_from(apart ? owner : std::nullopt, request, exchange, arrival, of_program);
  });
}

/// If many requests are open at a shared server, it matters which program sent them: one that leaks requests
/// must not use up the others' share. The lookup costs time, so the ordinary case does without.
bool HttpEndpoint::Impl::crowded(const HttpArrival& arrival) const {
  const auto group = groups.find(group_of(arrival, std::nullopt));
  if (group == groups.end()) return false;
  return std::any_of(group->second.begin(), group->second.end(), [this](const std::string& key) {
    const auto entry = entries.find(key);
    return entry != entries.end() && entry->second.session->in_use() >= kCrowd;
  });
}

void HttpEndpoint::Impl::modern_from(const std::optional<Owner>& owner, const http::Request& request,
                                     const std::shared_ptr<http::Exchange>& exchange,
                                     const HttpArrival& arrival, const Posted& posted) {
  const std::string_view id = posted.answer_id();
  const std::string group = group_of(arrival, owner);
  std::vector<std::string> capabilities = capability_names(posted);
  Entry* entry = find_in(group, arrival, capabilities);
  if (entry == nullptr) {
    const std::string key = random_hex(kSessionIdBytes);
    const auto programs = owner ? ModernSession::Programs::One : ModernSession::Programs::Several;
    entry = begin(key, arrival, std::make_unique<ModernSession>(loop, limits, forgets(key), programs),
                  *exchange, id);
    if (entry == nullptr) return;
    entry->group = group;
    groups[group].push_back(key);
    if (owner) end_with(*entry, *owner);
  }
  const session::Session& session = entry->session->session();
  if (session.attachment().takes_any_client()) entry->capabilities = std::move(capabilities);
  if (posted.message.method() == "tools/call") {
    const auto refusal = check_param_headers(request, posted, session.known_tools());
    if (refusal) return refuse(*exchange, *refusal, id);
  }
  entry->session->post(exchange, posted);
}

void HttpEndpoint::Impl::end_with(Entry& entry, const Owner& owner) {
  entry.owner = UniqueFd(fcntl(owner.life->get(), F_DUPFD_CLOEXEC, 0));  // others watch their own copies
  if (!entry.owner.valid()) return;  // no descriptor left: the session ends when it is idle
  opener.bound(entry.session->session(), owner.pid);
  entry.grace = std::make_unique<Timer>(loop);
  entry.life = std::make_unique<Watch>(loop, entry.owner.get());
  entry.life->when_readable([&entry] {
    entry.grace->start(kDeathGrace,
                       [&entry] { entry.session->session().end(session::EndReason::ClientGone); });
  });
}

// ---- HTTP+SSE

void HttpEndpoint::Impl::sse(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                             HttpArrival arrival) {
  arrival.transport = "sse";
  if (request.method != "GET") return refuse(*exchange, wrong_method(request.method, "GET"));
  const std::string key = random_hex(kSessionIdBytes);
  const std::string endpoint =
      "/messages" + request.path.substr(std::string_view("/sse").size()) + "?sessionId=" + key;
  Entry* const entry =
      begin(key, arrival, std::make_unique<SseSession>(loop, exchange, endpoint, limits, forgets(key)),
            *exchange, "null");
  if (entry != nullptr) entry->last_used = Clock::now();
}

void HttpEndpoint::Impl::messages(const http::Request& request,
                                  const std::shared_ptr<http::Exchange>& exchange,
                                  const HttpArrival& arrival) {
  if (request.method != "POST") return refuse(*exchange, wrong_method(request.method, "POST"));
  auto posted = read_message(request);
  if (const auto* const refused = std::get_if<RefusedPost>(&posted)) {
    return refuse(*exchange, refused->refusal, refused->id);
  }
  Entry* const entry = find(http::query_value(request.query, "sessionId"), arrival);
  auto* const session = entry == nullptr ? nullptr : dynamic_cast<SseSession*>(entry->session.get());
  if (session == nullptr) return refuse(*exchange, kUnknownSession);
  session->post(exchange, std::get<Posted>(posted));
}

// ---- entry point

HttpEndpoint::HttpEndpoint(Loop& loop, HttpSessionOpener& opener, HttpLimits limits, Clock::duration idle)
    : impl_(std::make_shared<Impl>(loop, opener, limits, idle)) {}

HttpEndpoint::~HttpEndpoint() = default;

bool HttpEndpoint::handle(const http::Request& request, const std::shared_ptr<http::Exchange>& exchange,
                          const http::Principal& principal) {
  std::optional<Target> target = target_of(request.path);
  if (!target) return false;
  if (target->server.empty()) target->server = impl_->opener.only_server();
  if (target->server.empty()) {
    refuse(*exchange, {404, wire::kInvalidRequest,
                       "this URL does not name a server: add its name, as in /mcp/NAME; `corral config "
                       "check` lists the names",
                       "", ""});
    return true;
  }
  if (!principal.may_use(target->server)) {
    refuse(*exchange,
           {403, wire::kInvalidRequest,
            "this token does not give access to server " + target->server +
                "; `corral token create NAME --server " + target->server + "` creates one that does",
            "", ""});
    return true;
  }
  HttpArrival arrival{target->server, http::query_value(request.query, "root"), principal.name, "",
                      principal.roots};
  switch (target->way) {
    case Way::Streamable: impl_->streamable(request, exchange, std::move(arrival)); break;
    case Way::Sse: impl_->sse(request, exchange, std::move(arrival)); break;
    case Way::Messages: impl_->messages(request, exchange, arrival); break;
  }
  return true;
}

}  // namespace corral::transport
