// What a client says, message by message. Nothing malformed gets past here.
#include "bridge/modern_client.h"
#include "session/session.h"
#include "wire/error_codes.h"
#include "wire/json_array.h"
#include "wire/json_text.h"

namespace corral::session {

using server::Era;

namespace {

/// Whether a modern request says what it must of its client.
bool introduces_client(const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view meta = envelope.meta.in(line.text);
  const wire::Span capabilities = wire::member(meta, "io.modelcontextprotocol/clientCapabilities");
  return envelope.protocol_version.present() && capabilities.in(meta).starts_with('{');
}

}  // namespace

void Session::receive(const wire::Line& line) { receive(line, wire::scan(line.text)); }

void Session::receive(const wire::Line& line, const wire::Envelope& envelope) {
  if (ended_) return;
  ++counters_.messages;
  last_heard_ = loop_.now();
  if (must_wait(line.text, envelope)) {
    defer(line);
    if (phase_ == Phase::Away) come_back();
  } else {
    take(line, envelope);
  }
  pace();
}

/// Whether there is nobody yet to take it. What only answers or cancels concerns the present instance.
bool Session::must_wait(std::string_view text, const wire::Envelope& envelope) const {
  if (envelope.kind == wire::Kind::NotJson) return false;
  if (phase_ == Phase::Opening) return true;
  const bool asks = envelope.kind == wire::Kind::Request || envelope.kind == wire::Kind::Batch;
  // A modern server is asked again with the answer, whichever instance it is.
  const bool goes_on = envelope.kind == wire::Kind::Response && crossing_ == Crossing::LegacyToModern;
  if (phase_ == Phase::Returning) {
    return goes_on || (asks && !(early_ && router::list_kind_of(wire::method_name(envelope, text))));
  }
  if (phase_ == Phase::Away) return goes_on || envelope.kind == wire::Kind::Batch;  // all for one instance
  return asks && router_ != nullptr && router_->draining();
}

void Session::defer(const wire::Line& line) {
  deferred_.emplace_back(line.text);
  deferred_bytes_ += line.text.size();
}

void Session::receive_oversized(const std::string& id, std::size_t bytes) {
  ++counters_.messages;
  ++counters_.bad_messages;
  reject(id, wire::kInvalidRequest,
         "Invalid Request: a message of " + std::to_string(bytes) +
             " bytes is more than a line may have; raise \"line_cap\" in corral's configuration");
}

void Session::take(const wire::Line& line, const wire::Envelope& envelope) {
  switch (envelope.kind) {
    case wire::Kind::Request: return take_request(line, envelope);
    case wire::Kind::Notification:
      remember(line, envelope);
      // A bridge holds things that may be cancelled while there is no server.
      if (bridge_ || (phase_ == Phase::Ready && router_ != nullptr)) pass_to_server(line, envelope);
      return;
    case wire::Kind::Response:
      if (phase_ == Phase::Ready && router_ != nullptr) return pass_to_server(line, envelope);
      if (crossing_ == Crossing::LegacyToModern) return pass_to_server(line, envelope);  // its call fails
      ++counters_.bad_messages;
      return;
    case wire::Kind::Batch: return take_batch(line);
    case wire::Kind::NotRpc:
    case wire::Kind::NotJson: return refuse_bad_message(line, envelope);
  }
}

void Session::refuse_bad_message(const wire::Line& line, const wire::Envelope& envelope) {
  ++counters_.bad_messages;
  const bool json = envelope.kind == wire::Kind::NotRpc;
  const std::string where = " at byte " + std::to_string(envelope.fault_at);
  reject(envelope.id.in(line.text), json ? wire::kInvalidRequest : wire::kParseError,
         (json ? "Invalid Request: " : "Parse error: ") + std::string(envelope.fault) + where);
}

/// Only the revision 2025-03-26 has batches; its clients get the answers one by one.
void Session::take_batch(const wire::Line& line) {
  const auto elements = wire::array_elements(line.text);
  constexpr std::size_t kMostMessages = 256;
  const bool allowed = phase_ != Phase::New && era_ == Era::Legacy && version_ == "2025-03-26";
  if (allowed && elements && elements->size() > kMostMessages) {
    ++counters_.bad_messages;
    return reject({}, wire::kInvalidRequest, "Invalid Request: a batch of more than 256 messages");
  }
  if (!allowed || !elements || elements->empty()) {
    ++counters_.bad_messages;
    return reject({}, wire::kInvalidRequest,
                  "Invalid Request: this revision has no batches; send one message a line");
  }
  for (const wire::Span& element : *elements) {
    const wire::Line one{element.in(line.text), line.owner};
    const wire::Envelope envelope = wire::scan(one.text);
    if (envelope.kind == wire::Kind::Batch) {
      reject({}, wire::kInvalidRequest, "Invalid Request: a batch inside a batch");
    } else {
      take(one, envelope);
    }
    if (ended_) return;
  }
}

void Session::take_request(const wire::Line& line, const wire::Envelope& envelope) {
  if (server_lost_) {
    return reject(envelope.id.in(line.text), wire::kServerLost, "server " + server_ + " has ended");
  }
  if (answer_here(line, envelope)) return;
  if (phase_ == Phase::New) return take_first_request(line, envelope);
  if (!refusal_.empty()) return reject(envelope.id.in(line.text), wire::kServerLost, refusal_);
  if (phase_ == Phase::Returning && answer_early_list(line.text, envelope)) return;
  if (phase_ == Phase::Away && answer_from_manifest(line, envelope)) return;
  if (phase_ != Phase::Ready) {
    // What a modern client says of itself it says with every request; a server to come hears the latest.
    if (era_ == Era::Modern && phase_ == Phase::Away && introduces_client(line, envelope)) {
      params_ = bridge::initialize_params(envelope.meta.in(line.text));
    }
    defer(line);
    if (phase_ == Phase::Away) come_back();
    return;
  }
  only_greeted_ = false;
  remember(line, envelope);
  pass_to_server(line, envelope);
}

/// The requests that need no server.
bool Session::answer_here(const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view id = envelope.id.in(line.text);
  const std::string_view method = wire::method_name(envelope, line.text);
  const bool modern = envelope.protocol_version.present();
  if (modern && wire::string_value(envelope.protocol_version.in(line.text)) != wire::kModern) {
    reject(id, wire::kUnsupportedVersion, "Unsupported protocol version",
           R"({"supported":["2026-07-28"],"requested":)" +
               std::string(envelope.protocol_version.in(line.text)) + "}");
    return true;
  }
  if (method == "server/discover" && (phase_ == Phase::New || era_ == Era::Modern) &&
      !introduces_client(line, envelope)) {
    reject(id, wire::kInvalidParams,
           "Invalid params: server/discover needs _meta with io.modelcontextprotocol/protocolVersion and an "
           "object io.modelcontextprotocol/clientCapabilities");
    return true;
  }
  const bool removed = method == "initialize" || method == "ping" || method == "logging/setLevel" ||
                       method == "resources/subscribe" || method == "resources/unsubscribe";
  if (modern && removed) {
    reject(id, wire::kMethodNotFound,
           "Method not found: the revision 2026-07-28 has no " + std::string(method));
    return true;
  }
  if (method == "ping") {
    transport_.send({wire::result_message(id, "{}"), nullptr});
    return true;
  }
  if (phase_ == Phase::New) return false;
  if (method == "initialize" && era_ == Era::Modern && only_greeted_) {
    begin_anew();
    return false;
  }
  if (method == "initialize") {
    reject(id, wire::kInvalidRequest, "Invalid Request: this session is initialized already");
    return true;
  }
  if (method == "server/discover") {
    if (era_ == Era::Modern) {
      if (phase_ != Phase::Ready) return false;
      const server::Handshake& handshake = router_->instance()->handshake();
      transport_.send({wire::result_message(id, discovered(handshake.result(), handshake.era())), nullptr});
    } else {
      reject(id, wire::kMethodNotFound, "Method not found: this session speaks a revision with initialize");
    }
    return true;
  }
  return false;
}

void Session::take_first_request(const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view method = wire::method_name(envelope, line.text);
  if (method == "initialize") return open(Era::Legacy, line, envelope);
  if (method == "server/discover" || envelope.protocol_version.present())
    return open(Era::Modern, line, envelope);
  reject(envelope.id.in(line.text), wire::kInvalidParams,
         "Invalid params: begin with initialize (2024-11-05 to 2025-11-25), or name the protocol version "
         "2026-07-28 in _meta");
}

void Session::reject(std::string_view id, int code, std::string_view message, std::string_view data) {
  transport_.send({wire::error_message(id, code, message, data), nullptr});
}

}  // namespace corral::session
