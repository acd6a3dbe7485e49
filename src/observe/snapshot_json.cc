#include "observe/snapshot.h"
#include "wire/json_writer.h"

namespace corral::observe {
namespace {

using wire::array_of;
using wire::JsonObject;

std::string limits_json(const LimitsView& limits) {
  const bool none = !limits.memory && !limits.processes && !limits.cpu_thousandths && !limits.recycle;
  if (none) return "null";
  return JsonObject()
      .number_or_null("memory", limits.memory)
      .number_or_null("pids", limits.processes)
      .raw("cpu", limits.cpu_thousandths ? wire::decimal_json(*limits.cpu_thousandths / 1000.0) : "null")
      .number_or_null("recycle", limits.recycle)
      .json();
}

std::string process_json(const ProcessView& process) {
  return JsonObject()
      .number("pid", process.pid)
      .number("parent", process.parent)
      .text("name", process.name)
      .text("state", std::string_view(&process.state, 1))
      .number("memory", process.memory)
      .number("cpu_ms", process.cpu.count())
      .number("age_ms", process.age.count())
      .json();
}

std::string usage_json(const std::optional<UsageView>& usage) {
  if (!usage) return "null";
  return JsonObject()
      .number("memory", usage->memory)
      .decimal("cpu", usage->cpu)
      .raw("processes", array_of(usage->processes, process_json))
      .json();
}

std::string server_json(const ServerView& server) {
  return JsonObject()
      .text("name", server.name)
      .flag("disabled", server.disabled)
      .flag("stopped", server.stopped)
      .text_or_null("broken", server.broken)
      .text_or_null("log_file", server.log_file)
      .json();
}

std::string instance_json(const InstanceView& instance) {
  return JsonObject()
      .text("server", instance.server)
      .text("id", instance.id)
      .text_or_null("version", instance.version)
      .number("pid", instance.pid)
      .number("keeper", instance.keeper)
      .text("state", instance.state)
      .text("era", instance.era)
      .text("share", instance.share)
      .text_or_null("root", instance.root)
      .text_or_null("stale", instance.stale)
      .flag("rolls", instance.rolls)
      .text("reason", instance.reason)
      .text("level", instance.level)
      .raw("sessions", array_of(instance.sessions, [](std::uint64_t id) { return std::to_string(id); }))
      .number("calls", instance.calls)
      .number("uptime_ms", instance.uptime.count())
      .raw("limits", limits_json(instance.limits))
      .raw("usage", usage_json(instance.usage))
      .raw("counters", instance.counters.empty() ? "{}" : instance.counters)
      .json();
}

std::string client_json(const SessionView& session) {
  return JsonObject()
      .number("pid", session.client_pid)
      .text("name", session.client_name)
      .text("version", session.client_version)
      .text_or_null("command", session.client_command)
      .text_or_null("root", session.client_root)
      .json();
}

std::string session_json(const SessionView& session) {
  return JsonObject()
      .number("id", session.id)
      .text("server", session.server)
      .raw("client", client_json(session))
      .number("shim", session.shim)
      .text("transport", session.transport)
      .text("state", session.state)
      .text_or_null("object", session.object)
      .text_or_null("instance", session.instance)
      .number("age_ms", session.age.count())
      .number("calls", session.calls)
      .number("messages", session.messages)
      .number("bad_messages", session.bad_messages)
      .number("dropped", session.dropped)
      .json();
}

std::string daemon_json(const DaemonView& daemon) {
  return JsonObject()
      .number("pid", daemon.pid)
      .text("version", daemon.version)
      .text("build", daemon.build)
      .number("protocol", daemon.protocol)
      .number("uptime_ms", daemon.uptime.count())
      .text("config", daemon.config)
      .text_or_null("config_error", daemon.config_error)
      .text_or_null("registry", daemon.registry)
      .text_or_null("degraded", daemon.degraded)
      .json();
}

std::string health_json(const Health& health) {
  return JsonObject()
      .text("status", health.healthy ? "healthy" : "degraded")
      .raw("reasons", wire::array_of_texts(health.reasons))
      .json();
}

}  // namespace

std::string status_json(const Snapshot& snapshot) {
  return JsonObject()
      .raw("daemon", daemon_json(snapshot.daemon))
      .raw("health", health_json(health_of(snapshot)))
      .raw(
          "http",
          JsonObject().text_or_null("url", snapshot.http_url).text_or_null("unix", snapshot.http_unix).json())
      .raw("servers", array_of(snapshot.servers, server_json))
      .raw("instances", array_of(snapshot.instances, instance_json))
      .raw("sessions", array_of(snapshot.sessions, session_json))
      .raw("objects", snapshot.objects.empty() ? "[]" : snapshot.objects)
      .raw("counters", JsonObject().number("instances_started", snapshot.instances_started).json())
      .json();
}

std::string servers_json(const Snapshot& snapshot) {
  return JsonObject().raw("servers", array_of(snapshot.servers, server_json)).json();
}

std::string instances_json(const Snapshot& snapshot) {
  return JsonObject().raw("instances", array_of(snapshot.instances, instance_json)).json();
}

std::string sessions_json(const Snapshot& snapshot) {
  return JsonObject().raw("sessions", array_of(snapshot.sessions, session_json)).json();
}

}  // namespace corral::observe
