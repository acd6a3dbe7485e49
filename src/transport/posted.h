// One message that an HTTP client posted, checked and scanned.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/message.h"

namespace corral::transport {

struct Posted {
  wire::Message message;      // with its owner, and on one line, as a server that reads lines requires
  std::uint64_t program = 0;  // identifies the sending program, if it was looked up

  /// The id for an error that answers it. The id of a response was chosen by the server, and might be that of
  /// another call of this client.
  std::string_view answer_id() const {
    const bool own = message.has_id() && message.kind() != wire::Kind::Response;
    return own ? message.id() : "null";
  }
};

/// The capabilities that a modern client declares, sorted: "elicitation", "elicitation.url", "sampling" … It
/// sends them with every request, while a legacy server receives them once.
std::vector<std::string> capability_names(const Posted& posted);

/// Whether `declared` contains all of `wanted`; both must be sorted.
bool covers(const std::vector<std::string>& declared, const std::vector<std::string>& wanted);

}  // namespace corral::transport
