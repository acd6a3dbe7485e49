#include "bridge/modern_request.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bridge/to_modern.h"
#include "wire/json_text.h"

namespace corral::bridge {
namespace {

constexpr std::string_view kCapabilities = "io.modelcontextprotocol/clientCapabilities";

/// A legacy server received it in its handshake, or receives it in another way.
bool only_modern(std::string_view meta_key) {
  return meta_key == "io.modelcontextprotocol/protocolVersion" || meta_key == kCapabilities ||
         meta_key == "io.modelcontextprotocol/clientInfo" || meta_key == "io.modelcontextprotocol/logLevel";
}

bool belongs_to_retries(std::string_view key) { return key == "inputResponses" || key == "requestState"; }

std::string legacy_meta(std::string_view meta, UpId id) {
  std::string members;
  wire::each_member(meta, [&](std::string_view key, wire::Member member) {
    if (only_modern(key)) return;
    if (!members.empty()) members.push_back(',');
    members.append(member.key.in(meta)).append(":");
    members.append(key == "progressToken" ? to_string(id) : std::string(member.value.in(meta)));
  });
  return members.empty() ? "" : "{" + members + "}";
}

void append_params(std::string& out, std::string_view params, std::string_view method, UpId id) {
  out.push_back('{');
  bool first = true;
  const auto append = [&](std::string_view key, std::string_view value) {
    if (!std::exchange(first, false)) out.push_back(',');
    out.append(key).append(":").append(value);
  };
  wire::each_member(params, [&](std::string_view key, wire::Member member) {
    const std::string_view value = member.value.in(params);
    if (belongs_to_retries(key)) return;
    if (key == "task" && method == "tools/call") return;  // no modern client can follow a legacy task
    if (key != "_meta") return append(member.key.in(params), value);
    const std::string meta = legacy_meta(value, id);
    if (!meta.empty()) append(member.key.in(params), meta);
  });
  out.push_back('}');
}

using Comparable = std::vector<std::pair<std::string, std::string>>;

Comparable comparable(std::string_view params) {
  Comparable members;
  wire::each_member(params, [&](std::string_view key, wire::Member member) {
    if (key == "_meta" || belongs_to_retries(key)) return;
    members.emplace_back(key, wire::without_space(member.value.in(params)));
  });
  std::sort(members.begin(), members.end());
  return members;
}

}  // namespace

bool can_be_suspended(std::string_view method) {
  return method == "tools/call" || method == "prompts/get" || method == "resources/read";
}

ModernRequest read_request(const wire::Message& message) {
  ModernRequest request;
  request.method = message.method();
  request.params = message.params();
  const std::string_view meta = message.meta();
  const std::string_view capabilities = wire::member(meta, kCapabilities).in(meta);
  if (!is_object(capabilities)) {
    request.fault =
        "_meta[\"" + std::string(kCapabilities) + "\"] is required and must be an object; {} declares none";
    return request;
  }
  request.abilities = Abilities(capabilities);
  if (message.has_log_level()) {
    const std::optional<std::string> name = wire::string_value(message.log_level());
    request.level = wire::parse_log_level(name.value_or(""));
    if (!request.level) {
      request.fault =
          "_meta[\"io.modelcontextprotocol/logLevel\"] must be one of debug, info, notice, warning, "
          "error, critical, alert, emergency";
    }
  }
  wire::each_member(request.params, [&](std::string_view key, wire::Member member) {
    if (key == "requestState") request.state = member.value.in(request.params);
    if (key == "inputResponses") request.responses = member.value.in(request.params);
  });
  return request;
}

std::string legacy_request(const wire::Message& message, UpId id) {
  std::string out;
  out.reserve(message.text().size() + 32);
  const bool id_first = message.where().id.begin < message.where().params.begin;
  const wire::Span first = id_first ? message.where().id : message.where().params;
  const wire::Span second = id_first ? message.where().params : message.where().id;
  const auto append = [&](const wire::Span& part) {
    if (part.begin == message.where().id.begin) {
      out.append(to_string(id));
    } else {
      append_params(out, message.params(), message.method(), id);
    }
  };
  out.append(message.text().substr(0, first.begin));
  append(first);
  out.append(message.text().substr(first.end, second.begin - first.end));
  append(second);
  return out.append(message.text().substr(second.end));
}

bool same_params(std::string_view one, std::string_view other) {
  return comparable(one) == comparable(other);
}

}  // namespace corral::bridge
