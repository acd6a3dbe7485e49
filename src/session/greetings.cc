#include "session/greetings.h"

#include <array>

#include "bridge/legacy_client.h"
#include "bridge/legacy_words.h"
#include "bridge/modern_client.h"
#include "bridge/older_client.h"
#include "router/log_levels.h"
#include "router/tool_list.h"
#include "wire/json_text.h"

namespace corral::session {

using knowledge::Era;
using router::ListKind;

std::string initialize_answer(const std::string& handshake, Era server_era, knowledge::Sharing sharing,
                              std::string_view version, const std::string& server) {
  if (server_era == Era::Modern) return bridge::initialize_result(handshake, std::string(version), server);
  if (sharing == knowledge::Sharing::Private) return bridge::with_list_changes(handshake);
  std::string edited = handshake;
  const wire::Span spoken = wire::member(edited, "protocolVersion");
  if (spoken.present()) edited.replace(spoken.begin, spoken.end - spoken.begin, wire::quoted(version));
  const wire::Span capabilities = wire::member(edited, "capabilities");
  const wire::Span tasks = wire::member_with_comma(capabilities.in(edited), "tasks");
  if (tasks.present()) edited.erase(capabilities.begin + tasks.begin, tasks.end - tasks.begin);
  return bridge::with_list_changes(edited);
}

std::string discover_answer(std::string_view handshake, Era server_era) {
  return server_era == Era::Modern ? std::string(handshake) : bridge::discover_result(handshake);
}

std::string early_greeting(std::string_view version, std::string_view server) {
  return R"({"protocolVersion":)" + wire::quoted(version) +
         R"(,"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},)"
         R"("resources":{"listChanged":true}},"serverInfo":{"name":)" +
         wire::quoted(server) + R"(,"version":"0"}})";
}

std::string restart_news(const std::string& absence) {
  return absence + "; it was restarted, and its state in memory is lost";
}

bool hears_warnings(const router::Standing& standing) {
  const auto level = router::parse_log_level(standing.level);
  return standing.initialized && !(level && *level > router::LogLevel::Warning);
}

std::string warning_message(const std::string& text) {
  return wire::notification_message(
      "notifications/message", R"({"level":"warning","logger":"corral","data":)" + wire::quoted(text) + "}");
}

std::string_view empty_list(ListKind kind) {
  constexpr std::array<std::string_view, router::kListKinds> kEmpty = {
      R"({"tools":[]})", R"({"prompts":[]})", R"({"resources":[]})", R"({"resourceTemplates":[]})"};
  return kEmpty[static_cast<std::size_t>(kind)];
}

std::string list_answer(ListKind kind, std::string_view method, std::string_view result,
                        const ListContext& context) {
  const Era client = context.client.era;
  const std::string& version = context.client.version;
  std::string text(result);
  if (kind == ListKind::Tools && context.allows_tool) text = router::without_tools(text, context.allows_tool);
  if (client == Era::Modern && context.server_era == Era::Legacy) {
    text = bridge::modern_result(method, text, context.handshake);
  }
  if (client == Era::Legacy && context.server_era == Era::Modern) {
    text = bridge::legacy_result(method, text, version);
  }
  // A private server knows the revision of its client and follows it.
  const bool may_be_newer = client == Era::Legacy && context.server_era == Era::Legacy && context.shared;
  if (may_be_newer) text = bridge::in_older_words(method, text, version);
  return text;
}

}  // namespace corral::session
