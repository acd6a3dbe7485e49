#include "instance/handshake.h"

#include <algorithm>

#include "version.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::instance {
namespace {

std::string our_name() { return R"({"name":"corral","version":")" + std::string(kVersion) + "\"}"; }

bool is_discover_result(std::string_view result) {
  return wire::member(result, "supportedVersions").in(result).starts_with('[') &&
         wire::member(result, "capabilities").in(result).starts_with('{');
}

bool speaks_our_revision(std::string_view result) {
  const std::string_view versions = wire::member(result, "supportedVersions").in(result);
  constexpr std::size_t kMostVersions = 64;  // the rest is ignored
  const auto elements = wire::array_elements(versions, kMostVersions);
  return elements && std::any_of(elements->begin(), elements->end(), [versions](wire::Span version) {
           return wire::is_modern_version(wire::string_value(version.in(versions)).value_or(""));
         });
}

bool has_code(std::string_view error, int code) {
  return wire::member(error, "code").in(error) == std::to_string(code);
}

}  // namespace

std::string plain_initialize_params() {
  return R"({"protocolVersion":")" + std::string(wire::kNewestLegacy) +
         R"(","capabilities":{},"clientInfo":)" + our_name() + "}";
}

std::string discover_params() {
  return R"({"_meta":{"io.modelcontextprotocol/protocolVersion":")" + std::string(wire::kModern) +
         R"(","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":)" +
         our_name() + "}}";
}

Handshake::Handshake(Opening opening)
    : opening_(std::move(opening)), era_(opening_.expected.value_or(knowledge::Era::Modern)) {}

std::string Handshake::request(CallId id) {
  id_ = id;
  const bool modern = era_ == knowledge::Era::Modern;
  (modern ? asked_modern_ : asked_legacy_) = true;
  return wire::request_message(to_string(id_), modern ? "server/discover" : "initialize",
                               modern ? discover_params() : opening_.initialize_params);
}

Handshake::Taken Handshake::take(const wire::Message& message) {
  if (outcome_ != Outcome::Waiting || message.kind() != wire::Kind::Response) return Taken::No;
  if (wire::own_id<CallId>(message.id()) != id_) return Taken::No;
  if (message.has_error()) return take_error(message.error());
  const std::string_view result = message.result();
  // Some servers answer any request with some result.
  if (era_ == knowledge::Era::Modern && !is_discover_result(result)) {
    return take_error(
        wire::error_object(wire::kInternalError, "the server gave no answer to server/discover"));
  }
  if (era_ == knowledge::Era::Modern && !speaks_our_revision(result)) {
    return take_error(wire::error_object(
        wire::kUnsupportedVersion, "the server does not support the revision " + std::string(wire::kModern)));
  }
  answer_ = result;
  outcome_ = Outcome::Ready;
  return Taken::Over;
}

Handshake::Taken Handshake::take_unreadable(std::string_view id, std::string_view why) {
  if (outcome_ != Outcome::Waiting || wire::own_id<CallId>(id) != id_) return Taken::No;
  return take_error(wire::error_object(
      wire::kInternalError, "the server's answer to the handshake cannot be used: " + std::string(why)));
}

/// What is known about the server may be out of date, so the other era is tried in the same process. A legacy
/// server may refuse an initialize for its own reasons; only the two errors that show that it does not know
/// the method count.
Handshake::Taken Handshake::take_error(std::string_view error) {
  const bool modern = era_ == knowledge::Era::Modern;
  const bool unknown_method =
      has_code(error, wire::kMethodNotFound) || has_code(error, wire::kUnsupportedVersion);
  const bool other_asked = modern ? asked_legacy_ : asked_modern_;
  if (!opening_.pinned && !other_asked && (modern || unknown_method)) {
    if (!modern) answer_ = error;
    era_ = modern ? knowledge::Era::Legacy : knowledge::Era::Modern;
    return Taken::AskAgain;
  }
  // If both eras were tried, the answer to initialize explains more.
  if (!modern || answer_.empty()) answer_ = error;
  outcome_ = Outcome::Refused;
  return Taken::Over;
}

void Handshake::give_up(std::string_view why) {
  if (outcome_ != Outcome::Waiting) return;
  const bool may_be_legacy = era_ == knowledge::Era::Modern && !opening_.pinned && !asked_legacy_;
  fail(why);
  if (may_be_legacy) outcome_ = Outcome::NotModern;
}

void Handshake::fail(std::string_view why) {
  if (outcome_ != Outcome::Waiting) return;
  outcome_ = Outcome::Refused;
  answer_ = wire::error_object(wire::kInternalError, why);
}

std::string Handshake::follow_up() const {
  if (era_ == knowledge::Era::Modern || !opening_.announce) return {};
  return wire::notification_message("notifications/initialized");
}

}  // namespace corral::instance
