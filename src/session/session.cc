#include "session/session.h"

#include "session/batch.h"
#include "session/greetings.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::session {
namespace {

using knowledge::Era;
using router::Departure;
using router::Opened;
using wire::Kind;

bool is_cancellation(const wire::Message& message) {
  return message.kind() == Kind::Notification && message.method() == "notifications/cancelled";
}

}  // namespace

Session::Session(Loop& loop, SessionId id, Transport& transport, pool::Pool& pool,
                 std::shared_ptr<const pool::ServerSpec> spec, std::string owner)
    : SessionPort(id, std::move(owner), spec->account, transport),
      loop_(loop),
      transport_(transport),
      pool_(pool),
      attachment_(std::move(spec)),
      opening_(loop, {transport, pool, attachment_, deferred_, client_, memory_}),
      crossing_(loop, *this),
      end_(loop, {*this, record_, transport, pool, attachment_, opening_, deferred_, crossing_}) {}

// ---- from the client to the server

void Session::receive(const wire::Message& message) {
  if (ended()) return;
  ++record_.messages;
  record_.last_heard = loop_.now();
  deferred_.received(message.text().size());
  if (message.kind() != Kind::Batch) {
    handle(message);
    return pace();
  }
  const bool open = attachment_.phase() != Phase::New && client_.era == Era::Legacy;
  const auto split = split_batch(message.line(), open ? &wire::legacy_revision(client_.version) : nullptr);
  if (const auto* const objection = std::get_if<Objection>(&split)) {
    ++record_.bad_messages;
    transport_.send_error({}, objection->code, objection->message);
  } else {
    for (const wire::Message& one : std::get<std::vector<wire::Message>>(split)) {
      if (!ended()) handle(one);
    }
  }
  pace();
}

void Session::receive_oversized(const std::string& id, std::size_t bytes) {
  ++record_.messages;
  ++record_.bad_messages;
  const Objection objection = objection_to_size(bytes);
  transport_.send_error(id, objection.code, objection.message);
}

void Session::handle(const wire::Message& message) {
  if (is_cancellation(message)) {
    // A request that no server has seen yet is removed; no server is told.
    if (deferred_.cancel(message.request_id())) return;
    // Only the request that opens the session has been sent so far.
    if (attachment_.phase() == Phase::Opening) return opening_.cancel(message.request_id());
  }
  if (take(message) == Taken::Yes) return;
  if (!deferred_.add(message, account())) {
    ++record_.bad_messages;
    const std::string full = account()->objection(Good::Bytes, message.text().size());
    if (message.kind() == Kind::Request) transport_.send_error(message.id(), wire::kTooManyCalls, full);
  }
  if (attachment_.phase() == Phase::Away) request_instance();
}

Session::Taken Session::take(const wire::Message& message) {
  const Treatment treatment = treat(message, situation());
  switch (treatment.step) {
    case Step::Pass:
      if (message.kind() == Kind::Request) opening_.asked_for_more();
      if (message.kind() != Kind::Response) memory_.remember(message);
      pass_to_server(message);
      break;
    case Step::Remember: memory_.remember(message); break;
    case Step::Drop: ++record_.bad_messages; break;
    case Step::Wait: return Taken::MustWait;
    case Step::AskManifest:
      if (opening_.answer_from_manifest(message)) break;
      if (const auto bytes = opening_.hear_introduction(message)) {
        transport_.send_error(message.id(), wire::kTooManyCalls, account()->objection(Good::Bytes, *bytes));
        break;
      }
      return Taken::MustWait;
    case Step::GiveEarlyList: opening_.give_early_list(message); break;
    case Step::Pong: transport_.send({wire::result_message(message.id(), "{}"), nullptr}); break;
    case Step::DescribeServer: {
      const instance::Handshake& handshake = attachment_.router()->instance()->handshake();
      opening_.describe_server(message.id(), handshake.result(), handshake.era());
      break;
    }
    case Step::ResetAndOpen:
      pool_.release(*this, instance::Instance::Haste::Polite, {});
      attachment_.reset();
      crossing_.reset();
      memory_.clear();
      [[fallthrough]];
    case Step::OpenLegacy:
      opening_.want_answer();
      open(Era::Legacy, message);
      break;
    case Step::OpenModern:
      opening_.want_answer();
      open(Era::Modern, message);
      break;
    case Step::RefuseMalformed: ++record_.bad_messages; [[fallthrough]];
    case Step::Refuse:
      transport_.send_error(message.id(), treatment.objection.code, treatment.objection.message,
                            treatment.objection.data);
      break;
  }
  return Taken::Yes;
}

Situation Session::situation() const {
  const router::Router* const router = attachment_.router();
  return {
      .phase = attachment_.phase(),
      .era = client_.era,
      .attached = router != nullptr,
      .draining = router != nullptr && router->draining(),
      .greeted_early = attachment_.was_greeted_early(),
      .only_greeted = opening_.only_greeted(),
      .bridged = crossing_.active(),
      .legacy_to_modern = crossing_.kind() == Crossing::Kind::LegacyToModern,
      .server_lost = end_.server_lost(),
      .refusal = attachment_.refusal().empty() ? nullptr : &attachment_.refusal(),
      .server = &attachment_.server(),
      .account = account(),
  };
}

void Session::pass_to_server(const wire::Message& message) {
  if (crossing_.active()) return crossing_.from_client(message);
  attachment_.router()->from_client(*this, message);
}

/// The bridge acts as a client of the server's own era; what it sends is remembered like a client's messages.
void Session::to_server(const wire::Message& message) {
  if (crossing_.kind() == Crossing::Kind::ModernToLegacy) memory_.remember(message);
  if (attachment_.router() != nullptr && !crossing_.ending()) {
    return attachment_.router()->from_client(*this, message);
  }
  if (message.kind() != Kind::Request) return;
  const std::string& absence = attachment_.absence();
  const std::string why = absence.empty() ? "server " + attachment_.server() + " is gone" : absence;
  deliver({wire::error_message(message.id(), wire::kServerLost, why), nullptr}, {});
}

// ---- from the server to the client

void Session::answer(const wire::Message& message, std::string_view id) {
  if (crossing_.active()) return deliver(message.line(), {{message.where().id, id}});
  if (ended()) return;
  record_.last_heard = loop_.now();
  transport_.answer(message, id);
  after_sending();
}

void Session::deliver(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  if (!crossing_.active()) return to_client(line, edits);
  if (!ended()) crossing_.from_server(line, edits);
}

void Session::to_client(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  if (ended()) return;
  record_.last_heard = loop_.now();
  transport_.send(line, edits);
  after_sending();
}

void Session::list_changed(router::ChangedList list) {
  if (ended()) return;
  if (client_.era == Era::Modern && !crossing_.active()) {
    if (attachment_.router() != nullptr) attachment_.router()->tell_listens(*this, list);
    return;
  }
  const std::string message = wire::notification_message(router::method_of(list));
  if (client_.era == Era::Legacy) return to_client({message, nullptr}, {});
  deliver({message, nullptr}, {});
}

// ---- flow control

/// Reads from the client only while there is room for its messages and for the answers.
void Session::pace() {
  if (ended() || !may_ask_) return;
  const router::Router* const router = attachment_.router();
  const bool server_full = router != nullptr && router->instance()->congested();
  if (deferred_.full() || server_full || transport_.congested()) {
    transport_.pause();
  } else {
    transport_.resume();
  }
}

void Session::after_sending() {
  if (transport_.congested() && !told_congested_) {
    told_congested_ = true;
    const bool asks_server = attachment_.router() != nullptr && !crossing_.ending();
    if (asks_server) attachment_.router()->client_pace(*this, router::ClientPace::Slow);
    pace();
  }
  // The router that called is not done yet, so the session must not end from within this call.
  if (transport_.overflowing() || !may_ask_) {
    loop_.post(lifetime_.guard([this] {
      if (transport_.overflowing() && !ended()) return end(EndReason::SlowReader);
      end_.end_if_answered();
    }));
  }
}

void Session::output_drained() {
  told_congested_ = false;
  if (attachment_.router() != nullptr) attachment_.router()->client_pace(*this, router::ClientPace::Reads);
  pace();
}

// ---- opening

void Session::open(Era era, const wire::Message& request) {
  if (!opening_.begin(era, request, account())) return;
  const bool patient = is_patient(request);
  const pool::Ask ask = attachment_.request(client_.introduction);
  if (const auto known = pool_.known(ask)) {
    opening_.stop_patience();
    attachment_.known(knowledge::sharing_of(known->shared));
    pool_.answered_without_instance(*this, *attachment_.spec());
    Deferred::Entry first = opening_.release();
    if (era == Era::Legacy) {
      return opening_.answer_initialize(first.message.id(), known->portrait->handshake, known->era);
    }
    if (!opening_.cancelled()) deferred_.put_back(std::move(first));
    return handle_deferred();
  }
  if (may_ask_ && !patient) opening_.start_patience([this] { pace(); });
  pool_.open(*this, ask);
}

void Session::opened(const Opened& opened) {
  if (ended()) return;
  if (attachment_.phase() == Phase::Returning) return instance_ready(opened);
  if (opened.kind != Opened::Kind::Again) opening_.stop_patience();
  if (opened.kind == Opened::Kind::Ready) attach(opened);
  Deferred::Entry request = opening_.release();
  const std::string_view id = request.message.id();
  switch (opened.kind) {
    case Opened::Kind::Ready:
      if (client_.era == Era::Modern) {
        if (!opening_.cancelled()) deferred_.put_back(std::move(request));
      } else {
        const Era server_era = attachment_.router()->instance()->handshake().era();
        opening_.answer_initialize(id, opened.text, server_era);
      }
      break;
    case Opened::Kind::Again:
      attachment_.apply(PhaseEvent::NoInstance);  // the phase if it is refused now
      request.bytes = {};                         // open() counts them again
      open(client_.era, request.message);
      break;  // it may be open now, without an instance
    case Opened::Kind::Refused:
      attachment_.apply(PhaseEvent::NoInstance);
      if (!opening_.cancelled()) transport_.send({wire::refusal_message(id, opened.text), nullptr});
      break;
    case Opened::Kind::Failed:
      attachment_.apply(PhaseEvent::NoInstance);
      end_.note_server_lost();
      if (!opening_.cancelled()) transport_.send_error(id, wire::kServerLost, opened.text);
      handle_deferred();
      loop_.post(lifetime_.guard([this, opened] { end_.end_with_server(opened.exit_code, opened.text); }));
      return;
  }
  request = {};  // answered: its bytes are free for the messages that wait
  handle_deferred();
  end_.end_if_answered();
}

void Session::attach(const Opened& opened) {
  attachment_.attach(opened);
  router::Router& router = *attachment_.router();
  const bool shared = attachment_.shares().value_or(false);
  const auto bridge = crossing_.connect({client_, router.instance()->handshake(), shared,
                                         of_several_programs(), attachment_.server(), account()});
  // If it replaces another instance, `restore` sends the notification.
  const bool first = bridge == Crossing::Bridge::New && !memory_.standing().initialized;
  if (first && crossing_.kind() == Crossing::Kind::ModernToLegacy) {
    to_server(wire::Message(wire::notification_message("notifications/initialized")));
  }
  if (may_ask_) return;
  // The client cannot answer questions of this instance.
  crossing_.client_ended();
  router.questions().client_silent(*this);
}

// ---- losing an instance, and getting the next one

void Session::instance_lost(Departure departure, const std::string& why) {
  attachment_.detach();
  if (ended()) return;
  attachment_.lost(why);
  if (!attachment_.withdrawn().empty()) {
    // The pool that called is not done yet, so the session must not end from within this call.
    loop_.post(lifetime_.guard([this] {
      if (ended()) return;
      if (!attachment_.withdrawn().empty()) return end(EndReason::Removed);
      // The server is configured again. A message that arrived since then may have asked already.
      if (attachment_.phase() == Phase::Away) request_instance();
    }));
    return;
  }
  const bool at_once = departure == Departure::Died || departure == Departure::Replaced;
  if (at_once || !deferred_.empty()) request_instance();
  end_.end_if_answered();
  pace();  // the server that did not read is gone
}

void Session::request_instance() {
  if (!attachment_.withdrawn().empty()) return;  // the session is about to end, and answers everything then
  attachment_.apply(PhaseEvent::InstanceAsked);
  pool_.open(*this, attachment_.request(client_.introduction));
}

void Session::instance_ready(const Opened& opened) {
  if (opened.kind == Opened::Kind::Again) {
    attachment_.forget_sharing();
    return request_instance();
  }
  if (opened.kind != Opened::Kind::Ready) {  // answers the calls that waited; the next call tries again
    const bool refused = opened.kind == Opened::Kind::Refused;
    const std::string by = refused ? "server " + attachment_.server() + " refused the handshake: " : "";
    attachment_.refused(by + opened.text);
    note(attachment_.refusal());
    handle_deferred();
    attachment_.forget_refusal();
    return end_.end_if_answered();
  }
  const router::Standing before = memory_.standing();  // before a bridge sends something to the new instance
  attach(opened);
  router::Router& router = *attachment_.router();
  if (told_congested_) router.client_pace(*this, router::ClientPace::Slow);
  // Before the first answer, so that a client that relied on the server's memory is warned in time.
  if (const std::string absence = attachment_.take_absence(); !absence.empty()) {
    const std::string news = restart_news(absence);
    note(news);
    const bool modern = client_.era == Era::Modern;
    if (modern ? deferred_.wants_log() : hears_warnings(memory_.standing())) {
      transport_.send({warning_message(news), nullptr});
    }
  }
  router.restore(*this, before);
  handle_deferred();
  end_.end_if_answered();
}

void Session::handle_deferred() {
  while (!deferred_.empty() && !ended()) {
    const Phase phase = attachment_.phase();
    if (phase == Phase::Opening || phase == Phase::Returning) break;
    if (attachment_.router() != nullptr && attachment_.router()->draining()) break;
    Deferred::Entry first = deferred_.take_first();
    if (take(first.message) == Taken::Yes) continue;
    deferred_.put_back(std::move(first));
    if (attachment_.phase() == Phase::Away)
      request_instance();  // it may handle all of them before it returns
    break;
  }
  pace();
}

bool Session::awaited() const {
  const Phase phase = attachment_.phase();
  if (phase == Phase::Opening || phase == Phase::Returning || !deferred_.empty()) return true;
  return attachment_.router() != nullptr && attachment_.router()->calls_of(*this) > 0;
}

// ---- the end

void Session::input_ended() {
  if (!ended() && std::exchange(may_ask_, false)) end_.input_ended();
}

void Session::withdraw(std::string why) {
  attachment_.withdraw(std::move(why));
  if (attachment_.phase() != Phase::Ready) end(EndReason::Removed);
}

}  // namespace corral::session
