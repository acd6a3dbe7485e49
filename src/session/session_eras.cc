// A client and its server may speak different eras; the session has a bridge then. And a session may be told
// of its server before there is one.
#include "bridge/legacy_client.h"
#include "bridge/modern_client.h"
#include "bridge/older_client.h"
#include "router/tool_list.h"
#include "session/session.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::session {

using knowledge::Era;
using router::ListKind;

namespace {

/// What a client is told that cannot wait any longer: everything may come yet.
std::string early_greeting(std::string_view version, std::string_view server) {
  return R"({"protocolVersion":)" + wire::quoted(version) +
         R"(,"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},)"
         R"("resources":{"listChanged":true}},"serverInfo":{"name":)" +
         wire::quoted(server) + R"(,"version":"0"}})";
}

constexpr std::array<std::string_view, router::kListKinds> kEmptyLists = {
    R"({"tools":[]})", R"({"prompts":[]})", R"({"resources":[]})", R"({"resourceTemplates":[]})"};

}  // namespace

// ---- two eras

void Session::meet(const router::Opened& opened) {
  phase_ = Phase::Ready;
  early_ = false;
  router_ = opened.router;
  wanted_ = opened.wanted;
  shared_ = router_->options().shared;
  met_ = true;
  cross();
  if (!input_ended_) return;  // otherwise nobody answers the questions of this one, either
  if (bridge_) bridge_->client_ended();
  router_->client_silent(*this);
}

/// Puts a bridge between a client and a server that speak differently.
void Session::cross() {
  const instance::Handshake& handshake = router_->instance()->handshake();
  Crossing crossing = Crossing::None;
  if (era_ == Era::Modern && handshake.era() == Era::Legacy) crossing = Crossing::ModernToLegacy;
  if (era_ == Era::Legacy && handshake.era() == Era::Modern) crossing = Crossing::LegacyToModern;
  const bool may_be_newer = era_ == Era::Legacy && handshake.era() == Era::Legacy && *shared_;
  if (may_be_newer && bridge::needs_older_words(version_)) crossing = Crossing::ToOlder;
  if (bridge_ && crossing == crossing_) return bridge_->instance_changed(handshake.result());
  end_bridge();
  crossing_ = crossing;
  bridge_timer_.cancel();
  bridge_.reset();
  switch (crossing) {
    case Crossing::None: return;
    case Crossing::ModernToLegacy:
      bridge_ = bridge::modern_client(*this, {server_, handshake.result(), account()});
      if (standing_.initialized) return;  // it is told when what stood is restored
      return to_server(wire::Message(wire::notification_message("notifications/initialized")));
    case Crossing::LegacyToModern:
      bridge_ = bridge::legacy_client(
          *this, {server_, params_, handshake.result(), shared_.value_or(false), account()});
      return;
    case Crossing::ToOlder: bridge_ = bridge::older_client(*this, version_); return;
  }
}

bool Session::takes_any_client() const {
  if (phase_ == Phase::New || phase_ == Phase::Away) return true;
  if (phase_ != Phase::Ready || router_ == nullptr) return false;
  return shared_.value_or(false) || router_->instance()->handshake().era() == Era::Modern;
}

void Session::deliver(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  if (!bridge_) return to_client(line, edits);
  if (ended_) return;
  const auto text = std::make_shared<const std::string>(wire::edited(line.text, edits));
  bridge_->from_server(wire::Message(wire::Line{*text, line.owner ? text : nullptr}), Clock::now());
  watch_bridge();
}

void Session::answer(const wire::Message& message, std::string_view id) {
  if (bridge_) return deliver(message.line(), {{message.where().id, id}});
  if (ended_) return;
  last_heard_ = loop_.now();
  transport_.answer(message, id);
  check_reader();
}

void Session::pass_to_server(const wire::Message& message) {
  if (bridge_) {
    bridge_->from_client(message, Clock::now());
    return watch_bridge();
  }
  to_router(message);
}

/// The bridge stands for a client of the server's own era, and what that says is remembered as such.
void Session::to_server(const wire::Message& message) {
  if (crossing_ == Crossing::ModernToLegacy) remember(message);
  if (router_ == nullptr) {  // whoever would answer is gone
    if (message.kind() != wire::Kind::Request) return;
    const std::string& why = absence_.empty() ? "server " + server_ + " is gone" : absence_;
    return deliver({wire::error_message(message.id(), wire::kServerLost, why), nullptr}, {});
  }
  to_router(message);
}

void Session::to_router(const wire::Message& message) {
  switch (message.kind()) {
    case wire::Kind::Request: return router_->request(*this, message);
    case wire::Kind::Notification: return router_->notification(*this, message);
    case wire::Kind::Response: return router_->response(*this, message);
    case wire::Kind::Batch:
    case wire::Kind::NotRpc:
    case wire::Kind::NotJson: return;
  }
}

void Session::watch_bridge() {
  if (!bridge_) return;
  const auto deadline = bridge_->next_deadline();
  if (!deadline) return bridge_timer_.cancel();
  bridge_timer_.start(std::max(*deadline - Clock::now(), Clock::duration::zero()), [this] {
    if (!bridge_ || ended_) return;
    bridge_->expire(Clock::now());
    watch_bridge();
  });
}

/// The calls that it holds back, for an answer of the client or for a while, are answered; no server hears of
/// it.
void Session::end_bridge() {
  if (!bridge_) return;
  router::Router* const router = std::exchange(router_, nullptr);
  bridge_->client_ended();
  bridge_->expire(Clock::time_point::max());
  router_ = router;
}

std::string Session::discovered(std::string_view handshake, Era server_era) const {
  return server_era == Era::Modern ? std::string(handshake) : bridge::discover_result(handshake);
}

/// It has only looked which eras we speak, and takes the other one.
void Session::begin_anew() {
  pool_.release(*this, instance::Instance::Haste::Polite, {});
  router_ = nullptr;
  bridge_.reset();
  crossing_ = Crossing::None;
  shared_.reset();
  met_ = false;
  standing_ = {};
  lists_ = {};
  absence_.clear();
  phase_ = Phase::New;
}

// ---- without an instance

void Session::attach_lazily(const pool::Known& known) {
  phase_ = Phase::Away;
  shared_ = known.shared;
  pool_.answered_without_instance(*this, *wanted_);
  const auto opening = std::move(opening_);
  if (era_ == Era::Legacy) {
    return answer_initialize(opening->message.id(), known.portrait->handshake, known.era, known.shared);
  }
  take_opening(std::move(*opening));
}

bool Session::answer_from_manifest(const wire::Message& message) {
  const std::string_view method = message.method();
  const std::string_view id = message.id();
  const auto kind = router::list_kind_of(method);
  const bool discover = method == "server/discover";
  const std::string_view params = message.params();
  if (!discover && (!kind || wire::member(params, "cursor").present())) return false;
  const auto known = pool_.known({wanted_, params_, side()});
  if (!known) return false;
  const std::string& handshake = known->portrait->handshake;
  if (discover) {
    transport_.send({wire::result_message(id, discovered(handshake, known->era)), nullptr});
    return true;
  }
  const std::string& list = known->portrait->lists[static_cast<std::size_t>(*kind)];
  if (list.empty()) return false;
  only_greeted_ = false;
  give_list(id, *kind, method, list, known->era, handshake);
  return true;
}

std::string_view Session::known_tools() const { return pool_.known_tools({wanted_, params_, shared_}); }

void Session::give_list(std::string_view id, ListKind kind, std::string_view method, std::string_view result,
                        Era server_era, std::string_view handshake) {
  list_given(kind, router::list_digest(kind, result));
  std::string text(result);
  if (kind == ListKind::Tools && wanted_->allows_tool) {
    text = router::without_tools(text, wanted_->allows_tool);
  }
  if (era_ == Era::Modern && server_era == Era::Legacy) text = bridge::modern_result(method, text, handshake);
  if (era_ == Era::Legacy && server_era == Era::Modern) text = bridge::legacy_result(method, text, version_);
  // A private server was told of its client's revision, and chooses its words itself.
  const bool may_be_newer = era_ == server_era && shared_.value_or(false);
  if (era_ == Era::Legacy && may_be_newer) text = bridge::in_older_words(method, text, version_);
  transport_.send({wire::result_message(id, text), nullptr});
}

/// The server takes longer to start than a client waits: better an empty answer now, and news later.
void Session::answer_early() {
  if (phase_ != Phase::Opening) return;
  const bool discover = opening_->message.method() == "server/discover";
  if (opening_cancelled_ || (era_ == Era::Modern && !discover))
    return;  // it waits for an answer that only the server has
  const auto opening = std::move(opening_);
  const std::string greeting = early_greeting(discover ? wire::kNewestLegacy : version_, server_);
  transport_.note("server " + server_ + " is still starting; its client is told later what it offers");
  transport_.send(
      {wire::result_message(opening->message.id(), discover ? bridge::discover_result(greeting) : greeting),
       nullptr});
  phase_ = Phase::Returning;
  early_ = true;
  for (const Deferred::Entry& list : deferred_.take_lists()) {
    answer_early_list(list.message);
  }
  pace();
}

bool Session::answer_early_list(const wire::Message& message) {
  const std::string_view method = message.method();
  const auto kind = router::list_kind_of(method);
  if (!early_ || !kind) return false;
  give_list(message.id(), *kind, method, kEmptyLists[static_cast<std::size_t>(*kind)], Era::Legacy,
            early_greeting(wire::kNewestLegacy, server_));
  return true;
}

}  // namespace corral::session
