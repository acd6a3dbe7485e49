#include "daemon/readiness.h"

#include "control/hello.h"
#include "wire/json_writer.h"

namespace corral::daemon {
namespace {

/// Why this server cannot be used now; empty if it can.
std::string why_not_ready(const config::Server& server, const pool::Pool& pool) {
  if (pool.stopped().contains(server.name)) {
    return "stopped by the user: `corral start " + server.name + "` allows it to start again";
  }
  for (const pool::Slot& slot : pool.slots()) {
    if (slot.spec().server == server.name && slot.life() == pool::Life::Broken) {
      return "died too often: `corral status` shows more, `corral restart " + server.name + "` tries again";
    }
  }
  return "";
}

}  // namespace

Readiness readiness_of(const ServerDefinitions& definitions, const pool::Pool& pool,
                       ShuttingDown shutting_down, const http::Principal* who) {
  wire::JsonArray servers;
  std::size_t missing = 0;
  for (const config::Server& server : definitions.configuration().servers) {
    if (server.disabled || server.built_in) continue;
    const std::string why = why_not_ready(server, pool);
    if (!why.empty()) ++missing;
    if (who == nullptr || !who->may_use(server.name)) continue;
    wire::JsonObject one;
    one.text("name", server.name).flag("ready", why.empty());
    if (!why.empty()) one.text("why", why);
    servers.raw(one.json());
  }
  const bool leaving = shutting_down == ShuttingDown::Yes;
  const std::string& problem = definitions.error();
  Readiness readiness;
  readiness.ready = !leaving && missing == 0 && problem.empty();
  wire::JsonObject json;
  json.text("status", readiness.ready ? "ready" : "not ready");
  if (leaving) json.text("why", control::kShuttingDown);
  const bool unlimited = who != nullptr && who->servers.empty();  // the problem may name any server
  if (unlimited && !problem.empty()) json.text("configuration", problem);
  if (who != nullptr) json.raw("servers", servers.json());
  readiness.json = json.json();
  return readiness;
}

}  // namespace corral::daemon
