// The members of the status, object by object: their names in JSON, their order, and where their values are.
// The writer (snapshot_json.cc) and the reader (snapshot_reader.cc) both follow these lists, so a new member
// is a line here and one in snapshot.h. docs/api-schema.json describes the same members for other programs.
//
// A visitor is called with a name and a member of the view, const for a writer. It also has
//   or_null(name, member)             null instead of an empty value
//   unless_empty(name, member)        nothing at all instead of an empty value
//   either(name, flag, yes, no)       one of two words
#pragma once

#include <concepts>
#include <type_traits>

#include "observe/snapshot.h"

namespace corral::observe {

/// `View` or `const View`.
template <class T, class View>
concept ViewOf = std::same_as<std::remove_const_t<T>, View>;

/// One of `instances[].usage.processes`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<ProcessView> auto& process) {
  visit("pid", process.pid);
  visit("parent", process.parent);
  visit("name", process.name);
  visit("state", process.state);
  visit("memory", process.memory);
  visit("cpu_ms", process.cpu);
  visit("age_ms", process.age);
}

/// `instances[].usage`; null if nothing was measured.
template <class Visitor>
void fields(Visitor& visit, ViewOf<UsageView> auto& usage) {
  visit("memory", usage.memory);
  visit("cpu", usage.cpu);
  visit("processes", usage.processes);
}

/// `instances[].limits`; null if there are none.
template <class Visitor>
void fields(Visitor& visit, ViewOf<LimitsView> auto& limits) {
  visit("memory", limits.memory);
  visit("pids", limits.processes);
  visit("cpu", limits.cpu);
  visit("recycle", limits.recycle);
}

/// `instances[].counters`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<CountersView> auto& counters) {
  visit("calls", counters.calls);
  visit("answers", counters.answers);
  visit("unknown_answers", counters.unknown_answers);
  visit("late_answers", counters.late_answers);
  visit("lost_answers", counters.lost_answers);
  visit("timeouts", counters.timeouts);
  visit("dropped_news", counters.dropped_news);
  visit("dropped_log_lines", counters.dropped_log_lines);
  visit("kept_error_bytes", counters.kept_error_bytes);
  visit("misleading", counters.misleading);
  visit("refused_questions", counters.refused_questions);
  visit("dropped_lines", counters.dropped_lines);
  visit("dropped_bytes", counters.dropped_bytes);
  visit("stderr_bytes", counters.stderr_bytes);
}

/// One of `instances`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<InstanceView> auto& instance) {
  visit("server", instance.server);
  visit("id", instance.id);
  visit.or_null("version", instance.version);
  visit("pid", instance.pid);
  visit("keeper", instance.keeper);
  visit("state", instance.state);
  visit("era", instance.era);
  visit("share", instance.share);
  visit.or_null("root", instance.root);
  visit.or_null("stale", instance.stale);
  visit("rolls", instance.rolls);
  visit("reason", instance.reason);
  visit.or_null("separate", instance.separate);
  visit("differs", instance.differs);
  visit.or_null("hint", instance.hint);
  visit.or_null("unattended", instance.unattended);
  visit("level", instance.level);
  visit("sessions", instance.sessions);
  visit("calls", instance.calls);
  visit("uptime_ms", instance.uptime);
  visit("ends_in_ms", instance.ends_in);
  visit.or_null("limits", instance.limits);
  visit("usage", instance.usage);
  visit("counters", instance.counters);
}

/// `sessions[].client`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<ClientView> auto& client) {
  visit("pid", client.pid);
  visit("name", client.name);
  visit("version", client.version);
  visit.or_null("command", client.command);
  visit.or_null("root", client.root);
}

/// One of `sessions`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<SessionView> auto& session) {
  visit("id", session.id);
  visit("server", session.server);
  visit("client", session.client);
  visit("shim", session.shim);
  visit("transport", session.transport);
  visit("state", session.state);
  visit.or_null("object", session.object);
  visit.or_null("instance", session.instance);
  visit("age_ms", session.age);
  visit("unattended_ms", session.unattended);
  visit("calls", session.calls);
  visit("messages", session.messages);
  visit("bad_messages", session.bad_messages);
  visit("dropped", session.dropped);
}

/// One of `objects[].attached`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<AttachedView> auto& attached) {
  visit("server", attached.server);
  visit("client_pid", attached.client_pid);
  visit("state", attached.state);
  visit.unless_empty("instance", attached.instance);
}

/// One of `objects`, and of `sessions` in the answer to `session-list`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<SessionObjectView> auto& object) {
  visit("id", object.id);
  visit("state", object.state);
  visit("servers", object.servers);
  visit("attached", object.attached);
  visit("owner", object.owner);
  visit("ttl_ms", object.ttl);
  visit("age_ms", object.age);
  visit("silent_ms", object.silent);
}

/// One of `servers`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<ServerView> auto& server) {
  visit("name", server.name);
  visit("disabled", server.disabled);
  visit("stopped", server.stopped);
  visit.or_null("broken", server.broken);
  visit.or_null("log_file", server.log_file);
  visit.unless_empty("about", server.about);
  visit.unless_empty("place", server.place);
}

/// `daemon`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<DaemonView> auto& daemon) {
  visit("pid", daemon.pid);
  visit("version", daemon.version);
  visit("build", daemon.build);
  visit("protocol", daemon.protocol);
  visit("uptime_ms", daemon.uptime);
  visit("config", daemon.config);
  visit.or_null("config_error", daemon.config_error);
  visit.or_null("registry", daemon.registry);
  visit.or_null("degraded", daemon.degraded);
  visit.or_null("program", daemon.program);
  visit("program_replaced", daemon.program_replaced);
}

/// `health`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<Health> auto& health) {
  visit.either("status", health.healthy, "healthy", "degraded");
  visit("reasons", health.reasons);
}

/// `http`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<HttpView> auto& http) {
  visit.or_null("url", http.url);
  visit.or_null("unix", http.unix_path);
}

/// One of `failures`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<FailureView> auto& failure) {
  visit("server", failure.server);
  visit("kind", failure.kind);
  visit("text", failure.text);
  visit("stderr", failure.error_lines);
  visit("age_ms", failure.age);
}

/// `counters`.
template <class Visitor>
void fields(Visitor& visit, ViewOf<TotalsView> auto& totals) {
  visit("instances_started", totals.instances_started);
  visit("failed_starts", totals.failed_starts);
  visit("refusals", totals.refusals);
  visit("crashes", totals.crashes);
}

/// The whole status.
template <class Visitor>
void fields(Visitor& visit, ViewOf<Snapshot> auto& snapshot) {
  visit("daemon", snapshot.daemon);
  visit("health", snapshot.health);
  visit("http", snapshot.http);
  visit("servers", snapshot.servers);
  visit("instances", snapshot.instances);
  visit("sessions", snapshot.sessions);
  visit("objects", snapshot.objects);
  visit("failures", snapshot.failures);
  visit("counters", snapshot.counters);
}

/// What a visitor does with a member depends on its type.
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = std::is_same_v<T, About>;

}  // namespace corral::observe
