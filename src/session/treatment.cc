#include "session/treatment.h"

#include "router/router.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/revisions.h"

namespace corral::session {
namespace {

using knowledge::Era;
using wire::Kind;

Treatment refuse(int code, std::string message, std::string data = {}) {
  return {Step::Refuse, {code, std::move(message), std::move(data)}};
}

Treatment refuse_malformed(const wire::Message& message) {
  const bool json = message.kind() == Kind::NotRpc;
  return {Step::RefuseMalformed,
          {json ? wire::kInvalidRequest : wire::kParseError, (json ? "Invalid Request: " : "Parse error: ") +
                                                                 std::string(message.fault()) + " at byte " +
                                                                 std::to_string(message.fault_at())}};
}

bool asks_for_list(const wire::Message& message) {
  return router::list_kind_of(message.method()).has_value();
}

/// Whether the message must wait for a server. A response or a cancellation is for the present instance and
/// does not wait, except that a bridge to a modern server sends the response in a new request to any
/// instance.
bool must_wait(const wire::Message& message, const Situation& now) {
  if (now.phase == Phase::Opening) return true;
  const bool asks = message.kind() == Kind::Request;
  const bool continues_call = message.kind() == Kind::Response && now.legacy_to_modern;
  if (now.phase == Phase::Returning) {
    return continues_call || (asks && !(now.greeted_early && asks_for_list(message)));
  }
  if (now.phase == Phase::Away) return continues_call && now.refusal == nullptr;
  return asks && now.attached && now.draining;
}

/// The part of a request that is kept for as long as the session or the listen lasts.
std::string_view long_kept_part(const wire::Message& message) {
  const std::string_view method = message.method();
  const std::string_view params = message.params();
  if (method == "initialize") return params;
  const std::string_view meta = message.has_protocol_version() ? message.meta() : "";
  if (method != "subscriptions/listen") return meta;
  const std::string_view filter = wire::member(params, "notifications").in(params);
  return filter.size() > meta.size() ? filter : meta;
}

std::optional<Treatment> refuse_for_size(const wire::Message& message, Account* account) {
  constexpr std::size_t kLongest = std::size_t{64} << 10;
  const std::size_t size = long_kept_part(message).size();
  if (size > kLongest) {
    Treatment refused =
        refuse(wire::kInvalidParams, "Invalid params: " + std::to_string(size) +
                                         " bytes of data that corral must keep (what the client says about "
                                         "itself, the filter of a listen); the limit is 65536: send less");
    refused.step = Step::RefuseMalformed;
    return refused;
  }
  if (account == nullptr || message.method() != "resources/subscribe") return std::nullopt;
  // Before the server gets it. From then on the bytes are counted with the request, and later with the
  // subscription.
  const std::size_t bytes = 2 * message.params().size();
  if (account->take(Good::Bytes, bytes)) return std::nullopt;
  return refuse(wire::kTooManyCalls, account->objection(Good::Bytes, bytes));
}

/// Refuses what the revision that the request names does not allow.
std::optional<Treatment> refuse_by_revision(const wire::Message& message, const Situation& now) {
  const std::string_view method = message.method();
  const bool modern = message.has_protocol_version();
  const std::string version = wire::string_value(message.protocol_version()).value_or("");
  if (modern && !wire::is_modern_version(version)) {
    return refuse(wire::kUnsupportedVersion, "Unsupported protocol version",
                  wire::unsupported_version_data(message.protocol_version()));
  }
  const bool may_discover = now.phase == Phase::New || now.era == Era::Modern;
  if (method == "server/discover" && may_discover && !introduces_client(message)) {
    return refuse(
        wire::kInvalidParams,
        "Invalid params: server/discover needs _meta with io.modelcontextprotocol/protocolVersion and an "
        "object io.modelcontextprotocol/clientCapabilities");
  }
  const bool removed = method == "initialize" || method == "ping" || method == "logging/setLevel" ||
                       method == "resources/subscribe" || method == "resources/unsubscribe";
  if (modern && removed) {
    return refuse(wire::kMethodNotFound,
                  "Method not found: the revision " + version + " has no " + std::string(method));
  }
  return std::nullopt;
}

/// A handshake in a session that is already open.
std::optional<Treatment> treat_second_handshake(const wire::Message& message, const Situation& now) {
  const std::string_view method = message.method();
  if (method == "initialize") {
    if (now.era != Era::Modern || !now.only_greeted) {
      return refuse(wire::kInvalidRequest, "Invalid Request: this session has already been initialised");
    }
    // First it gets its greeting, or the instance that greeted it ends.
    const bool busy = now.phase == Phase::Opening || now.phase == Phase::Returning || now.draining;
    if (busy) return std::nullopt;
    return Treatment{Step::ResetAndOpen};
  }
  if (method == "server/discover") {
    if (now.era != Era::Modern) {
      return refuse(wire::kMethodNotFound,
                    "Method not found: this session uses a revision that has no server/discover");
    }
    if (now.phase == Phase::Ready) return Treatment{Step::DescribeServer};
  }
  return std::nullopt;
}

Treatment treat_first_request(const wire::Message& message) {
  const std::string_view method = message.method();
  if (method == "initialize") return {Step::OpenLegacy};
  if (method == "server/discover" || message.has_protocol_version()) return {Step::OpenModern};
  return refuse(wire::kInvalidParams,
                "Invalid params: begin with initialize (" + std::string(wire::kOldestLegacy) + " to " +
                    std::string(wire::kNewestLegacy) + "), or name the protocol version " +
                    std::string(wire::kModern) + " in _meta");
}

Treatment treat_request(const wire::Message& message, const Situation& now) {
  const bool waits = must_wait(message, now);
  if (!waits && now.server_lost) return refuse(wire::kServerLost, "server " + *now.server + " has ended");
  if (auto refused = refuse_for_size(message, now.account)) return *std::move(refused);
  if (auto refused = refuse_by_revision(message, now)) return *std::move(refused);
  if (message.method() == "ping") return {Step::Pong};
  if (now.phase != Phase::New) {
    if (auto treatment = treat_second_handshake(message, now)) return *std::move(treatment);
  }
  if (waits) return {Step::Wait};
  if (now.phase == Phase::New) return treat_first_request(message);
  if (now.refusal != nullptr) return refuse(wire::kServerLost, *now.refusal);
  if (now.phase == Phase::Returning) return {Step::GiveEarlyList};
  return {now.phase == Phase::Away ? Step::AskManifest : Step::Pass};
}

}  // namespace

Objection objection_to_size(std::size_t bytes) {
  return {wire::kInvalidRequest,
          "Invalid Request: a message of " + std::to_string(bytes) +
              " bytes is longer than the longest allowed line; raise \"line_cap\" in corral's configuration"};
}

bool introduces_client(const wire::Message& message) {
  const std::string_view meta = message.meta();
  const wire::Span capabilities = wire::member(meta, "io.modelcontextprotocol/clientCapabilities");
  return message.has_protocol_version() && capabilities.in(meta).starts_with('{');
}

Treatment treat(const wire::Message& message, const Situation& now) {
  const bool heard = now.phase == Phase::Ready && now.attached;
  switch (message.kind()) {
    case Kind::Request: return treat_request(message, now);
    case Kind::Notification:
      if (must_wait(message, now)) return {Step::Wait};
      // A bridge may hold calls that are cancelled while there is no server.
      return {now.bridged || heard ? Step::Pass : Step::Remember};
    case Kind::Response:
      if (must_wait(message, now)) return {Step::Wait};
      // With a bridge, the call that it belongs to fails without a server and is answered with that error.
      return {heard || now.legacy_to_modern ? Step::Pass : Step::Drop};
    case Kind::NotRpc:
      if (must_wait(message, now)) return {Step::Wait};
      return refuse_malformed(message);
    case Kind::Batch:  // a batch that may be split does not get here
      return refuse(wire::kInvalidRequest, "Invalid Request: a batch inside a batch");
    case Kind::NotJson: break;
  }
  return refuse_malformed(message);
}

}  // namespace corral::session
