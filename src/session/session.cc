// A session's life: its opening, its pace, its end. What its client says is in session_requests.cc.
#include "session/session.h"

#include <algorithm>

#include "bridge/legacy_client.h"
#include "bridge/list_changes.h"
#include "bridge/modern_client.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::session {
namespace {

using instance::Instance;
using knowledge::Era;
using router::Opened;

// What may come in while a server is being opened; then the client has to wait.
constexpr std::size_t kMostDeferred = 64;
constexpr std::size_t kMostDeferredBytes = std::size_t{1} << 20;
// And what is read beyond that: a cancellation of what waits stands behind it, and is too late afterwards.
constexpr std::size_t kMostBehind = 64;
constexpr std::size_t kMostBytesBehind = std::size_t{64} << 10;
// Clients give up on an initialize after 30 s.
constexpr std::chrono::seconds kClientPatience{20};
// For the answers of a client that has closed its end already.
constexpr std::chrono::seconds kLastAnswers{60};

/// Our own commands would rather wait than be told of nothing.
bool says_that_it_waits(const wire::Message& message) {
  const std::string_view meta = message.meta();
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

Session::Session(Loop& loop, router::SessionId id, Transport& transport, pool::Pool& pool,
                 std::shared_ptr<const pool::ServerSpec> wanted, std::string owner)
    : loop_(loop),
      id_(id),
      transport_(transport),
      pool_(pool),
      wanted_(std::move(wanted)),
      server_(wanted_->server),
      bridge_timer_(loop),
      patience_(loop),
      owner_(std::move(owner)) {}

Session::~Session() = default;

// ---- opening

/// What it says of its client is kept as long as the session, the message itself until it is answered.
bool Session::keep_introduction(const wire::Message& message, std::size_t bytes) {
  introduction_ = {};  // of an earlier try
  opening_.reset();
  const std::size_t size = message.text().size();
  Account::Held whole;
  if (account() != nullptr) {
    auto held = account()->take(Good::Bytes, size);
    auto said = held ? account()->take(Good::Bytes, bytes) : std::nullopt;
    if (!said) {
      reject(message.id(), wire::kTooManyCalls, account()->objection(Good::Bytes, bytes + size));
      return false;
    }
    whole = std::move(*held);
    introduction_ = std::move(*said);
    subscriptions_ = std::move(*account()->take(Good::Bytes, 0));
  }
  opening_ = std::make_unique<Deferred::Entry>(Deferred::entry(message));
  opening_->bytes = std::move(whole);
  return true;
}

void Session::open(Era era, const wire::Message& message) {
  const std::string_view said = era == Era::Legacy ? message.params() : message.meta();
  if (!keep_introduction(message, 2 * said.size())) return;
  phase_ = Phase::Opening;
  era_ = era;
  std::string params(message.params());
  if (era == Era::Legacy) {
    const std::string_view version = wire::member(params, "protocolVersion").in(params);
    version_ = wire::legacy_revision(wire::string_value(version).value_or("")).date;  // which it is told, too
    client_info_ = wire::member(params, "clientInfo").in(params);
    if (params.empty()) params = instance::plain_initialize_params();
  } else {
    const std::string_view meta = message.meta();
    client_info_ = wire::member(meta, "io.modelcontextprotocol/clientInfo").in(meta);
    params = bridge::initialize_params(meta);
  }
  const bool patient = says_that_it_waits(message);
  if (patient) {  // which concerns nobody but us
    const wire::Span meta = wire::member_with_comma(params, "_meta");
    params.erase(meta.begin, meta.end - meta.begin);
  }
  params_ = std::move(params);
  if (const auto known = pool_.known({wanted_, params_, std::nullopt})) {
    if (!input_ended_) patience_.cancel();
    return attach_lazily(*known);
  }
  // Asked once more or not, its client has waited since it first asked.
  const bool waits = input_ended_ || patience_.running() || patient;
  if (!waits) patience_.start(kClientPatience, [this] { answer_early(); });
  pool_.open(*this, {wanted_, params_, std::nullopt});
}

void Session::opened(const Opened& opened) {
  if (ended_) return;
  if (phase_ == Phase::Returning) return came_back(opened);
  if (!input_ended_ && opened.kind != Opened::Kind::Again) patience_.cancel();
  switch (opened.kind) {
    case Opened::Kind::Ready: opened_ready(opened); break;
    case Opened::Kind::Again: {
      const auto opening = std::move(opening_);
      phase_ = Phase::New;  // where it stays if it is refused now
      opening->bytes = {};  // which are counted once more
      open(era_, opening->message);
      break;  // it may be attached by now, without an instance
    }
    case Opened::Kind::Refused:
    case Opened::Kind::Failed: {
      const auto opening = std::move(opening_);
      const std::string_view id = opening->message.id();
      phase_ = Phase::New;
      if (opened.kind == Opened::Kind::Failed) return opening_failed(id, opened);
      if (!opening_cancelled_) transport_.send({wire::refusal_message(id, opened.text), nullptr});
    }
  }
  take_deferred();
  end_when_answered();
}

/// As if the client had started the server itself: a start that fails is the end, with the server's exit
/// code.
void Session::opening_failed(std::string_view id, const Opened& opened) {
  server_lost_ = true;
  if (!opening_cancelled_) reject(id, wire::kServerLost, opened.text);
  take_deferred();
  loop_.post([this, alive = std::weak_ptr<bool>(alive_), opened] {
    if (!alive.expired()) server_gone(opened.exit_code, opened.text);
  });
}

void Session::opened_ready(const Opened& opened) {
  meet(opened);
  const auto opening = std::move(opening_);
  if (era_ == Era::Legacy) {
    answer_initialize(opening->message.id(), opened.text, router_->instance()->handshake().era(), *shared_);
  } else {
    take_opening(std::move(*opening));
  }
}

/// Of a modern client: its first request, now that it is known to whom it speaks.
void Session::take_opening(Deferred::Entry opening) {
  if (opening_cancelled_ || take_request(opening.message) == Taken::Yes) return;
  deferred_.put_back(std::move(opening));
  if (phase_ == Phase::Away) come_back();
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
    Deferred::Entry first = deferred_.take_first();
    const bool lazy = phase_ == Phase::Away && refusal_.empty();
    const bool waits = lazy && must_wait(first.message);
    if (!waits && take(first.message) == Taken::Yes) continue;
    deferred_.put_back(std::move(first));
    if (phase_ == Phase::Away) come_back();  // which may take all of them before it returns
    break;
  }
  pace();
}

// ---- pace

/// Whether enough waits for a server, and some more was looked through for cancellations.
bool Session::waits_enough() {
  const bool enough = deferred_.size() >= kMostDeferred || deferred_.bytes() >= kMostDeferredBytes;
  if (!enough) full_since_.reset();
  if (enough && !full_since_) full_since_ = received_;
  return enough && (received_.messages - full_since_->messages >= kMostBehind ||
                    received_.bytes - full_since_->bytes >= kMostBytesBehind);
}

/// Reads on only if there is room for what may come of it.
void Session::pace() {
  if (ended_ || input_ended_) return;
  const bool full = waits_enough();
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

void Session::instance_ended(const instance::Ending& ending) {
  server_gone(ending.exit_code, "server " + server_ + " " + ending.sentence);
}

/// As if the client had started the server itself: its end is our end, with its exit code.
void Session::server_gone(int code, const std::string& why) {
  server_lost_ = true;
  router_ = nullptr;
  if (ended_) return;
  end_bridge();  // it may hold calls that no router knows of
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
  if (const auto opening = std::move(opening_)) {
    if (!opening_cancelled_) reject(opening->message.id(), wire::kShuttingDown, why);
  }
  reject_deferred(wire::kShuttingDown, why);
}

void Session::reject_deferred(int code, const std::string& why) {
  for (const Deferred::Entry& entry : deferred_.take_all()) {
    if (entry.is_request()) reject(entry.request_id(), code, why);
  }
}

void Session::end(EndReason reason, const WhenGone& when_gone) {
  if (ended_) {
    if (haste_of(reason) != Instance::Haste::Polite) pool_.hasten(id_);
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
  const bool waits = pool_.release(
      *this, haste_of(reason),
      [when_gone, exit](const pool::InstanceEnd& gone) {
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
