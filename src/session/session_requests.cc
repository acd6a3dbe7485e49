// What a client says, message by message. Nothing malformed gets past here.
#include "bridge/modern_client.h"
#include "session/session.h"
#include "wire/error_codes.h"
#include "wire/json_array.h"
#include "wire/json_text.h"

namespace corral::session {

using knowledge::Era;

namespace {

/// Whether a modern request says what it must of its client.
bool introduces_client(const wire::Message& message) {
  const std::string_view meta = message.meta();
  const wire::Span capabilities = wire::member(meta, "io.modelcontextprotocol/clientCapabilities");
  return message.has_protocol_version() && capabilities.in(meta).starts_with('{');
}

/// What of a request is kept for long: what its client says of itself, and what a listen wants to hear.
std::string_view kept_words(const wire::Message& message) {
  const std::string_view method = message.method();
  const std::string_view params = message.params();
  if (method == "initialize") return params;
  const std::string_view meta = message.has_protocol_version() ? message.meta() : "";
  if (method != "subscriptions/listen") return meta;
  const std::string_view filter = wire::member(params, "notifications").in(params);
  return filter.size() > meta.size() ? filter : meta;
}

}  // namespace

void Session::receive(const wire::Message& message) {
  if (ended_) return;
  ++counters_.messages;
  received_ = {received_.messages + 1, received_.bytes + message.text().size()};
  last_heard_ = loop_.now();
  if (message.kind() == wire::Kind::Batch) {
    take_batch(message.line());
  } else {
    receive_one(message);
  }
  pace();
}

void Session::receive_one(const wire::Message& message) {
  if (cancel_unsent(message)) return;
  const bool waits = must_wait(message);
  if (waits && message.kind() == wire::Kind::Request && answer_here(message)) return;
  if (!waits && take(message) == Taken::Yes) return;
  defer(message);
  if (phase_ == Phase::Away) come_back();
}

/// What waits is held on the account of the session's principal. Without room there a request is refused, and
/// what nobody would answer is dropped.
void Session::defer(const wire::Message& message) {
  Account::Held bytes;
  if (account() != nullptr) {
    auto held = account()->take(Good::Bytes, message.text().size());
    if (!held) {
      ++counters_.bad_messages;
      if (message.kind() != wire::Kind::Request) return;
      const std::string why = account()->objection(Good::Bytes, message.text().size());
      return reject(message.id(), wire::kTooManyCalls, why);
    }
    bytes = std::move(*held);
  }
  Deferred::Entry waiting = Deferred::entry(message);
  waiting.bytes = std::move(bytes);
  deferred_.add(std::move(waiting));
}

/// A request that no server has seen yet is forgotten, and no server hears of it. True if that was all.
bool Session::cancel_unsent(const wire::Message& message) {
  if (message.kind() != wire::Kind::Notification) return false;
  if (message.method() != "notifications/cancelled") return false;
  const std::string_view id = message.request_id();
  if (deferred_.cancel(id)) return true;
  if (phase_ != Phase::Opening) return false;
  // An initialize cannot be cancelled; and nothing else than what opens the session has been sent.
  if (era_ == Era::Modern && opening_ && id == opening_->message.id()) opening_cancelled_ = true;
  return true;
}

/// Whether there is nobody yet to take it. What only answers or cancels concerns the present instance.
bool Session::must_wait(const wire::Message& message) const {
  if (message.kind() == wire::Kind::NotJson) return false;
  if (phase_ == Phase::Opening) return true;
  const bool asks = message.kind() == wire::Kind::Request;
  // A modern server is asked again with the answer, whichever instance it is.
  const bool goes_on = message.kind() == wire::Kind::Response && crossing_ == Crossing::LegacyToModern;
  if (phase_ == Phase::Returning) {
    return goes_on || (asks && !(early_ && router::list_kind_of(message.method())));
  }
  if (phase_ == Phase::Away) return goes_on;
  return asks && router_ != nullptr && router_->draining();
}

void Session::receive_oversized(const std::string& id, std::size_t bytes) {
  ++counters_.messages;
  ++counters_.bad_messages;
  reject(id, wire::kInvalidRequest,
         "Invalid Request: a message of " + std::to_string(bytes) +
             " bytes is more than a line may have; raise \"line_cap\" in corral's configuration");
}

Session::Taken Session::take(const wire::Message& message) {
  switch (message.kind()) {
    case wire::Kind::Request: return take_request(message);
    case wire::Kind::Notification:
      remember(message);
      // A bridge holds things that may be cancelled while there is no server.
      if (bridge_ || (phase_ == Phase::Ready && router_ != nullptr)) pass_to_server(message);
      break;
    case wire::Kind::Response:
      // Across the eras the call that it belongs to fails without a server.
      if ((phase_ == Phase::Ready && router_ != nullptr) || crossing_ == Crossing::LegacyToModern) {
        pass_to_server(message);
      } else {
        ++counters_.bad_messages;
      }
      break;
    case wire::Kind::Batch:  // is taken one by one
    case wire::Kind::NotRpc:
    case wire::Kind::NotJson: refuse_bad_message(message); break;
  }
  return Taken::Yes;
}

void Session::refuse_bad_message(const wire::Message& message) {
  ++counters_.bad_messages;
  const bool json = message.kind() == wire::Kind::NotRpc;
  const std::string where = " at byte " + std::to_string(message.fault_at());
  reject(message.id(), json ? wire::kInvalidRequest : wire::kParseError,
         (json ? "Invalid Request: " : "Parse error: ") + std::string(message.fault()) + where);
}

/// Clients of the revision that has batches get the answers one by one.
void Session::take_batch(const wire::Line& line) {
  const bool allowed = phase_ != Phase::New && era_ == Era::Legacy && wire::legacy_revision(version_).batches;
  const auto elements = allowed ? wire::array_elements(line.text, wire::kMostInBatch) : std::nullopt;
  if (elements && elements->size() > wire::kMostInBatch) {
    ++counters_.bad_messages;
    return reject({}, wire::kInvalidRequest, "Invalid Request: a batch of more than 256 messages");
  }
  if (!elements || elements->empty()) {
    ++counters_.bad_messages;
    return reject({}, wire::kInvalidRequest,
                  "Invalid Request: this revision has no batches; send one message a line");
  }
  for (const wire::Span& element : *elements) {
    const wire::Message one(wire::Line{element.in(line.text), line.owner});
    if (one.kind() == wire::Kind::Batch) {
      reject({}, wire::kInvalidRequest, "Invalid Request: a batch inside a batch");
    } else {
      receive_one(one);
    }
    if (ended_) return;
  }
}

Session::Taken Session::take_request(const wire::Message& message) {
  const std::string_view id = message.id();
  if (server_lost_) {
    reject(id, wire::kServerLost, "server " + server_ + " has ended");
    return Taken::Yes;
  }
  if (answer_here(message)) return Taken::Yes;
  if (phase_ == Phase::New) {
    take_first_request(message);
    return Taken::Yes;
  }
  if (!refusal_.empty()) {
    reject(id, wire::kServerLost, refusal_);
    return Taken::Yes;
  }
  if (phase_ == Phase::Returning && answer_early_list(message)) return Taken::Yes;
  if (phase_ == Phase::Away && answer_from_manifest(message)) return Taken::Yes;
  if (phase_ != Phase::Ready) {
    // What a modern client says of itself it says with every request; a server to come hears the latest.
    if (era_ == Era::Modern && phase_ == Phase::Away && introduces_client(message)) {
      const std::string_view meta = message.meta();
      if (!introduction_.resize(2 * meta.size())) {
        reject(id, wire::kTooManyCalls, account()->objection(Good::Bytes, 2 * meta.size()));
        return Taken::Yes;
      }
      params_ = bridge::initialize_params(meta);
    }
    return Taken::NeedsInstance;
  }
  only_greeted_ = false;
  remember(message);
  pass_to_server(message);
  return Taken::Yes;
}

bool Session::refuse_long_words(const wire::Message& message) {
  constexpr std::size_t kLongestWords = std::size_t{64} << 10;
  const std::size_t size = kept_words(message).size();
  if (size <= kLongestWords) return false;
  ++counters_.bad_messages;
  reject(message.id(), wire::kInvalidParams,
         "Invalid params: " + std::to_string(size) +
             " bytes of what is kept as long as this lasts (what the client says of itself, the filter of a "
             "listen), and 65536 are the most: send less");
  return true;
}

/// Before its server hears of it. From then on the bytes are held with the request, and later with what the
/// server has agreed to.
bool Session::refuse_subscription(const wire::Message& message) {
  if (account() == nullptr || message.method() != "resources/subscribe") return false;
  const std::size_t size = 2 * message.params().size();
  if (account()->take(Good::Bytes, size)) return false;
  reject(message.id(), wire::kTooManyCalls, account()->objection(Good::Bytes, size));
  return true;
}

/// The requests that need no server.
bool Session::answer_here(const wire::Message& message) {
  if (refuse_long_words(message) || refuse_subscription(message)) return true;
  const std::string_view id = message.id();
  const std::string_view method = message.method();
  const bool modern = message.has_protocol_version();
  const std::string version = wire::string_value(message.protocol_version()).value_or("");
  if (modern && !wire::is_modern_version(version)) {
    reject(id, wire::kUnsupportedVersion, "Unsupported protocol version",
           wire::unsupported_version_data(message.protocol_version()));
    return true;
  }
  if (method == "server/discover" && (phase_ == Phase::New || era_ == Era::Modern) &&
      !introduces_client(message)) {
    reject(id, wire::kInvalidParams,
           "Invalid params: server/discover needs _meta with io.modelcontextprotocol/protocolVersion and an "
           "object io.modelcontextprotocol/clientCapabilities");
    return true;
  }
  const bool removed = method == "initialize" || method == "ping" || method == "logging/setLevel" ||
                       method == "resources/subscribe" || method == "resources/unsubscribe";
  if (modern && removed) {
    reject(id, wire::kMethodNotFound,
           "Method not found: the revision " + version + " has no " + std::string(method));
    return true;
  }
  if (method == "ping") {
    transport_.send({wire::result_message(id, "{}"), nullptr});
    return true;
  }
  if (phase_ == Phase::New) return false;
  if (method == "initialize" && era_ == Era::Modern && only_greeted_) {
    // Its greeting comes first, or the end of the instance that it got it from.
    if (phase_ == Phase::Opening || phase_ == Phase::Returning) return false;
    if (router_ != nullptr && router_->draining()) return false;
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
      const instance::Handshake& handshake = router_->instance()->handshake();
      transport_.send({wire::result_message(id, discovered(handshake.result(), handshake.era())), nullptr});
    } else {
      reject(id, wire::kMethodNotFound, "Method not found: this session speaks a revision with initialize");
    }
    return true;
  }
  return false;
}

void Session::take_first_request(const wire::Message& message) {
  const std::string_view method = message.method();
  opening_cancelled_ = false;
  if (method == "initialize") return open(Era::Legacy, message);
  if (method == "server/discover" || message.has_protocol_version()) return open(Era::Modern, message);
  reject(message.id(), wire::kInvalidParams,
         "Invalid params: begin with initialize (" + std::string(wire::kOldestLegacy) + " to " +
             std::string(wire::kNewestLegacy) + "), or name the protocol version " +
             std::string(wire::kModern) + " in _meta");
}

void Session::reject(std::string_view id, int code, std::string_view message, std::string_view data) {
  transport_.send({wire::error_message(id, code, message, data), nullptr});
}

}  // namespace corral::session
