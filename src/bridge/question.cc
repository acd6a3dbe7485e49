#include "bridge/question.h"

#include "bridge/to_modern.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::bridge {
namespace {

constexpr std::string_view kWishedKey = "dev.corral/inputKey";
constexpr std::size_t kLongestKey = 64;

std::string_view part(std::string_view object, std::string_view key) {
  return wire::member(object, key).in(object);
}

/// A modern client sends no progress, and already has the key.
std::string meta_for_client(std::string_view meta) {
  return wire::kept_members(meta,
                            [](std::string_view key) { return key != kWishedKey && key != "progressToken"; });
}

}  // namespace

Abilities::Abilities(std::string_view capabilities) {
  const std::string_view elicitation = part(capabilities, "elicitation");
  const std::string_view sampling = part(capabilities, "sampling");
  const bool url = is_object(part(elicitation, "url"));
  const bool form = is_object(part(elicitation, "form"));
  if (url) add(Ask::Url);
  if (is_object(elicitation) && (form || !url)) add(Ask::Form);  // an empty object means forms
  if (is_object(sampling)) add(Ask::Sampling);
  if (is_object(part(sampling, "tools"))) add(Ask::SamplingWithTools);
  if (is_object(part(capabilities, "roots"))) add(Ask::Roots);
}

std::optional<Ask> what_is_asked(std::string_view method, std::string_view params) {
  if (method == "roots/list") return Ask::Roots;
  if (method == "sampling/createMessage") {
    const bool tools =
        wire::member(params, "tools").present() || wire::member(params, "toolChoice").present();
    return tools ? Ask::SamplingWithTools : Ask::Sampling;
  }
  if (method != "elicitation/create") return std::nullopt;
  const std::string_view mode = part(params, "mode");
  if (mode.empty() || wire::string_value(mode) == "form") return Ask::Form;
  if (wire::string_value(mode) == "url") return Ask::Url;
  return std::nullopt;
}

std::string_view required_capabilities(Ask ask) {
  switch (ask) {
    case Ask::Form: return R"({"elicitation":{"form":{}}})";
    case Ask::Url: return R"({"elicitation":{"url":{}}})";
    case Ask::Sampling: return R"({"sampling":{}})";
    case Ask::SamplingWithTools: return R"({"sampling":{"tools":{}}})";
    case Ask::Roots: return R"({"roots":{}})";
  }
  return "{}";
}

std::string_view name_of(Ask ask) {
  switch (ask) {
    case Ask::Form: return "elicitation by a form";
    case Ask::Url: return "elicitation by a URL";
    case Ask::Sampling: return "sampling";
    case Ask::SamplingWithTools: return "sampling with tools";
    case Ask::Roots: return "roots";
  }
  return "";
}

std::string input_request(std::string_view method, std::string_view params) {
  std::string out = R"({"method":)" + wire::quoted(method);
  std::string members;
  const auto append = [&](std::string_view key, std::string_view value) {
    if (!members.empty()) members.push_back(',');
    members.append(key).append(":").append(value);
  };
  wire::each_member(params, [&](std::string_view key, wire::Member member) {
    if (key == "elicitationId" || key == "task") return;
    if (key != "_meta") return append(member.key.in(params), member.value.in(params));
    const std::string meta = meta_for_client(member.value.in(params));
    if (meta != "{}") append(member.key.in(params), meta);
  });
  if (!members.empty()) out.append(R"(,"params":{)").append(members).append("}");
  return out.append("}");
}

std::string wished_key(std::string_view params) {
  const std::string_view meta = part(params, "_meta");
  const std::optional<std::string> key = wire::string_value(part(meta, kWishedKey));
  return key && key->size() <= kLongestKey ? *key : "";
}

std::string dismissal(const Question& question) {
  if (question.ask == Ask::Form || question.ask == Ask::Url) {
    return wire::result_message(question.id, R"({"action":"cancel"})");
  }
  return wire::error_message(question.id, wire::kInternalError,
                             "the client gave no answer to " + std::string(name_of(question.ask)));
}

}  // namespace corral::bridge
