// A session's life: its opening, its pace, its end. What its client says is in session_requests.cc.
#include "session/session.h"

#include <algorithm>

#include "bridge/legacy_client.h"
#include "bridge/list_changes.h"
#include "bridge/modern_client.h"
#include "wire/error_codes.h"
#include "wire/json_array.h"
#include "wire/json_text.h"

namespace corral::session {
namespace {

using router::Opened;
using server::Era;
using server::Instance;

// What may come in while a server is being opened; then the client has to wait.
constexpr std::size_t kMostDeferred = 64;
constexpr std::size_t kMostDeferredBytes = std::size_t{1} << 20;
// Clients give up on an initialize after 30 s.
constexpr std::chrono::seconds kClientPatience{20};
// For the answers of a client that has closed its end already.
constexpr std::chrono::seconds kLastAnswers{60};

/// Our own commands would rather wait than be told of nothing.
bool says_that_it_waits(const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view meta = envelope.meta.in(line.text);
  return wire::member(meta, "dev.corral/waits").in(meta) == "true";
}

Instance::Haste haste_of(EndReason reason) {
  switch (reason) {
    case EndReason::InputClosed:
    case EndReason::ServerEnded:
    case EndReason::SessionEnded:
    case EndReason::Removed:
    case EndReason::Deleted:
    case EndReason::Expired:
    case EndReason::ShuttingDown: return Instance::Haste::Polite;
    case EndReason::OutputClosed:
    case EndReason::ClientGone:
    case EndReason::ShimGone:
    case EndReason::SlowReader: break;
  }
  return Instance::Haste::ClientGone;
}

}  // namespace

const char* reason_name(EndReason reason) {
  switch (reason) {
    case EndReason::InputClosed: return "stdin-closed";
    case EndReason::OutputClosed: return "stdout-closed";
    case EndReason::ClientGone: return "client-gone";
    case EndReason::ShimGone: return "shim-gone";
    case EndReason::ServerEnded: return "server-ended";
    case EndReason::SlowReader: return "slow-reader";
    case EndReason::ShuttingDown: return "shutting-down";
    case EndReason::SessionEnded: return "session-ended";
    case EndReason::Removed: return "server-removed";
    case EndReason::Deleted: return "deleted";
    case EndReason::Expired: return "expired";
  }
  return "?";
}

Session::Session(Loop& loop, router::SessionId id, Transport& transport, router::Switchboard& switchboard,
                 std::shared_ptr<const router::Wanted> wanted, std::string owner)
    : loop_(loop),
      id_(id),
      transport_(transport),
      switchboard_(switchboard),
      wanted_(std::move(wanted)),
      server_(wanted_->server),
      bridge_timer_(loop),
      patience_(loop),
      owner_(std::move(owner)) {}

Session::~Session() = default;

// ---- opening

void Session::open(Era era, const wire::Line& line, const wire::Envelope& envelope) {
  phase_ = Phase::Opening;
  era_ = era;
  opening_ = line.text;
  std::string params(envelope.params.in(line.text));
  if (era == Era::Legacy) {
    const std::string_view version = wire::member(params, "protocolVersion").in(params);
    version_ = wire::string_value(version).value_or("");
    if (!wire::is_legacy_version(version_)) version_ = wire::kNewestLegacy;  // which it is told, too
    client_info_ = wire::member(params, "clientInfo").in(params);
    if (params.empty()) params = server::plain_initialize_params();
  } else {
    const std::string_view meta = envelope.meta.in(line.text);
    client_info_ = wire::member(meta, "io.modelcontextprotocol/clientInfo").in(meta);
    params = bridge::initialize_params(meta);
  }
  const bool patient = says_that_it_waits(line, envelope);
  if (patient) {  // which concerns nobody but us
    const wire::Span meta = wire::member_with_comma(params, "_meta");
    params.erase(meta.begin, meta.end - meta.begin);
  }
  params_ = std::move(params);
  if (const auto known = switchboard_.known({wanted_, params_, std::nullopt})) {
    if (!input_ended_) patience_.cancel();
    return attach_lazily(*known);
  }
  // Asked once more or not, its client has waited since it first asked.
  const bool waits = input_ended_ || patience_.running() || patient;
  if (!waits) patience_.start(kClientPatience, [this] { answer_early(); });
  switchboard_.open(*this, {wanted_, params_, std::nullopt});
}

void Session::opened(const Opened& opened) {
  if (ended_) return;
  if (phase_ == Phase::Returning) return came_back(opened);
  if (!input_ended_ && opened.kind != Opened::Kind::Again) patience_.cancel();
  switch (opened.kind) {
    case Opened::Kind::Ready: opened_ready(opened); break;
    case Opened::Kind::Again: {
      const std::string opening = std::exchange(opening_, {});
      const wire::Envelope envelope = wire::scan(opening);
      open(era_, {opening, nullptr}, envelope);
      break;  // it may be attached by now, without an instance
    }
    case Opened::Kind::Refused:
    case Opened::Kind::Failed: {
      const std::string opening = std::exchange(opening_, {});
      const wire::Envelope envelope = wire::scan(opening);
      const std::string_view id = envelope.id.in(opening);
      phase_ = Phase::New;
      if (opened.kind == Opened::Kind::Failed) return opening_failed(id, opened);
      const std::string message =
          R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":)" + opened.text + "}";
      transport_.send({message, nullptr});
    }
  }
  take_deferred();
  end_when_answered();
}

/// As if the client had started the server itself: a start that fails is the end, with the server's exit
/// code.
void Session::opening_failed(std::string_view id, const Opened& opened) {
  server_lost_ = true;
  reject(id, wire::kServerLost, opened.text);
  take_deferred();
  loop_.post([this, alive = std::weak_ptr<bool>(alive_), opened] {
    if (!alive.expired()) server_gone(opened.exit_code, opened.text);
  });
}

void Session::opened_ready(const Opened& opened) {
  meet(opened);
  const std::string opening = std::exchange(opening_, {});
  const wire::Envelope envelope = wire::scan(opening);
  if (era_ == Era::Legacy) {
    answer_initialize(envelope.id.in(opening), opened.text, router_->instance()->handshake().era(), *shared_);
  } else {
    take_request({opening, nullptr}, envelope);
  }
}

/// A private server answered its client's own words. A shared one answered ours: the version is then between
/// us and the client, and tasks belong to whoever made them, which a shared server cannot tell.
void Session::answer_initialize(std::string_view id, const std::string& result, Era server_era, bool shared) {
  if (server_era == Era::Modern) {
    transport_.send(
        {wire::result_message(id, bridge::initialize_result(result, version_, server_)), nullptr});
    return;
  }
  if (!shared) {
    transport_.send({wire::result_message(id, bridge::with_list_changes(result)), nullptr});
    return;
  }
  const std::string version = wire::quoted(version_);
  const wire::Span spoken = wire::member(result, "protocolVersion");
  std::string edited = result;
  if (spoken.present()) edited.replace(spoken.begin, spoken.end - spoken.begin, version);
  const wire::Span capabilities = wire::member(edited, "capabilities");
  const wire::Span tasks = wire::member_with_comma(capabilities.in(edited), "tasks");
  if (tasks.present()) edited.erase(capabilities.begin + tasks.begin, tasks.end - tasks.begin);
  transport_.send({wire::result_message(id, bridge::with_list_changes(edited)), nullptr});
}

void Session::take_deferred() {
  while (!deferred_.empty() && !ended_) {
    if (phase_ == Phase::Opening || phase_ == Phase::Returning) break;
    if (router_ != nullptr && router_->draining()) break;
    const bool lazy = phase_ == Phase::Away && refusal_.empty();
    if (lazy && must_wait(deferred_.front(), wire::scan(deferred_.front()))) {
      come_back();
      break;
    }
    const std::string message = std::move(deferred_.front());
    deferred_.pop_front();
    deferred_bytes_ -= message.size();
    const std::size_t behind = deferred_.size();
    take({message, nullptr}, wire::scan(message));
    // What needs an instance was put back, and stays the first.
    const bool put_back = lazy && phase_ == Phase::Returning && deferred_.size() == behind + 1;
    if (put_back) std::rotate(deferred_.begin(), deferred_.end() - 1, deferred_.end());
  }
  pace();
}

// ---- pace

/// Reads on only if there is room for what may come of it.
void Session::pace() {
  if (ended_ || input_ended_) return;
  const bool full = deferred_.size() >= kMostDeferred || deferred_bytes_ >= kMostDeferredBytes;
  const bool server_full = router_ != nullptr && router_->congested();
  if (full || server_full || transport_.congested()) {
    transport_.pause();
  } else {
    transport_.resume();
  }
}

void Session::server_drained() { pace(); }

void Session::to_client(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  if (ended_) return;
  last_heard_ = loop_.now();
  transport_.send(line, edits);
  check_reader();
}

/// After something was sent to it.
void Session::check_reader() {
  if (transport_.congested() && !told_congested_) {
    told_congested_ = true;
    if (router_ != nullptr) router_->session_congested(*this, true);
    pace();
  }
  // Not from in here: the router is in the middle of something.
  if (transport_.overflowing() || input_ended_) {
    loop_.post([this, alive = std::weak_ptr<bool>(alive_)] {
      if (alive.expired() || ended_) return;
      if (transport_.overflowing()) return end(EndReason::SlowReader);
      end_when_answered();
    });
  }
}

void Session::output_drained() {
  told_congested_ = false;
  if (router_ != nullptr) router_->session_congested(*this, false);
  pace();
}

// ---- the end

void Session::input_ended() {
  if (ended_ || std::exchange(input_ended_, true)) return;
  patience_.start(kLastAnswers, [this] { end(EndReason::InputClosed); });
  if (bridge_) bridge_->client_ended();
  if (router_ != nullptr) router_->client_silent(*this);
  end_when_answered();
}

void Session::end_when_answered() {
  if (ended_ || !input_ended_ || phase_ == Phase::Opening || server_lost_ || !deferred_.empty()) return;
  if (router_ != nullptr && router_->calls_of(*this) > 0) return;
  if (bridge_ && bridge_->next_deadline()) return;  // it holds a call back for a while
  end(EndReason::InputClosed);
}

void Session::instance_ended(const server::Ending& ending) {
  server_gone(ending.exit_code, "server " + server_ + " " + ending.sentence);
}

/// As if the client had started the server itself: its end is our end, with its exit code.
void Session::server_gone(int code, const std::string& why) {
  server_lost_ = true;
  router_ = nullptr;
  if (ended_) return;
  reject_deferred(wire::kServerLost, why);
  ended_ = true;
  patience_.cancel();
  transport_.pause();
  transport_.close(Transport::Close::Flushed);
  transport_.exit(code, why);
}

/// Whoever still reads gets an answer to every call.
void Session::answer_all(const std::string& why) {
  if (router_ != nullptr) router_->give_up_calls(*this, wire::kShuttingDown, why);
  end_bridge();
  if (!opening_.empty()) {
    const std::string opening = std::exchange(opening_, {});
    reject(wire::scan(opening).id.in(opening), wire::kShuttingDown, why);
  }
  reject_deferred(wire::kShuttingDown, why);
}

void Session::reject_deferred(int code, const std::string& why) {
  const auto reject_one = [&](std::string_view message) {
    const wire::Envelope envelope = wire::scan(message);
    if (envelope.kind == wire::Kind::Request) reject(envelope.id.in(message), code, why);
  };
  for (const std::string& message : std::exchange(deferred_, {})) {
    const auto elements = wire::array_elements(message);
    if (!elements) reject_one(message);
    for (const wire::Span& element : elements.value_or(std::vector<wire::Span>())) {
      reject_one(element.in(message));
    }
  }
  deferred_bytes_ = 0;
}

void Session::end(EndReason reason, const WhenGone& when_gone) {
  if (ended_) {
    if (haste_of(reason) != Instance::Haste::Polite) switchboard_.hasten(*this);
    if (when_gone) when_gone(nullptr);
    return;
  }
  reason_ = reason_name(reason);
  const bool orderly = haste_of(reason) == Instance::Haste::Polite;
  if (orderly) answer_all("the session ends: " + std::string(reason_name(reason)));
  ended_ = true;
  patience_.cancel();
  transport_.pause();
  const auto exit = [this, reason, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    if (reason == EndReason::Removed) return transport_.exit(1, withdrawn_);
    transport_.exit(0, reason == EndReason::SessionEnded ? "the session ended" : "");
  };
  const bool waits = switchboard_.release(
      *this, haste_of(reason),
      [when_gone, exit](const router::Gone& gone) {
        if (when_gone) when_gone(&gone);
        exit();
      },
      reason == EndReason::SessionEnded);
  router_ = nullptr;
  transport_.close(orderly ? Transport::Close::Flushed : Transport::Close::AtOnce);
  if (waits) return;
  if (when_gone) when_gone(nullptr);
  exit();
}

}  // namespace corral::session
