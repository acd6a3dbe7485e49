#include "bridge/legacy_words.h"

#include "bridge/legacy_client.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/message.h"

namespace corral::bridge {

namespace {

constexpr std::string_view kPrefix = "io.modelcontextprotocol/";

/// Members that only later rounds of a call have, or that are not offered to legacy clients.
bool is_ours(std::string_view params_key) {
  return params_key == "_meta" || params_key == "task" || params_key == "inputResponses" ||
         params_key == "requestState";
}

void append_member(std::string& out, const wire::Member& member, std::string_view object) {
  out.append(",").append(member.key.in(object)).append(":").append(member.value.in(object));
}

/// corral sets the reserved keys on behalf of the client, so the client's own are dropped.
std::string modern_params(std::string_view params, std::string_view client_meta, std::string_view meta,
                          std::string_view token, std::string_view more) {
  std::string out;
  out.reserve(params.size() + meta.size() + more.size() + 64);
  out.append(R"({"_meta":{)").append(meta);
  wire::each_member(client_meta, [&](std::string_view key, wire::Member member) {
    if (key == "progressToken") {
      out.append(R"(,"progressToken":)").append(token);
    } else if (!key.starts_with(kPrefix)) {
      append_member(out, member, client_meta);
    }
  });
  out += "}";
  wire::each_member(params, [&](std::string_view key, wire::Member member) {
    if (!is_ours(key)) append_member(out, member, params);
  });
  if (!more.empty()) out.append(",").append(more);
  return out += "}";
}

std::string code_text(std::string_view error) { return std::string(wire::member(error, "code").in(error)); }

}  // namespace

bool has_lists(std::string_view capability) {
  return capability == "tools" || capability == "prompts" || capability == "resources";
}

std::string with_list_changed(std::string_view capability) {
  std::string out = wire::kept_members(capability, [](std::string_view key) { return key != "listChanged"; });
  out.insert(1, out.size() > 2 ? R"("listChanged":true,)" : R"("listChanged":true)");
  return out;
}

std::string with_list_changes(std::string_view initialize_result) {
  const wire::Span place = wire::member(initialize_result, "capabilities");
  const std::string_view capabilities = place.in(initialize_result);
  std::string out(initialize_result.substr(0, place.begin));
  std::size_t at = 0;
  wire::each_member(capabilities, [&](std::string_view key, wire::Member member) {
    const std::string_view value = member.value.in(capabilities);
    if (!has_lists(key) || !wire::is_object(value)) return;
    if (wire::member(value, "listChanged").in(value) == "true") return;
    out.append(capabilities.substr(at, member.value.begin - at)).append(with_list_changed(value));
    at = member.value.end;
  });
  if (!place.present()) return std::string(initialize_result);
  return out.append(capabilities.substr(at)).append(initialize_result.substr(place.end));
}

Vocabulary modern_to_legacy(std::string_view version) {
  Vocabulary known = legacy_vocabulary(version);
  known.any_structure = false;
  known.modern_members = false;
  return known;
}

std::string legacy_result(std::string_view method, std::string_view result, std::string_view version) {
  return changed(result, result_changes(method, result, modern_to_legacy(version)));
}

std::string modern_request(const wire::Message& message, UpId id, std::string_view meta,
                           std::string_view more) {
  const std::string own_id = to_string(id);
  std::string params = modern_params(message.params(), message.meta(), meta, own_id, more);
  std::vector<Change> changes;
  if (message.has_params()) {
    changes = {{message.where().id, own_id}, {message.where().params, std::move(params)}};
    sort_by_place(changes);
  } else {
    changes = {{message.where().id, own_id + R"(,"params":)" + params}};
  }
  return changed(message.text(), changes);
}

std::vector<Change> error_changes(std::string_view method, std::string_view error) {
  const wire::Span code = wire::member(error, "code");
  const std::string_view written = code.in(error);
  if (written == "-32020" || written == "-32021" || written == "-32022") {
    return {{code, std::to_string(wire::kInternalError)}};
  }
  if (written == std::to_string(wire::kInvalidParams) && method == "resources/read") {
    const std::string_view data = wire::member(error, "data").in(error);
    if (wire::member(data, "uri").present()) return {{code, "-32002"}};
  }
  return {};
}

std::optional<std::string> missing_capability(std::string_view error) {
  if (code_text(error) != "-32021") return std::nullopt;
  const std::string_view data = wire::member(error, "data").in(error);
  const std::string_view required = wire::member(data, "requiredCapabilities").in(data);
  std::string names;
  wire::each_member(required, [&names](std::string_view key, wire::Member) {
    if (names.size() > 1000) return;
    names.append(names.empty() ? "" : ", ").append(key);
  });
  return names.empty() ? "which it does not name" : names;
}

std::string tool_error(std::string_view sentence) {
  return R"({"content":[{"type":"text","text":)" + wire::quoted(sentence) + R"(}],"isError":true})";
}

std::string cancelled_message(std::string_view id, std::string_view reason) {
  std::string params = R"({"requestId":)" + std::string(id);
  if (!reason.empty()) params.append(R"(,"reason":)").append(reason);
  return wire::notification_message("notifications/cancelled", params.append("}"));
}

}  // namespace corral::bridge
