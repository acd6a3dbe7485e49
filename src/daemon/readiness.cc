#include "daemon/readiness.h"

#include "wire/json_text.h"

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
  std::string servers;
  std::size_t missing = 0;
  for (const config::Server& server : definitions.configuration().servers) {
    if (server.disabled || server.built_in) continue;
    const std::string why = why_not_ready(server, pool);
    if (!why.empty()) ++missing;
    if (who == nullptr || !who->may_use(server.name)) continue;
    servers += (servers.empty() ? "" : ",") + (R"({"name":)" + wire::quoted(server.name)) + R"(,"ready":)" +
               (why.empty() ? "true" : R"(false,"why":)" + wire::quoted(why)) + "}";
  }
  const bool leaving = shutting_down == ShuttingDown::Yes;
  const std::string& problem = definitions.error();
  Readiness readiness;
  readiness.ready = !leaving && missing == 0 && problem.empty();
  readiness.json = std::string(R"({"status":")") + (readiness.ready ? "ready" : "not ready") + '"';
  if (leaving) readiness.json += R"(,"why":"the daemon is shutting down")";
  const bool unlimited = who != nullptr && who->servers.empty();  // the problem may name any server
  if (unlimited && !problem.empty()) readiness.json += R"(,"configuration":)" + wire::quoted(problem);
  if (who != nullptr) readiness.json += R"(,"servers":[)" + servers + "]";
  readiness.json += "}";
  return readiness;
}

}  // namespace corral::daemon
