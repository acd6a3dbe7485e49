#include "bridge/to_modern.h"

#include "bridge/legacy_words.h"

#include <array>
#include <charconv>
#include <vector>

#include "bridge/modern_client.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/revisions.h"

namespace corral::bridge {
namespace {

/// Icons can make it large, and it is part of every result. If it is longer, only server/discover contains
/// it.
constexpr std::size_t kLongestInfo = 4096;
constexpr std::array<std::string_view, 5> kCacheable = {"tools/list", "prompts/list", "resources/list",
                                                        "resources/templates/list", "resources/read"};
constexpr std::string_view kComplete = R"("resultType":"complete")";
constexpr std::string_view kNoCache = R"("ttlMs":0)";
constexpr std::string_view kPrivate = R"("cacheScope":"private")";

std::string_view value_of(std::string_view object, std::string_view key) {
  return wire::member(object, key).in(object);
}

void append_member(std::string& members, std::string_view member) {
  if (!members.empty()) members.push_back(',');
  members.append(member);
}

std::string info_member(std::string_view initialize_result) {
  const std::string_view info = value_of(initialize_result, "serverInfo");
  if (!is_object(info)) return "";
  return wire::quoted(kServerInfo).append(":").append(info);
}

std::string in_modern_words(std::string_view legacy) {
  std::string members;
  wire::each_member(legacy, [&](std::string_view key, wire::Member member) {
    const std::string_view value = member.value.in(legacy);
    if (key == "tasks" || (has_lists(key) && !is_object(value))) return;
    append_member(members, member.key.in(legacy));
    members.append(":").append(has_lists(key) ? with_list_changed(value) : std::string(value));
  });
  return "{" + members + "}";
}

/// The positions of the members that a modern result must have, if it has them.
struct Marks {
  wire::Span type;
  wire::Span meta;
  wire::Span ttl;
  wire::Span scope;
};

Marks find_marks(std::string_view line, wire::Span result) {
  Marks marks;
  const auto placed = [&](wire::Span value) {
    return wire::Span{result.begin + value.begin, result.begin + value.end};
  };
  wire::each_member(result.in(line), [&](std::string_view key, wire::Member member) {
    if (key == "resultType") marks.type = placed(member.value);
    if (key == "_meta") marks.meta = placed(member.value);
    if (key == "ttlMs") marks.ttl = placed(member.value);
    if (key == "cacheScope") marks.scope = placed(member.value);
  });
  return marks;
}

bool is_ttl(std::string_view json) { return !json.empty() && json[0] >= '0' && json[0] <= '9'; }
bool is_scope(std::string_view json) { return json == R"("private")" || json == R"("public")"; }

/// The tool as a modern client may see it; empty if it can only be called as a task.
std::optional<std::string> taskless(std::string_view tool) {
  const wire::Span execution = wire::member(tool, "execution");
  const std::string_view support = value_of(execution.in(tool), "taskSupport");
  if (support.empty()) return std::string(tool);
  if (wire::string_value(support) == "required") return std::nullopt;
  const std::string rest =
      wire::kept_members(execution.in(tool), [](std::string_view key) { return key != "taskSupport"; });
  Edits edits;
  edits.replace(rest == "{}" ? wire::member_with_comma(tool, "execution") : execution,
                rest == "{}" ? "" : rest);
  return edits.applied(tool);
}

std::string roots_without_changes(std::string_view capabilities) {
  const wire::Span roots = wire::member(capabilities, "roots");
  Edits edits;
  edits.replace(roots, wire::kept_members(roots.in(capabilities),
                                          [](std::string_view key) { return key != "listChanged"; }));
  return edits.applied(capabilities);
}

}  // namespace

bool is_object(std::string_view json) { return !json.empty() && json[0] == '{'; }

LegacyServer read_server(std::string_view initialize_result) {
  LegacyServer server;
  server.info = info_member(initialize_result);
  if (server.info.size() > kLongestInfo) server.info.clear();
  const std::string_view capabilities = value_of(initialize_result, "capabilities");
  const auto has = [capabilities](std::string_view key) { return is_object(value_of(capabilities, key)); };
  server.tools = has("tools");
  server.prompts = has("prompts");
  server.resources = has("resources");
  server.logging = has("logging");
  server.subscribe = value_of(value_of(capabilities, "resources"), "subscribe") == "true";
  return server;
}

bool complete_result(std::string_view line, wire::Span result, std::string_view method, std::string_view info,
                     Edits& edits) {
  if (!is_object(result.in(line))) return false;
  const Marks marks = find_marks(line, result);
  std::string missing;
  if (marks.type.present()) {
    edits.replace(marks.type, R"("complete")");
  } else {
    missing = kComplete;
  }
  if (std::find(kCacheable.begin(), kCacheable.end(), method) != kCacheable.end()) {
    if (!marks.ttl.present()) append_member(missing, kNoCache);
    if (!is_ttl(marks.ttl.in(line))) edits.replace(marks.ttl, "0");
    if (!marks.scope.present()) append_member(missing, kPrivate);
    if (!is_scope(marks.scope.in(line))) edits.replace(marks.scope, R"("private")");
  }
  const std::string_view meta = marks.meta.in(line);
  const std::string own = "{" + std::string(info) + "}";
  if (!marks.meta.present()) {
    if (!info.empty()) append_member(missing, R"("_meta":)" + own);
  } else if (!is_object(meta)) {
    edits.replace(marks.meta, own);
  } else if (!info.empty() && !wire::member(meta, kServerInfo).present()) {
    edits.add_members(line, marks.meta, std::string(info));
  }
  if (!missing.empty()) edits.add_members(line, result, missing);
  return true;
}

std::optional<std::string> without_tasks(std::string_view result) {
  // Most lists contain none of it and need no copy. A server that writes the key with escapes only affects
  // itself.
  if (result.find("taskSupport") == std::string_view::npos) return std::nullopt;
  const wire::Span place = wire::member(result, "tools");
  const std::string_view tools = place.in(result);
  const std::optional<std::vector<wire::Span>> elements = wire::array_elements(tools, wire::kMostElements);
  if (!elements || elements->size() > wire::kMostElements) return std::nullopt;
  std::string kept;
  bool changed = false;
  for (const wire::Span& element : *elements) {
    const std::string_view tool = element.in(tools);
    const std::optional<std::string> shown = taskless(tool);
    changed = changed || shown != tool;
    if (shown) append_member(kept, *shown);
  }
  if (!changed) return std::nullopt;
  return std::string(result.substr(0, place.begin))
      .append("[")
      .append(kept)
      .append("]")
      .append(result.substr(place.end));
}

std::optional<int> error_code(std::string_view error) {
  const std::string_view text = value_of(error, "code");
  int code = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return code;
}

void modern_error(std::string_view line, wire::Span error, std::string_view uri, Edits& edits) {
  const std::string_view body = error.in(line);
  const std::optional<int> code = error_code(body);
  const auto placed = [&](wire::Span value) {
    return value.present() ? wire::Span{error.begin + value.begin, error.begin + value.end} : wire::Span{};
  };
  const wire::Span code_place = placed(wire::member(body, "code"));
  // These codes belong to the modern specification; a legacy server that uses one means something else.
  if (code && *code <= -32020 && *code >= -32099) {
    edits.replace(code_place, std::to_string(wire::kInternalError));
  }
  if (code != kResourceNotFound) return;
  edits.replace(code_place, std::to_string(wire::kInvalidParams));
  if (uri.empty()) return;
  const std::string named = std::string(R"("uri":)").append(uri);
  const wire::Span data = placed(wire::member(body, "data"));
  if (!data.present()) {
    edits.add_members(line, error, R"("data":{)" + named + "}");
  } else if (!is_object(data.in(line))) {
    edits.replace(data, "{" + named + "}");
  } else if (!wire::member(data.in(line), "uri").present()) {
    edits.add_members(line, data, named);
  }
}

std::string discover_result(std::string_view initialize_result) {
  std::string versions;  // newest first
  for (auto revision = wire::kRevisions.rbegin(); revision != wire::kRevisions.rend(); ++revision) {
    versions.append(versions.empty() ? "" : ",").append(wire::quoted(revision->date));
  }
  std::string out = "{" + std::string(kComplete) + R"(,"supportedVersions":[)" + versions;
  out.append(R"(],"capabilities":)").append(in_modern_words(value_of(initialize_result, "capabilities")));
  const std::string_view instructions = value_of(initialize_result, "instructions");
  if (wire::string_value(instructions)) out.append(R"(,"instructions":)").append(instructions);
  out.append(",").append(kNoCache).append(",").append(kPrivate);
  const std::string info = info_member(initialize_result);
  if (!info.empty()) out.append(R"(,"_meta":{)").append(info).append("}");
  return out.append("}");
}

std::string initialize_params(std::string_view meta) {
  const std::string_view said = value_of(meta, "io.modelcontextprotocol/clientCapabilities");
  const std::string capabilities =
      wire::kept_members(said, [](std::string_view key) { return key != "tasks"; });
  const std::string_view info = value_of(meta, "io.modelcontextprotocol/clientInfo");
  std::string out = R"({"protocolVersion":)" + wire::quoted(wire::kNewestLegacy);
  out.append(R"(,"capabilities":)").append(roots_without_changes(capabilities)).append(R"(,"clientInfo":)");
  // Legacy servers require a name; a modern client need not send one.
  out.append(is_object(info) ? info : R"({"name":"unknown","version":"0"})");
  return out.append("}");
}

std::string modern_result(std::string_view method, std::string_view result,
                          std::string_view initialize_result) {
  const std::optional<std::string> shown =
      method == "tools/list" ? without_tasks(result) : std::optional<std::string>();
  const std::string_view text = shown ? std::string_view(*shown) : result;
  const std::string info = read_server(initialize_result).info;
  Edits edits;
  if (!complete_result(text, {0, text.size()}, method, info, edits)) return std::string(text);
  return edits.applied(text);
}

}  // namespace corral::bridge
