#include "transport/http_sessions.h"

#include <algorithm>
#include <utility>

#include "transport/posted.h"
#include "wire/error_codes.h"

namespace corral::transport {
namespace {

constexpr std::size_t kMostProfiles = 8;  // sessions of one group, each with its own instance

}  // namespace

HttpSessions::HttpSessions(Loop& loop, HttpSessionOpener& opener, OwnerFinder& finder, Clock::duration idle)
    : loop_(loop), opener_(opener), finder_(finder), idle_(idle), expiry_(loop) {}

// ---- beginning and end

std::variant<HttpSessions::Entry*, HttpRefusal> HttpSessions::open(const std::string& key,
                                                                   const HttpArrival& arrival,
                                                                   std::unique_ptr<HttpSession> session) {
  std::optional<Account::Held> place = place_for(arrival.principal);
  if (!place) {
    return HttpRefusal{503, wire::kTooManyCalls, opener_.account(arrival.principal).objection(Good::Sessions),
                       "", ""};
  }
  auto opened = opener_.open(arrival, *session);
  if (auto* const refusal = std::get_if<HttpRefusal>(&opened)) return std::move(*refusal);
  Entry& entry = entries_[key];
  entry.place = std::move(*place);
  entry.session = std::move(session);
  entry.principal = arrival.principal;
  std::list<std::string>& turns = by_use_[arrival.principal];
  entry.turn = turns.insert(turns.end(), key);
  entry.server = arrival.server;
  entry.root = arrival.root;
  entry.session->begin(std::move(std::get<0>(opened)));
  watch_idle();
  return &entry;
}

/// Most clients never end their sessions. A principal at its limit gets a new session in place of its least
/// recently used one.
std::optional<Account::Held> HttpSessions::place_for(const std::string& principal) {
  Account& account = opener_.account(principal);
  std::optional<Account::Held> place = account.take(Good::Sessions);
  if (!place && end_unused_of(principal)) place = account.take(Good::Sessions);
  return place;
}

/// Ends only a session without a private server whose client waits for nothing, not even between two
/// connections: then nothing is lost, and its client starts again after a 404.
bool HttpSessions::end_unused_of(const std::string& principal) {
  constexpr std::size_t kLooks = 64;
  const auto turns = by_use_.find(principal);
  if (turns == by_use_.end()) return false;
  std::list<std::string>& keys = turns->second;
  const std::size_t most = std::min(kLooks, keys.size());
  for (std::size_t looked_at = 0; looked_at < most; ++looked_at) {
    HttpSession& session = *entries_.find(keys.front())->second.session;
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

HttpSession::Gone HttpSessions::forgets(const std::string& key) {
  return lifetime_.guard([this, key](HttpSession&) { forget(key); });
}

void HttpSessions::forget(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  opener_.session_over(found->second.session->session());
  const auto group = groups_.find(found->second.group);
  if (group != groups_.end() && std::erase(group->second, key) > 0 && group->second.empty()) {
    groups_.erase(group);
  }
  const auto turns = by_use_.find(found->second.principal);
  turns->second.erase(found->second.turn);
  if (turns->second.empty()) by_use_.erase(turns);
  entries_.erase(found);
}

void HttpSessions::watch_idle() {
  if (expiry_.running() || entries_.empty()) return;
  expiry_.start(
      std::clamp<Clock::duration>(idle_ / 8, std::chrono::milliseconds(20), std::chrono::seconds(30)),
      [this] { end_idle(); });
}

void HttpSessions::end_idle() {
  const Clock::time_point now = Clock::now();
  for (auto& [key, entry] : entries_) {
    if (entry.session->in_use() > 0) entry.last_used = now;
    if (now - entry.last_used > idle_) entry.session->session().end(session::EndReason::Expired);
  }
  watch_idle();
}

// ---- finding

HttpSessions::Entry* HttpSessions::find(const std::string& key, const HttpArrival& arrival) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  Entry& entry = found->second;
  if (entry.principal != arrival.principal || entry.server != arrival.server) return nullptr;
  if (entry.session->session().ended() || !may_go_on(key, entry, arrival)) return nullptr;
  entry.last_used = loop_.now();
  std::list<std::string>& turns = by_use_[entry.principal];
  turns.splice(turns.end(), turns, entry.turn);
  return &entry;
}

/// A root may have been revoked since the session began. The session ends later, because the caller may be
/// iterating over the sessions.
bool HttpSessions::may_go_on(const std::string& key, const Entry& entry, HttpArrival arrival) {
  arrival.root = entry.root;
  const std::optional<HttpRefusal> refusal = opener_.objection(arrival);
  if (!refusal) return true;
  loop_.post(lifetime_.guard([this, key, why = refusal->message] { withdraw(key, why); }));
  return false;
}

void HttpSessions::withdraw(const std::string& key, const std::string& why) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  session::Session& session = found->second.session->session();
  if (!session.ended()) session.withdraw(why);  // tells the client why
  if (!session.ended()) session.end(session::EndReason::Removed);
}

void HttpSessions::add_to_group(Entry& entry, const std::string& key, const std::string& group) {
  entry.group = group;
  groups_[group].push_back(key);
}

/// A legacy server that was told about no capability asks nothing, so a client that has the capability needs
/// another instance.
HttpSessions::Entry* HttpSessions::find_in(const std::string& group, const HttpArrival& arrival,
                                           const std::vector<std::string>& capabilities) {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return nullptr;
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

bool HttpSessions::crowded(const std::string& group, std::size_t open_requests) const {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const std::string& key) {
    const auto entry = entries_.find(key);
    return entry != entries_.end() && entry->second.session->in_use() >= open_requests;
  });
}

// ---- the process of a session

void HttpSessions::may_bind(Entry& entry) {
  // The lease does not outlive the entry, and ending a session does not destroy it at once.
  entry.lease = std::make_unique<ProcessLease>(
      loop_, finder_, [&entry] { entry.session->session().end(session::EndReason::ClientGone); });
}

/// Only a session with a private instance needs to know its client.
void HttpSessions::message_from(Entry& entry, const http::Peer& peer) {
  if (!entry.lease) return;
  if (entry.session->session().attachment().shares().value_or(false)) return entry.lease.reset();
  entry.lease->message_from(peer);
  opener_.bound(entry.session->session(), entry.lease->bound_to());
}

void HttpSessions::bind(Entry& entry, const Owner& owner) {
  may_bind(entry);
  entry.lease->bind_to(owner);
  opener_.bound(entry.session->session(), entry.lease->bound_to());
}

}  // namespace corral::transport
