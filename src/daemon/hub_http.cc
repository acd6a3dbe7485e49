// Those who come by HTTP: no pipe, no shim, no environment of their own.
#include <unistd.h>

#include <cstdlib>

#include "base/paths.h"
#include "daemon/http_root.h"
#include "daemon/hub_impl.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::daemon {
namespace {

Environment own_environment() {
  Environment environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  return environment;
}

/// A client that comes by URL stands nowhere; its servers stand where the user does.
std::string home_folder() {
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? home : "/";
}

/// Why this server cannot be had now; empty if it can.
std::string why_not_ready(const config::Server& server, const pool::Pool& pool) {
  if (pool.stopped().contains(server.name)) {
    return "stopped by the user: `corral start " + server.name + "` allows it again";
  }
  for (const pool::Slot& slot : pool.slots()) {
    if (slot.spec().server == server.name && slot.life() == pool::Life::Broken) {
      return "died too often: `corral status` tells more, `corral restart " + server.name + "` tries again";
    }
  }
  return "";
}

}  // namespace

void Hub::serve_alone(std::vector<std::string> argv, std::string cwd, std::vector<std::string> environment) {
  impl_->alone.server = base_name(argv.front());
  impl_->alone.argv = std::move(argv);
  impl_->alone.cwd = std::move(cwd);
  impl_->alone.environment = impl_->environments.keep(std::move(environment));
}

const std::string& Hub::only_server() const { return impl_->alone.server; }

void Hub::reached_at(std::string url, std::string unix_path) {
  impl_->http_url = std::move(url);
  impl_->http_unix = std::move(unix_path);
}

Result<Origin> Hub::Impl::origin_of(const transport::HttpArrival& arrival) {
  Origin origin;
  if (!alone.argv.empty() && arrival.server == alone.server) origin = alone;
  origin.server = arrival.server;
  if (!origin.environment) origin.environment = environments.keep(own_environment());
  if (origin.cwd.empty()) origin.cwd = home_folder();
  if (arrival.principal != "user") origin.principal = arrival.principal;
  const auto root = root_for(arrival, configuration.find(arrival.server));
  if (const auto* const refusal = std::get_if<transport::HttpRefusal>(&root)) return Error{refusal->message};
  if (std::get<std::string>(root).empty()) return origin;
  Result<std::string> folder = project_folder(std::get<std::string>(root));
  if (!folder) return folder.error();
  origin.root = *folder;
  origin.cwd = std::move(*folder);
  return origin;
}

std::variant<std::unique_ptr<session::Session>, transport::HttpRefusal> Hub::open(
    const transport::HttpArrival& arrival, session::Transport& transport) {
  if (impl_->draining) {
    return transport::HttpRefusal{503, wire::kShuttingDown, "the daemon is shutting down", "", ""};
  }
  const Result<Origin> origin = impl_->origin_of(arrival);
  if (!origin) {
    impl_->tell_refused(arrival.server, "root", origin.error().message, 0, arrival.principal);
    const auto root = root_for(arrival, impl_->configuration.find(arrival.server));
    if (const auto* const refusal = std::get_if<transport::HttpRefusal>(&root)) return *refusal;
    return transport::HttpRefusal{400, wire::kInvalidRequest, origin.error().message, "", ""};
  }
  auto wanted = impl_->wanted(*origin);
  if (!wanted) impl_->tell_refused("", "server", wanted.error().message, 0, arrival.principal);
  if (!wanted) return transport::HttpRefusal{404, wire::kServerLost, wanted.error().message, "", ""};
  auto session = std::make_unique<session::Session>(impl_->loop, impl_->session_ids.next(), transport,
                                                    impl_->pool, std::move(*wanted));
  Guest& guest = impl_->guests.emplace_back();
  guest.origin = *origin;
  guest.by_http = session.get();
  guest.arrival = arrival;
  guest.transport = arrival.transport == "sse" ? "sse" : "http";
  impl_->seat(std::prev(impl_->guests.end()));
  return session;
}

std::optional<transport::HttpRefusal> Hub::objection(const transport::HttpArrival& arrival) {
  return impl_->objection(arrival);
}

/// The user may name any folder.
std::optional<transport::HttpRefusal> Hub::Impl::objection(const transport::HttpArrival& arrival) const {
  if (arrival.principal == "user") return std::nullopt;
  auto root = root_for(arrival, configuration.find(arrival.server));
  if (auto* const refusal = std::get_if<transport::HttpRefusal>(&root)) return std::move(*refusal);
  return std::nullopt;
}

Account& Hub::account(const std::string& principal) { return impl_->shares.account(principal); }

void Hub::session_over(session::Session& session) { impl_->forget(session); }

void Hub::bound(session::Session& session, pid_t process) {
  const auto seat = impl_->seats.find(&session);
  if (seat != impl_->seats.end()) seat->second->bound = process;
}

bool Hub::would_be_private(const transport::HttpArrival& arrival) {
  const Result<Origin> origin = impl_->origin_of(arrival);
  if (!origin) return false;
  const auto wanted = impl_->wanted(*origin);
  return wanted && !impl_->pool.would_share({*wanted, "", std::nullopt});
}

Hub::Readiness Hub::readiness(const http::Principal* who) const {
  std::string servers;
  std::size_t missing = 0;
  for (const config::Server& server : impl_->configuration.servers) {
    if (server.disabled || server.built_in) continue;
    const std::string why = why_not_ready(server, impl_->pool);
    if (!why.empty()) ++missing;
    if (who == nullptr || !who->may_use(server.name)) continue;
    servers += (servers.empty() ? "" : ",") + (R"({"name":)" + wire::quoted(server.name)) + R"(,"ready":)" +
               (why.empty() ? "true" : R"(false,"why":)" + wire::quoted(why)) + "}";
  }
  const std::string& problem = impl_->configuration_error;
  Readiness readiness;
  readiness.ready = !impl_->draining && missing == 0 && problem.empty();
  readiness.json = std::string(R"({"status":")") + (readiness.ready ? "ready" : "not ready") + '"';
  if (impl_->draining) readiness.json += R"(,"why":"the daemon is shutting down")";
  const bool unlimited = who != nullptr && who->servers.empty();  // the problem may name any server
  if (unlimited && !problem.empty()) readiness.json += R"(,"configuration":)" + wire::quoted(problem);
  if (who != nullptr) readiness.json += R"(,"servers":[)" + servers + "]";
  readiness.json += "}";
  return readiness;
}

}  // namespace corral::daemon
