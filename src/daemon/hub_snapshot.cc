// The state of the hub as values.
#include <unistd.h>

#include <utility>

#include "control/hello.h"
#include "daemon/hub_impl.h"
#include "knowledge/server_version.h"
#include "version.h"
#include "wire/json_text.h"

namespace corral::daemon {
namespace {

using std::chrono::milliseconds;

std::string number(std::uint64_t value) { return std::to_string(value); }

milliseconds elapsed(Clock::time_point then) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - then);
}

const char* state_of(const pool::Slot& slot) {
  if (slot.life() != pool::Life::Ready) return pool::life_name(slot.life());
  if (slot.router()->unhealthy()) return "unhealthy";
  if (!slot.spare_for().empty()) return "spare";
  return slot.router()->sessions().empty() ? "idle" : "ready";
}

/// Of one that is not open yet: the one that is being tried.
const char* era_of(const router::Router& router) {
  return router.instance()->handshake().era() == knowledge::Era::Modern ? "modern" : "legacy";
}

const char* share_of(const pool::Slot& slot) {
  if (!slot.router()->options().shared) return "session";
  return slot.spec().share == config::Share::Root ? "root" : "shared";
}

std::string counters_of(const router::Router& router) {
  const router::RouterCounters& c = router.counters();
  const instance::Instance::Counters& i = router.instance()->counters();
  return R"({"calls":)" + number(c.calls) + R"(,"answers":)" + number(c.answers) + R"(,"unknown_answers":)" +
         number(c.unknown_answers) + R"(,"late_answers":)" + number(c.late_answers) + R"(,"lost_answers":)" +
         number(c.lost_answers) + R"(,"timeouts":)" + number(c.timeouts) + R"(,"dropped_news":)" +
         number(c.dropped_news) + R"(,"dropped_log_lines":)" + number(c.dropped_log_lines) +
         R"(,"kept_error_bytes":)" + number(c.kept_error_bytes) + R"(,"misleading":)" + number(c.misleading) +
         R"(,"refused_questions":)" + number(c.refused_questions) + R"(,"dropped_lines":)" +
         number(i.lines_dropped) + R"(,"dropped_bytes":)" + number(i.bytes_dropped) + R"(,"stderr_bytes":)" +
         number(router.instance()->error_output_bytes()) + "}";
}

std::string version_of(const instance::Instance& instance) {
  const instance::Handshake& handshake = instance.handshake();
  if (handshake.outcome() != instance::Handshake::Outcome::Ready) return {};
  return knowledge::version_in(handshake.result());
}

observe::InstanceView view_of(const pool::Slot& slot, const observe::Usage* usage) {
  const router::Router& router = *slot.router();
  const instance::Instance& instance = *router.instance();
  const pool::ServerSpec& wanted = slot.spec();
  observe::InstanceView view;
  view.server = wanted.server;
  view.id = instance.id().text();
  view.version = version_of(instance);
  view.pid = instance.server_pid();
  view.keeper = instance.keeper();
  view.state = state_of(slot);
  view.era = era_of(router);
  view.share = share_of(slot);
  view.root = wanted.root;
  view.stale = slot.stale();
  view.rolls = wanted.on_change == config::OnChange::Roll;
  view.reason = slot.decision().reason;
  view.level = instance.level();
  for (const auto& [session, port] : router.sessions()) view.sessions.push_back(session.value());
  view.calls = router.calls();
  view.uptime = elapsed(instance.started());
  view.limits = {wanted.launch.limits.memory_bytes, wanted.launch.limits.processes,
                 wanted.launch.limits.cpu_thousandths, wanted.recycle};
  view.counters = counters_of(router);
  if (usage == nullptr) return view;
  if (const auto tree = usage->trees.find(view.keeper); tree != usage->trees.end()) view.usage = tree->second;
  return view;
}

observe::SessionView view_of(const Guest& guest, const observe::Usage* usage) {
  const session::Session& session = guest.session();
  const std::string& info = session.client_info();
  const router::Router* router = session.router();
  observe::SessionView view;
  view.id = session.id().value();
  view.server = session.server();
  view.client_pid = guest.client_pid();
  view.client_name = wire::string_member(info, "name").value_or("");
  view.client_version = wire::string_member(info, "version").value_or("");
  view.client_root = guest.origin.root.empty() ? guest.origin.cwd : guest.origin.root;
  view.shim = guest.shim_pid();
  view.transport = guest.transport;
  view.state = session.state();
  view.object = session.owner();
  if (router != nullptr) view.instance = router->instance()->id().text();
  view.age = elapsed(session.since());
  view.calls = router != nullptr ? router->calls_of(session) : 0;
  view.messages = session.counters().messages;
  view.bad_messages = session.counters().bad_messages;
  view.dropped = session.dropped();
  if (usage == nullptr) return view;
  if (const auto client = usage->clients.find(view.client_pid); client != usage->clients.end()) {
    view.client_command = client->second.command;
    if (guest.stdio == nullptr && guest.origin.root.empty()) view.client_root = client->second.root;
  }
  return view;
}

}  // namespace

std::string Hub::Impl::broken(const std::string& server) const {
  for (const pool::Slot& slot : pool.slots()) {
    if (slot.spec().server == server && slot.life() == pool::Life::Broken) return slot.last_words().sentence;
  }
  return {};
}

observe::Snapshot Hub::Impl::snapshot(const observe::Usage* usage) {
  observe::Snapshot shot;
  observe::DaemonView& daemon = shot.daemon;
  daemon.pid = getpid();
  daemon.version = kVersion;
  daemon.build = kBuildDate;
  daemon.protocol = control::kProtocol;
  daemon.uptime = elapsed(started);
  daemon.config = configuration.file;
  daemon.config_error = configuration_error;
  daemon.registry = records.registry_file();
  daemon.degraded = records.registry().degraded();
  daemon.lost = records.lost();
  daemon.keep = configuration.options.keep;
  if (pid_file) daemon.pid_file = pid_file();
  shot.http_url = http_url;
  shot.http_unix = http_unix;
  for (const config::Server& server : configuration.servers) {
    if (server.built_in) continue;
    shot.servers.push_back({server.name, server.disabled, pool.stopped().contains(server.name),
                            broken(server.name), records.error_files().path_of(server.name)});
  }
  for (const pool::Slot& slot : pool.slots()) {
    if (slot.router()) shot.instances.push_back(view_of(slot, usage));
  }
  for (const Guest& guest : guests) {
    observe::SessionView& view = shot.sessions.emplace_back(view_of(guest, usage));
    // It waits for somebody to allow the server, and for no call.
    if (view.instance.empty() && pool.stopped().contains(view.server)) view.state = "stopped";
  }
  shot.objects = owned.list_json();
  shot.crash_loops = records.crash_loops();
  shot.unkillable = records.unkillable();
  shot.instances_started = pool.started();
  return shot;
}

/// What it costs is paid on another thread. Who asks is answered also if that one hangs, as /proc can.
void Hub::Impl::measured_snapshot(std::function<void(const observe::Snapshot&)> done) {
  constexpr std::chrono::seconds kPatience{3};
  std::vector<pid_t> keepers;
  for (const pool::Slot& slot : pool.slots()) {
    if (slot.router()) keepers.push_back(slot.router()->instance()->keeper());
  }
  std::vector<pid_t> clients;
  for (const Guest& guest : guests) {
    if (guest.client_pid() > 0) clients.push_back(guest.client_pid());
  }
  const auto waiting = std::make_shared<std::function<void(const observe::Snapshot&)>>(std::move(done));
  const auto answer = [this, waiting, still = std::weak_ptr<bool>(alive)](const observe::Usage* usage) {
    if (!still.expired() && *waiting) std::exchange(*waiting, nullptr)(snapshot(usage));
  };
  const auto timer = std::make_shared<Timer>(loop);
  timer->start(kPatience, [answer] { answer(nullptr); });
  records.meter().measure(std::move(keepers), std::move(clients),
                            [answer, timer](const observe::Usage& usage) { answer(&usage); });
}

}  // namespace corral::daemon
