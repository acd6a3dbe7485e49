// A session outlives its instances: how it loses one, what it remembers meanwhile, and how it gets the next.
#include "base/log.h"
#include "router/log_levels.h"
#include "session/session.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::session {

using knowledge::Era;
using router::Departure;
using router::ListKind;
using router::Opened;

const char* Session::state() const {
  switch (phase_) {
    case Phase::New: return "new";
    case Phase::Opening: return "opening";
    case Phase::Ready: return "ready";
    case Phase::Away: return absence_.empty() ? "lazy" : "parked";
    case Phase::Returning: return "returning";
  }
  return "?";
}

bool Session::will_want_instance() const {
  if (ended_) return false;
  return phase_ == Phase::New || (phase_ == Phase::Away && absence_.empty() && !shared_.value_or(false));
}

bool Session::awaited() const {
  if (phase_ == Phase::Opening || phase_ == Phase::Returning || !deferred_.empty()) return true;
  return router_ != nullptr && router_->calls_of(*this) > 0;
}

// ---- losing an instance

void Session::instance_left(Departure departure, const std::string& why) {
  router_ = nullptr;
  if (ended_) return;
  phase_ = Phase::Away;
  absence_ = why;
  if (!withdrawn_.empty()) {
    // Not from in here: whoever tells us is in the middle of something.
    loop_.post([this, alive = std::weak_ptr<bool>(alive_)] {
      if (alive.expired() || ended_) return;
      if (withdrawn_.empty()) return come_back();  // the server is back already
      end(EndReason::Removed);
    });
    return;
  }
  const bool at_once = departure == Departure::Died || departure == Departure::Replaced;
  if (at_once || !deferred_.empty()) come_back();
  end_when_answered();
  pace();  // the server that did not take more is gone
}

void Session::redefine(std::shared_ptr<const pool::ServerSpec> wanted) {
  wanted_ = std::move(wanted);
  shared_.reset();
  withdrawn_.clear();
}

void Session::withdraw(std::string why) {
  withdrawn_ = std::move(why);
  if (phase_ != Phase::Ready) end(EndReason::Removed);
}

// ---- getting the next

void Session::come_back() {
  if (!withdrawn_.empty()) return;  // its end is near, and answers everything
  phase_ = Phase::Returning;
  pool_.open(*this, {wanted_, params_, side()});
}

/// Whoever was only told what a shared instance had said may still get one of its own, if sharing has proved
/// unsafe since; not the other way round, because a private one may have promised more.
std::optional<bool> Session::side() const { return met_ || !shared_.value_or(true) ? shared_ : std::nullopt; }

void Session::came_back(const Opened& opened) {
  switch (opened.kind) {
    case Opened::Kind::Ready: break;
    case Opened::Kind::Again:
      shared_.reset();  // what was believed of the server was wrong
      return come_back();
    case Opened::Kind::Refused:
      return stayed_away("server " + server_ + " refused the handshake: " + opened.text);
    case Opened::Kind::Failed: return stayed_away(opened.text);
  }
  const router::Standing before = standing_;  // a bridge tells the new one something of its own
  meet(opened);
  if (told_congested_) router_->session_congested(*this, true);
  tell_of_return();
  router_->restore(*this, before);
  take_deferred();
  end_when_answered();
}

/// The calls that waited hear why; the next one tries again.
void Session::stayed_away(const std::string& why) {
  phase_ = Phase::Away;
  early_ = false;
  refusal_ = why;
  transport_.note(why);
  take_deferred();
  refusal_.clear();
  end_when_answered();
}

/// Before the first answer, so that whoever relied on the server's memory knows.
void Session::tell_of_return() {
  if (absence_.empty()) return;  // it is its first
  const std::string news =
      std::exchange(absence_, {}) + "; it was started anew, and what it kept in memory is gone";
  transport_.note(news);
  const bool modern = era_ == Era::Modern;
  if (modern && !deferred_.wants_log()) return;
  const auto level = router::parse_log_level(standing_.level);
  if (!modern && (!standing_.initialized || (level && *level > router::LogLevel::Warning))) return;
  const std::string message = wire::notification_message(
      "notifications/message", R"({"level":"warning","logger":"corral","data":)" + wire::quoted(news) + "}");
  transport_.send({message, nullptr});
}

// ---- what the next one must be told

void Session::remember(const wire::Message& message) {
  const std::string_view method = message.method();
  if (message.has_protocol_version()) return;  // modern requests stand for themselves
  if (method == "notifications/initialized") standing_.initialized = true;
  const std::string_view params = message.params();
  const auto text = [params](std::string_view key) {
    return wire::string_value(wire::member(params, key).in(params)).value_or("");
  };
  if (method == "logging/setLevel" && router::parse_log_level(text("level"))) standing_.level = text("level");
  if (method == "resources/unsubscribe") {
    standing_.uris.erase(text("uri"));
    weigh_subscriptions();
  }
}

/// The router keeps each of them too. False if they are more than the principal may have.
bool Session::weigh_subscriptions() {
  std::size_t bytes = 0;
  for (const std::string& uri : standing_.uris) bytes += router::Subscriptions::kept_for(uri);
  return subscriptions_.resize(bytes);
}

void Session::subscription(const std::string& uri, bool agreed) {
  constexpr std::size_t kMost = 1024;
  constexpr std::size_t kLongest = 8192;
  if (!agreed) standing_.uris.erase(uri);
  const bool more = agreed && standing_.uris.size() < kMost && uri.size() <= kLongest;
  const bool added = more && standing_.uris.insert(uri).second;
  // Its request held as much until now, so there is room; what is not counted is not kept in any case.
  if (!weigh_subscriptions() && added) standing_.uris.erase(uri);
}

void Session::list_given(ListKind kind, std::size_t digest) {
  lists_[static_cast<std::size_t>(kind)] = digest;
}

void Session::list_now(ListKind kind, std::size_t digest) {
  using router::ChangedList;
  constexpr std::array<ChangedList, router::kListKinds> kNews = {
      ChangedList::Tools, ChangedList::Prompts, ChangedList::Resources, ChangedList::Resources};
  auto& seen = lists_[static_cast<std::size_t>(kind)];
  if (ended_ || !seen || *seen == digest) return;
  seen = digest;
  list_changed(kNews[static_cast<std::size_t>(kind)]);
}

void Session::list_changed(router::ChangedList list) {
  if (ended_) return;
  if (era_ == Era::Modern && !bridge_) {
    if (router_ != nullptr) router_->tell_listens(*this, list);
    return;
  }
  const std::string message = wire::notification_message(router::method_of(list));
  if (era_ == Era::Legacy) return to_client({message, nullptr}, {});
  deliver({message, nullptr}, {});
}

std::vector<ListKind> Session::lists_given() const {
  std::vector<ListKind> kinds;
  for (std::size_t kind = 0; kind < lists_.size(); ++kind) {
    if (lists_[kind]) kinds.push_back(static_cast<ListKind>(kind));
  }
  return kinds;
}

}  // namespace corral::session
