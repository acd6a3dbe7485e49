#include "router/pending_calls.h"

#include <algorithm>

namespace corral::router {
namespace {

constexpr std::size_t kMostKept = 1024;  // sessions without a call

/// The session for which the server is working; none = it only waits, or works for corral itself.
SessionId caused_by(const Call& call) {
  if (call.purpose == Purpose::Listen && call.acknowledged) return {};
  return call.session ? call.session : call.on_behalf_of;
}

}  // namespace

bool PendingCalls::add(CallId up_id, Call call) {
  if (call.session && !by_session_[call.session].emplace(call.id, up_id).second) return false;
  calls_.emplace(up_id, std::move(call));
  return true;
}

Call* PendingCalls::find(CallId up_id) {
  const auto found = calls_.find(up_id);
  return found == calls_.end() ? nullptr : &found->second;
}

std::optional<CallId> PendingCalls::find(SessionId session, std::string_view id) const {
  const auto client = by_session_.find(session);
  if (client == by_session_.end()) return std::nullopt;
  const auto found = client->second.find(std::string(id));
  if (found == client->second.end()) return std::nullopt;
  return found->second;
}

std::optional<Call> PendingCalls::take(CallId up_id) {
  const auto found = calls_.find(up_id);
  if (found == calls_.end()) return std::nullopt;
  auto node = calls_.extract(found);
  forget(node.mapped());
  return std::move(node.mapped());
}

std::optional<Call> PendingCalls::answered(CallId up_id, Clock::time_point now) {
  std::optional<Call> call = take(up_id);
  // A request that corral sent for a session (a subscription, a log level) counts as the session's own.
  if (call) lingering_.call_answered(call->session ? call->session : call->on_behalf_of, now);
  return call;
}

std::optional<Call> PendingCalls::cancel(CallId up_id, Clock::time_point now) {
  std::optional<Call> call = take(up_id);
  if (!call) return call;
  lingering_.given_up(up_id, caused_by(*call), call->wants_log ? Logs::Wanted : Logs::Unwanted, now);
  return call;
}

std::vector<CallId> PendingCalls::of(SessionId session) const {
  std::vector<CallId> ids;
  const auto client = by_session_.find(session);
  if (client == by_session_.end()) return ids;
  ids.reserve(client->second.size());
  for (const auto& [text, up_id] : client->second) ids.push_back(up_id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<CallId> PendingCalls::all() const {
  std::vector<CallId> ids;
  ids.reserve(calls_.size());
  for (const auto& [up_id, call] : calls_) ids.push_back(up_id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<CallId> PendingCalls::expired(Clock::time_point now) const {
  std::vector<CallId> ids;
  for (const auto& [up_id, call] : calls_) {
    if (call.deadline <= now) ids.push_back(up_id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Clock::time_point PendingCalls::next_deadline() const {
  Clock::time_point next = Clock::time_point::max();
  for (const auto& [up_id, call] : calls_) next = std::min(next, call.deadline);
  return next;
}

std::size_t PendingCalls::count(SessionId session) const {
  const auto client = by_session_.find(session);
  return client == by_session_.end() ? 0 : client->second.size();
}

std::size_t PendingCalls::awaited() const {
  return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(), [](const auto& call) {
    const Purpose purpose = call.second.purpose;
    return purpose != Purpose::Listen && purpose != Purpose::ListenForAll &&
           purpose != Purpose::CompareList && purpose != Purpose::Probe;
  }));
}

std::size_t PendingCalls::awaited(SessionId session) const {
  const auto client = by_session_.find(session);
  if (client == by_session_.end()) return 0;
  return static_cast<std::size_t>(
      std::count_if(client->second.begin(), client->second.end(),
                    [this](const auto& id) { return calls_.at(id.second).purpose != Purpose::Listen; }));
}

std::size_t PendingCalls::listens() const {
  return static_cast<std::size_t>(std::count_if(
      calls_.begin(), calls_.end(), [](const auto& call) { return call.second.purpose == Purpose::Listen; }));
}

wire::PossibleCauses<SessionId> PendingCalls::causes(Causes which, Clock::time_point now) const {
  wire::PossibleCauses<SessionId> causes;
  for (const auto& [up_id, call] : calls_) {
    if (causes.several()) return causes;
    const SessionId session = caused_by(call);
    if (session && (which == Causes::AnyCall || call.wants_log)) causes.add(session);
  }
  lingering_.add_to(causes, which, now);
  return causes;
}

void PendingCalls::session_left(SessionId session, Clock::time_point now) {
  const auto client = by_session_.find(session);
  if (client != by_session_.end() && client->second.empty()) by_session_.erase(client);
  lingering_.left(session, now);
}

void PendingCalls::forget(const Call& call) {
  const auto client = by_session_.find(call.session);
  if (client == by_session_.end()) return;
  client->second.erase(call.id);
  // Most clients make one call after another, so the entry of the session is kept for the next one.
  if (client->second.empty() && by_session_.size() > kMostKept) by_session_.erase(client);
}

}  // namespace corral::router
