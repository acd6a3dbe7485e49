#include "server/handshake.h"

#include <algorithm>
#include <array>

#include "version.h"
#include "wire/json_text.h"

namespace corral::server {
namespace {

std::string our_name() { return R"({"name":"corral","version":")" + std::string(kVersion) + "\"}"; }

bool is_discover_result(std::string_view result) {
  return wire::member(result, "supportedVersions").in(result).starts_with('[') &&
         wire::member(result, "capabilities").in(result).starts_with('{');
}

}  // namespace

bool is_legacy_version(std::string_view version) {
  constexpr std::array<std::string_view, 4> kDates = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};
  return std::find(kDates.begin(), kDates.end(), version) != kDates.end();
}

std::string plain_initialize_params() {
  return R"({"protocolVersion":")" + std::string(kNewestLegacy) + R"(","capabilities":{},"clientInfo":)" +
         our_name() + "}";
}

std::string discover_params() {
  return R"({"_meta":{"io.modelcontextprotocol/protocolVersion":")" + std::string(kModern) +
         R"(","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":)" +
         our_name() + "}}";
}

std::string Handshake::request() const {
  const bool modern = opening_.era == Era::Modern;
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id_) + R"(,"method":")" +
         (modern ? "server/discover" : "initialize") + R"(","params":)" +
         (modern ? discover_params() : opening_.initialize_params) + "}";
}

bool Handshake::take(std::string_view line, const wire::Envelope& envelope) {
  if (outcome_ != Outcome::Waiting || envelope.kind != wire::Kind::Response) return false;
  if (wire::own_number(envelope.id.in(line)) != id_) return false;
  answered_ = true;
  const bool modern = opening_.era == Era::Modern;
  if (envelope.error.present()) {
    answer_ = envelope.error.in(line);
    outcome_ = modern ? Outcome::OtherEra : Outcome::Refused;
  } else {
    answer_ = envelope.result.in(line);
    outcome_ = modern && !is_discover_result(answer_) ? Outcome::OtherEra : Outcome::Ready;
  }
  return true;
}

void Handshake::give_up(std::string_view why) {
  if (outcome_ != Outcome::Waiting) return;
  outcome_ = opening_.era == Era::Modern ? Outcome::OtherEra : Outcome::Refused;
  answer_ = R"({"code":-32603,"message":)" + wire::quoted(why) + "}";
}

std::string_view Handshake::follow_up() const {
  if (opening_.era == Era::Modern || !opening_.announce) return {};
  return R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
}

}  // namespace corral::server
