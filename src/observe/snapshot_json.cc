#include "observe/json_parts.h"
#include "observe/snapshot.h"

namespace corral::observe {
namespace {

template <class View>
std::string list_json(const std::vector<View>& views, std::string (*one)(const View&)) {
  std::vector<std::string> pieces;
  pieces.reserve(views.size());
  for (const View& view : views) pieces.push_back(one(view));
  return array_json(pieces);
}

std::string daemon_json(const DaemonView& daemon) {
  return R"({"pid":)" + std::to_string(daemon.pid) + R"(,"version":)" + wire::quoted(daemon.version) +
         R"(,"build":)" + wire::quoted(daemon.build) + R"(,"protocol":)" + std::to_string(daemon.protocol) +
         R"(,"uptime_ms":)" + std::to_string(daemon.uptime.count()) + R"(,"config":)" +
         wire::quoted(daemon.config) + R"(,"config_error":)" + text_or_null(daemon.config_error) +
         R"(,"registry":)" + text_or_null(daemon.registry) + R"(,"degraded":)" +
         text_or_null(daemon.degraded) + "}";
}

std::string health_json(const Health& health) {
  return std::string(R"({"status":)") + (health.healthy ? R"("healthy")" : R"("degraded")") +
         R"(,"reasons":)" + strings_json(health.reasons) + "}";
}

}  // namespace

std::string status_json(const Snapshot& snapshot) {
  return R"({"daemon":)" + daemon_json(snapshot.daemon) + R"(,"health":)" + health_json(health_of(snapshot)) +
         R"(,"http":{"url":)" + text_or_null(snapshot.http_url) + R"(,"unix":)" +
         text_or_null(snapshot.http_unix) + R"(},"servers":)" + list_json(snapshot.servers, server_json) +
         R"(,"instances":)" + list_json(snapshot.instances, instance_json) + R"(,"sessions":)" +
         list_json(snapshot.sessions, session_json) + R"(,"objects":)" +
         (snapshot.objects.empty() ? "[]" : snapshot.objects) + R"(,"counters":{"instances_started":)" +
         std::to_string(snapshot.instances_started) + "}}";
}

std::string servers_json(const Snapshot& snapshot) {
  return R"({"servers":)" + list_json(snapshot.servers, server_json) + "}";
}

std::string instances_json(const Snapshot& snapshot) {
  return R"({"instances":)" + list_json(snapshot.instances, instance_json) + "}";
}

std::string sessions_json(const Snapshot& snapshot) {
  return R"({"sessions":)" + list_json(snapshot.sessions, session_json) + "}";
}

}  // namespace corral::observe
