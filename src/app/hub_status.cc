#include "app/hub_status.h"

#include <unistd.h>

#include "control/hello.h"
#include "version.h"
#include "wire/json_text.h"

namespace corral::app {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string ms_since(Clock::time_point then) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - then).count());
}

const char* state_of(const router::Place& place) {
  if (place.life != server::Life::Ready) return server::life_name(place.life);
  if (place.router->unhealthy()) return "unhealthy";
  if (!place.spare_for.empty()) return "spare";
  return place.router->sessions().empty() ? "idle" : "ready";
}

/// Of one that is not open yet: the one that is being tried.
const char* era_of(const router::Router& router) {
  return router.instance()->handshake().era() == server::Era::Modern ? "modern" : "legacy";
}

const char* share_of(const router::Place& place) {
  if (!place.router->options().shared) return "session";
  return place.wanted->share == config::Share::Root ? "root" : "shared";
}

std::string counters_of(const router::Router& router) {
  const router::RouterCounters& c = router.counters();
  const server::Instance::Counters& i = router.instance()->counters();
  return R"({"calls":)" + number(c.calls) + R"(,"answers":)" + number(c.answers) + R"(,"unknown_answers":)" +
         number(c.unknown_answers) + R"(,"late_answers":)" + number(c.late_answers) + R"(,"lost_answers":)" +
         number(c.lost_answers) + R"(,"timeouts":)" + number(c.timeouts) + R"(,"dropped_news":)" +
         number(c.dropped_news) + R"(,"dropped_log_lines":)" + number(c.dropped_log_lines) +
         R"(,"refused_questions":)" + number(c.refused_questions) + R"(,"dropped_lines":)" +
         number(i.lines_dropped) + R"(,"dropped_bytes":)" + number(i.bytes_dropped) + R"(,"stderr_bytes":)" +
         number(router.instance()->error_output_bytes()) + "}";
}

std::string instance_json(const router::Place& entry) {
  const router::Router& router = *entry.router;
  const server::Instance& instance = *router.instance();
  std::string sessions;
  for (const router::SessionPort* port : router.sessions()) {
    sessions += (sessions.empty() ? "" : ",") + number(port->session());
  }
  return R"({"server":)" + wire::quoted(entry.wanted->server) + R"(,"id":)" + wire::quoted(instance.id()) +
         R"(,"pid":)" + std::to_string(instance.server_pid()) + R"(,"keeper":)" +
         std::to_string(instance.keeper()) + R"(,"state":")" + state_of(entry) + R"(","era":")" +
         era_of(router) + R"(","share":")" + share_of(entry) + R"(","root":)" +
         (entry.wanted->root.empty() ? "null" : wire::quoted(entry.wanted->root)) + R"(,"stale":)" +
         (entry.stale.empty() ? "null" : wire::quoted(entry.stale)) + R"(,"rolls":)" +
         (entry.wanted->on_change == config::OnChange::Roll ? "true" : "false") + R"(,"reason":)" +
         wire::quoted(entry.decision.reason) + R"(,"level":)" + wire::quoted(instance.level()) +
         R"(,"sessions":[)" + sessions + R"(],"calls":)" + number(router.calls()) + R"(,"uptime_ms":)" +
         ms_since(instance.started()) + R"(,"counters":)" + counters_of(router) + "}";
}

std::string session_json(const Guest& guest) {
  const session::Session& session = guest.session();
  const std::string& info = session.client_info();
  const auto text = [&info](std::string_view key) {
    return wire::quoted(wire::string_value(wire::member(info, key).in(info)).value_or(""));
  };
  const router::Router* router = session.router();
  return R"({"id":)" + number(session.id()) + R"(,"server":)" + wire::quoted(session.server()) +
         R"(,"client":{"pid":)" + std::to_string(guest.client_pid()) + R"(,"name":)" + text("name") +
         R"(,"version":)" + text("version") + R"(},"shim":)" + std::to_string(guest.shim_pid()) +
         R"(,"transport":")" + guest.transport + R"(","state":")" + session.state() + R"(","object":)" +
         (session.owner().empty() ? "null" : wire::quoted(session.owner())) + R"(,"instance":)" +
         (router != nullptr ? wire::quoted(router->instance()->id()) : "null") + R"(,"age_ms":)" +
         ms_since(session.since()) + R"(,"calls":)" +
         number(router != nullptr ? router->calls_of(session) : 0) + R"(,"messages":)" +
         number(session.counters().messages) + R"(,"bad_messages":)" +
         number(session.counters().bad_messages) + "}";
}

}  // namespace

std::string status_json(const HubView& view) {
  std::string instances;
  for (const router::Place& entry : view.switchboard.places()) {
    if (entry.router) instances += (instances.empty() ? "" : ",") + instance_json(entry);
  }
  std::string sessions;
  for (const Guest& guest : view.guests) sessions += (sessions.empty() ? "" : ",") + session_json(guest);
  std::string servers;
  for (const auto& server : view.configuration.servers) {
    servers += (servers.empty() ? "" : ",") + (R"({"name":)" + wire::quoted(server.name)) +
               R"(,"disabled":)" + (server.disabled ? "true" : "false") + R"(,"stopped":)" +
               (view.switchboard.stopped().contains(server.name) ? "true" : "false") + "}";
  }
  return R"({"daemon":{"pid":)" + std::to_string(getpid()) + R"(,"version":")" + kVersion + R"(","build":")" +
         kBuildDate + R"(","protocol":)" + std::to_string(control::kProtocol) + R"(,"uptime_ms":)" +
         ms_since(view.started) + R"(,"config":)" + wire::quoted(view.configuration.file) +
         R"(,"config_error":)" +
         (view.configuration_error.empty() ? "null" : wire::quoted(view.configuration_error)) +
         R"(},"http":{"url":)" + (view.http_url.empty() ? "null" : wire::quoted(view.http_url)) +
         R"(,"unix":)" + (view.http_unix.empty() ? "null" : wire::quoted(view.http_unix)) +
         R"(},"servers":[)" + servers + R"(],"instances":[)" + instances + R"(],"sessions":[)" + sessions +
         R"(],"objects":)" + view.owned.list_json() + R"(,"counters":{"instances_started":)" +
         number(view.switchboard.started()) + "}}";
}

}  // namespace corral::app
