// The handshake part of legacy_client.h and legacy_words.h: how a server is described to a legacy client, and
// a client to a modern server.
#include <functional>
#include <optional>
#include <string>

#include "bridge/legacy_client.h"
#include "bridge/legacy_words.h"
#include "wire/envelope.h"
#include "wire/json_text.h"
#include "wire/revisions.h"

namespace corral::bridge {

namespace {

constexpr std::string_view kTasks = "io.modelcontextprotocol/tasks";

/// The object with each value replaced by the result of `rewritten`; empty = leave the member out.
std::string rewrite(std::string_view object,
                    const std::function<std::optional<std::string>(std::string_view key,
                                                                   std::string_view value)>& rewritten) {
  std::string out = "{";
  wire::each_member(object, [&](std::string_view key, wire::Member member) {
    const std::optional<std::string> value = rewritten(key, member.value.in(object));
    if (!value) return;
    if (out.size() > 1) out += ",";
    out.append(member.key.in(object)).append(":").append(*value);
  });
  return out + "}";
}

std::string without(std::string_view object, std::string_view unwanted) {
  return wire::kept_members(object, [unwanted](std::string_view key) { return key != unwanted; });
}

std::string legacy_server_capabilities(std::string_view modern, std::string_view version) {
  const bool extensions = wire::legacy_revision(version).extensions;
  return rewrite(modern, [extensions](std::string_view key, std::string_view value) {
    std::optional<std::string> kept;
    if (has_lists(key)) {
      if (wire::is_object(value)) kept = with_list_changed(value);  // otherwise the server has none
    } else if (key == "extensions") {
      if (extensions) kept = without(value, kTasks);
    } else if (key != "tasks") {
      kept = value;
    }
    return kept;
  });
}

std::string legacy_server_info(std::string_view discover_result, std::string_view server) {
  const std::string_view meta = wire::member(discover_result, "_meta").in(discover_result);
  const std::string_view info = wire::member(meta, "io.modelcontextprotocol/serverInfo").in(meta);
  if (wire::string_member(info, "name") && wire::string_member(info, "version")) return std::string(info);
  return R"({"name":)" + wire::quoted(server) + R"(,"version":"0"})";
}

/// Removes elicitation by URL for revisions that do not have it.
std::optional<std::string> modern_elicitation(std::string_view declared, std::string_view version) {
  if (!wire::is_object(declared)) return std::nullopt;
  return wire::legacy_revision(version).url_elicitation ? std::string(declared) : without(declared, "url");
}

/// Every request to the server carries the client's description; real ones need a small part of this.
constexpr std::size_t kLongestInMeta = std::size_t{64} << 10;

/// The nesting depth of a message is limited, and this is one level deeper there than in initialize.
bool fits_into_meta(std::string_view json) {
  if (json.size() > kLongestInMeta) return false;
  const std::string message = wire::notification_message("m", R"({"_meta":{"m":)" + std::string(json) + "}}");
  return wire::scan(message).kind == wire::Kind::Notification;
}

std::string all_capabilities(std::string_view initialize_params) {
  const std::string_view version = spoken_version(initialize_params);
  const std::string_view declared = wire::member(initialize_params, "capabilities").in(initialize_params);
  return rewrite(declared, [version](std::string_view key, std::string_view value) {
    std::optional<std::string> kept;
    if (key == "roots") {
      if (wire::is_object(value)) kept = "{}";
    } else if (key == "elicitation") {
      kept = modern_elicitation(value, version);
    } else if (key == "extensions") {
      kept = without(value, kTasks);
    } else if (key != "tasks" && (key != "sampling" || wire::is_object(value))) {
      kept = value;
    }
    return kept;
  });
}

}  // namespace

std::string_view spoken_version(std::string_view initialize_params) {
  const std::optional<std::string> asked = wire::string_member(initialize_params, "protocolVersion");
  return wire::legacy_revision(asked.value_or("")).date;
}

std::string modern_capabilities(std::string_view initialize_params) {
  std::string capabilities = all_capabilities(initialize_params);
  return fits_into_meta(capabilities) ? capabilities : "{}";
}

std::string initialize_result(std::string_view discover_result, std::string_view version,
                              std::string_view server) {
  const std::string_view capabilities = wire::member(discover_result, "capabilities").in(discover_result);
  std::string out = R"({"protocolVersion":)" + wire::quoted(version);
  out += R"(,"capabilities":)" + legacy_server_capabilities(capabilities, version);
  out += R"(,"serverInfo":)" + legacy_server_info(discover_result, server);
  const std::string_view instructions = wire::member(discover_result, "instructions").in(discover_result);
  if (wire::string_value(instructions)) out.append(R"(,"instructions":)").append(instructions);
  return out + "}";
}

std::string modern_meta(std::string_view initialize_params, std::string_view level) {
  std::string out = R"("io.modelcontextprotocol/protocolVersion":)" + wire::quoted(wire::kModern);
  const std::string_view info = wire::member(initialize_params, "clientInfo").in(initialize_params);
  if (wire::is_object(info) && fits_into_meta(info)) {
    out.append(R"(,"io.modelcontextprotocol/clientInfo":)").append(info);
  }
  out += R"(,"io.modelcontextprotocol/clientCapabilities":)" + modern_capabilities(initialize_params);
  if (!level.empty()) out += R"(,"io.modelcontextprotocol/logLevel":)" + wire::quoted(level);
  return out;
}

}  // namespace corral::bridge
