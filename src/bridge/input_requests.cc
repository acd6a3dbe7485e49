#include "bridge/input_requests.h"

#include <array>
#include <utility>

#include "base/unique_id.h"
#include "bridge/question.h"
#include "wire/envelope.h"
#include "wire/json_text.h"

namespace corral::bridge {

namespace {

bool by_url(const InputRequest& request) { return wire::string_member(request.params, "mode") == "url"; }

std::optional<InputRequest> read_request(std::string_view key, std::string_view entry) {
  InputRequest request{std::string(key), wire::string_member(entry, "method").value_or(""),
                       std::string(wire::member(entry, "params").in(entry))};
  if (!what_is_asked(request.method, request.params)) return std::nullopt;
  if (request.params.empty() && request.method != "roots/list") return std::nullopt;
  // Checks that it can be written as a request at all, because its parameters may be anything.
  if (wire::scan(question(QuestionId(), request)).kind != wire::Kind::Request) return std::nullopt;
  return request;
}

/// The modern era dropped the id that the legacy era requires.
std::string with_elicitation_id(std::string_view params) {
  std::string out = R"({"elicitationId":")" + random_hex(16) + "\"";
  wire::each_member(params, [&](std::string_view key, wire::Member member) {
    if (key == "elicitationId") return;
    out.append(",").append(member.key.in(params)).append(":").append(member.value.in(params));
  });
  return out + "}";
}

bool has(std::string_view object, std::string_view key) {
  return wire::is_object(wire::member(object, key).in(object));
}

}  // namespace

Result<InputRequired> read_input_required(std::string_view result) {
  InputRequired input;
  input.state = wire::member(result, "requestState").in(result);
  const std::string_view entries = wire::member(result, "inputRequests").in(result);
  if (entries.empty()) {
    if (input.state.empty()) return Error{"without saying what it wants to know"};
    return input;
  }
  std::string odd;
  std::size_t count = 0;
  bool long_key = false;
  const bool object = wire::each_member(entries, [&](std::string_view, wire::Member member) {
    const std::string_view key = member.key.in(entries);
    std::optional<InputRequest> request;
    if (key.size() > kLongestInputKey + 2) long_key = true;
    if (++count <= kMostInputRequests && !long_key) request = read_request(key, member.value.in(entries));
    if (request) {
      input.requests.push_back(std::move(*request));
    } else if (odd.empty()) {
      odd = key.substr(0, 100);
    }
  });
  if (!object) return Error{"in a form that is not an object"};
  if (count > kMostInputRequests) {
    return Error{"with more than " + std::to_string(kMostInputRequests) + " questions at once"};
  }
  if (long_key) {
    return Error{"under a key of more than " + std::to_string(kLongestInputKey) + " bytes"};
  }
  if (!odd.empty()) return Error{"of an unknown kind, under the key " + odd};
  if (count == 0 && input.state.empty()) return Error{"without saying what it wants to know"};
  return input;
}

std::optional<std::string> lacking_capability(const InputRequest& request, std::string_view capabilities) {
  const std::optional<Ask> ask = what_is_asked(request.method, request.params);
  if (ask && Abilities(capabilities).can(*ask)) return std::nullopt;
  if (ask == Ask::Roots) return "roots";
  if (ask == Ask::Sampling || ask == Ask::SamplingWithTools) {
    return has(capabilities, "sampling") ? "sampling.tools" : "sampling";
  }
  if (!has(capabilities, "elicitation")) return "elicitation";
  return ask == Ask::Url ? "elicitation.url" : "elicitation.form";
}

std::string question(QuestionId id, const InputRequest& request) {
  const bool visits = request.method == "elicitation/create" && by_url(request);
  return wire::request_message(to_string(id), request.method,
                               visits ? with_elicitation_id(request.params) : request.params);
}

}  // namespace corral::bridge
