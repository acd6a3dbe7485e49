#include "session/opening.h"

#include "bridge/modern_client.h"
#include "instance/handshake.h"
#include "session/greetings.h"
#include "session/treatment.h"
#include "wire/json_text.h"
#include "wire/revisions.h"

namespace corral::session {

using knowledge::Era;
using router::ListKind;

bool is_patient(const wire::Message& message) {
  const std::string_view meta = message.meta();
  return wire::member(meta, "dev.corral/waits").in(meta) == "true";
}

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
  if (client_.era == Era::Modern && request_ && id == request_->message.id()) cancelled_ = true;
}

std::optional<std::size_t> Opening::hear_introduction(const wire::Message& request) {
  if (client_.era != Era::Modern || !introduces_client(request)) return std::nullopt;
  const std::size_t bytes = 2 * request.meta().size();
  if (!introduction_.resize(bytes)) return bytes;
  client_.introduction = bridge::initialize_params(request.meta());
  return std::nullopt;
}

Deferred::Entry Opening::release() { return std::move(*std::exchange(request_, nullptr)); }

void Opening::answer_initialize(std::string_view id, const std::string& handshake, Era server_era) {
  const std::string result =
      initialize_answer(handshake, server_era, knowledge::sharing_of(attachment_.shares().value_or(false)),
                        client_.version, attachment_.server());
  transport_.send({wire::result_message(id, result), nullptr});
}

void Opening::describe_server(std::string_view id, std::string_view handshake, Era server_era) {
  transport_.send({wire::result_message(id, discover_answer(handshake, server_era)), nullptr});
}

bool Opening::answer_from_manifest(const wire::Message& request) {
  const auto kind = router::list_kind_of(request.method());
  const bool discover = request.method() == "server/discover";
  if (!discover && (!kind || wire::member(request.params(), "cursor").present())) return false;
  const auto known = pool_.known(attachment_.request(client_.introduction));
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

bool Opening::answer_early() {
  const bool discover = request_->message.method() == "server/discover";
  if (cancelled_ || (client_.era == Era::Modern && !discover))
    return false;  // only the server has the answer
  const Deferred::Entry request = release();
  const std::string greeting =
      early_greeting(discover ? wire::kNewestLegacy : client_.version, attachment_.server());
  const std::string result = discover ? discover_answer(greeting, Era::Legacy) : greeting;
  transport_.note("server " + attachment_.server() +
                  " is still starting; the client is told later which tools it has");
  transport_.send({wire::result_message(request.message.id(), result), nullptr});
  return true;
}

void Opening::give_early_list(const wire::Message& request) {
  const auto kind = router::list_kind_of(request.method());
  if (!kind) return;
  give_list(request, *kind, empty_list(*kind), Era::Legacy,
            early_greeting(wire::kNewestLegacy, attachment_.server()));
}

void Opening::give_list(const wire::Message& request, ListKind kind, std::string_view result, Era server_era,
                        std::string_view handshake) {
  memory_.list_given(kind, router::list_digest(kind, result));
  const bool shared = attachment_.shares().value_or(false);
  const std::string text =
      list_answer(kind, request.method(), result,
                  {client_, server_era, handshake, shared, attachment_.spec()->allows_tool});
  transport_.send({wire::result_message(request.id(), text), nullptr});
}

}  // namespace corral::session
