#include "observe/json_parts.h"

#include <charconv>
#include <cmath>

namespace corral::observe {
namespace {

std::string limits_json(const LimitsView& limits) {
  const bool none = !limits.memory && !limits.processes && !limits.cpu_thousandths && !limits.recycle;
  if (none) return "null";
  return R"({"memory":)" + number_or_null(limits.memory) + R"(,"pids":)" + number_or_null(limits.processes) +
         R"(,"cpu":)" + (limits.cpu_thousandths ? decimal_json(*limits.cpu_thousandths / 1000.0) : "null") +
         R"(,"recycle":)" + number_or_null(limits.recycle) + "}";
}

std::string process_json(const ProcessView& process) {
  return R"({"pid":)" + std::to_string(process.pid) + R"(,"parent":)" + std::to_string(process.parent) +
         R"(,"name":)" + wire::quoted(process.name) + R"(,"state":)" +
         wire::quoted(std::string_view(&process.state, 1)) + R"(,"memory":)" +
         std::to_string(process.memory) + R"(,"cpu_ms":)" + std::to_string(process.cpu.count()) +
         R"(,"age_ms":)" + std::to_string(process.age.count()) + "}";
}

std::string usage_json(const std::optional<UsageView>& usage) {
  if (!usage) return "null";
  std::vector<std::string> processes;
  processes.reserve(usage->processes.size());
  for (const ProcessView& process : usage->processes) processes.push_back(process_json(process));
  return R"({"memory":)" + std::to_string(usage->memory) + R"(,"cpu":)" + decimal_json(usage->cpu) +
         R"(,"processes":)" + array_json(processes) + "}";
}

}  // namespace

std::string decimal_json(double number) {
  if (!std::isfinite(number)) return "0";
  char text[400];  // the largest double has 309 digits
  const auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed, 3);
  if (end.ec != std::errc()) return "0";
  std::string json(text, end.ptr);
  while (json.back() == '0') json.pop_back();
  if (json.back() == '.') json.pop_back();
  return json == "-0" ? "0" : json;
}

std::string array_json(const std::vector<std::string>& pieces) {
  std::string json = "[";
  for (const std::string& piece : pieces) json += (json.size() == 1 ? "" : ",") + piece;
  return json + "]";
}

std::string strings_json(const std::vector<std::string>& texts) {
  std::vector<std::string> pieces;
  pieces.reserve(texts.size());
  for (const std::string& text : texts) pieces.push_back(wire::quoted(text));
  return array_json(pieces);
}

std::string server_json(const ServerView& server) {
  return R"({"name":)" + wire::quoted(server.name) + R"(,"disabled":)" + flag_json(server.disabled) +
         R"(,"stopped":)" + flag_json(server.stopped) + R"(,"broken":)" + text_or_null(server.broken) +
         R"(,"log_file":)" + text_or_null(server.log_file) + "}";
}

std::string instance_json(const InstanceView& instance) {
  std::vector<std::string> sessions;
  sessions.reserve(instance.sessions.size());
  for (const std::uint64_t session : instance.sessions) sessions.push_back(std::to_string(session));
  return R"({"server":)" + wire::quoted(instance.server) + R"(,"id":)" + wire::quoted(instance.id) +
         R"(,"version":)" + text_or_null(instance.version) + R"(,"pid":)" + std::to_string(instance.pid) +
         R"(,"keeper":)" + std::to_string(instance.keeper) + R"(,"state":)" + wire::quoted(instance.state) +
         R"(,"era":)" + wire::quoted(instance.era) + R"(,"share":)" + wire::quoted(instance.share) +
         R"(,"root":)" + text_or_null(instance.root) + R"(,"stale":)" + text_or_null(instance.stale) +
         R"(,"rolls":)" + flag_json(instance.rolls) + R"(,"reason":)" + wire::quoted(instance.reason) +
         R"(,"level":)" + wire::quoted(instance.level) + R"(,"sessions":)" + array_json(sessions) +
         R"(,"calls":)" + std::to_string(instance.calls) + R"(,"uptime_ms":)" +
         std::to_string(instance.uptime.count()) + R"(,"limits":)" + limits_json(instance.limits) +
         R"(,"usage":)" + usage_json(instance.usage) + R"(,"counters":)" +
         (instance.counters.empty() ? "{}" : instance.counters) + "}";
}

std::string session_json(const SessionView& session) {
  return R"({"id":)" + std::to_string(session.id) + R"(,"server":)" + wire::quoted(session.server) +
         R"(,"client":{"pid":)" + std::to_string(session.client_pid) + R"(,"name":)" +
         wire::quoted(session.client_name) + R"(,"version":)" + wire::quoted(session.client_version) +
         R"(,"command":)" + text_or_null(session.client_command) + R"(,"root":)" +
         text_or_null(session.client_root) + R"(},"shim":)" + std::to_string(session.shim) +
         R"(,"transport":)" + wire::quoted(session.transport) + R"(,"state":)" + wire::quoted(session.state) +
         R"(,"object":)" + text_or_null(session.object) + R"(,"instance":)" + text_or_null(session.instance) +
         R"(,"age_ms":)" + std::to_string(session.age.count()) + R"(,"calls":)" +
         std::to_string(session.calls) + R"(,"messages":)" + std::to_string(session.messages) +
         R"(,"bad_messages":)" + std::to_string(session.bad_messages) + R"(,"dropped":)" +
         std::to_string(session.dropped) + "}";
}

}  // namespace corral::observe
