// The input that a modern server needs before it continues a call, and the same as questions to a legacy
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

/// More than any real server asks at once; each becomes a question to the client.
inline constexpr std::size_t kMostInputRequests = 64;
/// Length of a key as it is written, without quotes; it is kept until the client has answered.
inline constexpr std::size_t kLongestInputKey = 1024;

/// Reads a result of type input_required. The error completes the sentence "the server asked for input …".
Result<InputRequired> read_input_required(std::string_view result);

/// The capability that the client lacks for this request, such as "elicitation.url"; empty if it has it.
/// `capabilities` are in the modern form.
std::optional<std::string> lacking_capability(const InputRequest& request, std::string_view capabilities);

/// The request as a message to the client.
std::string question(QuestionId id, const InputRequest& request);

}  // namespace corral::bridge
