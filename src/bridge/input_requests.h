// What a modern server wants to know before it goes on with a call, and the same as questions to a legacy
// client. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"

namespace corral::bridge {

struct InputRequest {
  std::string key;     // JSON text, as the server wrote it
  std::string method;  // elicitation/create, sampling/createMessage or roots/list
  std::string params;  // a JSON object; empty = none
};

struct InputRequired {
  std::vector<InputRequest> requests;
  std::string state;  // requestState as it was written; empty = none
};

/// No honest server asks more at once; each becomes a question to the client.
inline constexpr std::size_t kMostInputRequests = 64;
/// Of a key as it is written, without its quotes; it is kept until the client has answered.
inline constexpr std::size_t kLongestInputKey = 1024;

/// A result of the type input_required. The error ends the sentence "the server asked for input …".
Result<InputRequired> read_input_required(std::string_view result);

/// What the client lacks to be asked this, such as "elicitation.url"; nothing if it can be. `capabilities`
/// are modern ones.
std::optional<std::string> lacking_capability(const InputRequest& request, std::string_view capabilities);

/// The request as a message to the client.
std::string question(QuestionId id, const InputRequest& request);

}  // namespace corral::bridge
