#include "session/opening.h"

#include "bridge/modern_client.h"
#include "instance/handshake.h"
#include "session/greetings.h"
#include "session/treatment.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/revisions.h"

namespace corral::session {

using knowledge::Era;
using router::ListKind;

bool is_patient(const wire::Message& message) {
  const std::string_view meta = message.meta();
  return wire::member(meta, "dev.corral/waits").in(meta) == "true";
}

namespace {

// Clients give up on an initialize request after 30 s.
constexpr std::chrono::seconds kClientPatience{20};

/// The facts about the client in its first request. If a legacy client names a revision that corral does not
/// know, the newest legacy revision is agreed.
router::ClientFacts read_client(Era era, const wire::Message& message) {
  router::ClientFacts client;
  client.era = era;
  std::string params(message.params());
  if (era == Era::Legacy) {
    const std::string_view version = wire::member(params, "protocolVersion").in(params);
    client.version = wire::legacy_revision(wire::string_value(version).value_or("")).date;
    client.info = wire::member(params, "clientInfo").in(params);
    if (params.empty()) params = instance::plain_initialize_params();
  } else {
    const std::string_view meta = message.meta();
    client.info = wire::member(meta, "io.modelcontextprotocol/clientInfo").in(meta);
    params = bridge::initialize_params(meta);
  }
  if (is_patient(message)) {  // a field for corral only
    const wire::Span meta = wire::member_with_comma(params, "_meta");
    params.erase(meta.begin, meta.end - meta.begin);
  }
  client.introduction = std::move(params);
  return client;
}

}  // namespace

bool Opening::begin(Era era, const wire::Message& request, Account* account) {
  const std::size_t introduction = 2 * (era == Era::Legacy ? request.params() : request.meta()).size();
  if (!keep(request, introduction, account)) {
    const std::size_t bytes = introduction + request.text().size();
    parts_.transport.send_error(request.id(), wire::kTooManyCalls, account->objection(Good::Bytes, bytes));
    return false;
  }
  if (account != nullptr) parts_.memory.charge_to(*account);
  parts_.attachment.apply(PhaseEvent::FirstRequest);
  parts_.client = read_client(era, request);
  return true;
}

/// False if the account has no room; the request is not kept then.
bool Opening::keep(const wire::Message& request, std::size_t introduction, Account* account) {
  introduction_ = {};  // of an earlier attempt
  request_.reset();
  Account::Held whole;
  if (account != nullptr) {
    auto held = account->take(Good::Bytes, request.text().size());
    auto said = held ? account->take(Good::Bytes, introduction) : std::nullopt;
    if (!said) return false;
    whole = std::move(*held);
    introduction_ = std::move(*said);
  }
  request_ = std::make_unique<Deferred::Entry>(Deferred::entry(request));
  request_->bytes = std::move(whole);
  return true;
}

void Opening::cancel(std::string_view id) {
  if (parts_.client.era == Era::Modern && request_ && id == request_->message.id()) cancelled_ = true;
}

std::optional<std::size_t> Opening::hear_introduction(const wire::Message& request) {
  if (parts_.client.era != Era::Modern || !introduces_client(request)) return std::nullopt;
  const std::size_t bytes = 2 * request.meta().size();
  if (!introduction_.resize(bytes)) return bytes;
  parts_.client.introduction = bridge::initialize_params(request.meta());
  return std::nullopt;
}

Deferred::Entry Opening::release() { return std::move(*std::exchange(request_, nullptr)); }

void Opening::answer_initialize(std::string_view id, const std::string& handshake, Era server_era) {
  const std::string result = initialize_answer(
      handshake, server_era, knowledge::sharing_of(parts_.attachment.shares().value_or(false)),
      parts_.client.version, parts_.attachment.server());
  parts_.transport.send({wire::result_message(id, result), nullptr});
}

void Opening::describe_server(std::string_view id, std::string_view handshake, Era server_era) {
  parts_.transport.send({wire::result_message(id, discover_answer(handshake, server_era)), nullptr});
}

bool Opening::answer_from_manifest(const wire::Message& request) {
  const auto kind = router::list_kind_of(request.method());
  const bool discover = request.method() == "server/discover";
  if (!discover && (!kind || wire::member(request.params(), "cursor").present())) return false;
  const auto known = parts_.pool.known(parts_.attachment.request(parts_.client.introduction));
  if (!known) return false;
  const std::string& handshake = known->portrait->handshake;
  if (discover) {
    describe_server(request.id(), handshake, known->era);
    return true;
  }
  const std::string& list = known->portrait->lists[static_cast<std::size_t>(*kind)];
  if (list.empty()) return false;
  only_greeted_ = false;
  give_list(request, *kind, list, known->era, handshake);
  return true;
}

void Opening::start_patience(Task answered) {
  if (patience_.running()) return;
  patience_.start(kClientPatience, [this, answered = std::move(answered)] {
    if (parts_.attachment.phase() == Phase::Opening && answer_early()) answered();
  });
}

/// The server takes longer to start than clients wait: answers with empty lists now, list_changed follows.
/// False if only the server has the answer; nothing is sent then.
bool Opening::answer_early() {
  const bool discover = request_->message.method() == "server/discover";
  if (cancelled_ || (parts_.client.era == Era::Modern && !discover)) return false;
  const Deferred::Entry request = release();
  const std::string greeting =
      early_greeting(discover ? wire::kNewestLegacy : parts_.client.version, parts_.attachment.server());
  const std::string result = discover ? discover_answer(greeting, Era::Legacy) : greeting;
  parts_.transport.note("server " + parts_.attachment.server() +
                        " is still starting; the client is told later which tools it has");
  parts_.transport.send({wire::result_message(request.message.id(), result), nullptr});
  parts_.attachment.greeted_early();
  for (const Deferred::Entry& list : parts_.deferred.take_lists()) give_early_list(list.message);
  return true;
}

void Opening::give_early_list(const wire::Message& request) {
  const auto kind = router::list_kind_of(request.method());
  if (!kind) return;
  give_list(request, *kind, empty_list(*kind), Era::Legacy,
            early_greeting(wire::kNewestLegacy, parts_.attachment.server()));
}

void Opening::give_list(const wire::Message& request, ListKind kind, std::string_view result, Era server_era,
                        std::string_view handshake) {
  parts_.memory.list_given(kind, router::list_digest(kind, result));
  const bool shared = parts_.attachment.shares().value_or(false);
  const std::string text =
      list_answer(kind, request.method(), result,
                  {parts_.client, server_era, handshake, shared, parts_.attachment.spec()->allows_tool});
  parts_.transport.send({wire::result_message(request.id(), text), nullptr});
}

}  // namespace corral::session
