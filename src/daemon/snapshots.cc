#include "daemon/snapshots.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "config/show.h"
#include "control/hello.h"
#include "daemon/separation.h"
#include "knowledge/introduction.h"
#include "proc/own_program.h"
#include "version.h"
#include "wire/json_text.h"

namespace corral::daemon {
namespace {

using std::chrono::milliseconds;

milliseconds elapsed(Clock::time_point then) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - then);
}

const char* state_of(const pool::Slot& slot) {
  if (slot.life() != pool::Life::Ready) return pool::life_name(slot.life());
  if (slot.router()->health().unhealthy()) return "unhealthy";
  if (slot.holder().is_spare()) return "spare";
  return slot.router()->sessions().empty() ? "idle" : "ready";
}

/// Until the handshake is complete: the era that is being tried.
const char* era_of(const router::Router& router) {
  return router.instance()->handshake().era() == knowledge::Era::Modern ? "modern" : "legacy";
}

const char* share_of(const pool::Slot& slot) {
  if (!slot.router()->options().shared) return "session";
  return slot.spec().entry.share == config::Share::Root ? "root" : "shared";
}

/// Until an instance without sessions ends; nothing if it is in use.
std::optional<milliseconds> time_left(const pool::Slot& slot) {
  if (slot.life() != pool::Life::Ready || !slot.router()->sessions().empty()) return std::nullopt;
  const router::Router::Activity activity = slot.router()->activity();
  if (activity.in_use) return std::nullopt;
  return std::max(milliseconds(0), slot.spec().entry.idle - elapsed(activity.last_used));
}

observe::CountersView counters_of(const router::Router& router) {
  const router::RouterCounters& c = router.counters();
  const instance::Instance::Counters& i = router.instance()->counters();
  return {.calls = c.calls,
          .answers = c.answers,
          .unknown_answers = c.unknown_answers,
          .late_answers = c.late_answers,
          .lost_answers = c.lost_answers,
          .timeouts = c.timeouts,
          .dropped_news = c.dropped_news,
          .dropped_log_lines = c.dropped_log_lines,
          .kept_error_bytes = c.kept_error_bytes,
          .misleading = c.misleading,
          .refused_questions = c.refused_questions,
          .dropped_lines = i.lines_dropped,
          .dropped_bytes = i.bytes_dropped,
          .stderr_bytes = router.instance()->error_output_bytes()};
}

observe::LimitsView limits_of(const pool::ServerSpec& spec) {
  const auto& limits = spec.launch.limits;
  observe::LimitsView view{limits.memory_bytes, limits.processes, std::nullopt, spec.entry.recycle};
  if (limits.cpu_thousandths) view.cpu = *limits.cpu_thousandths / 1000.0;
  return view;
}

std::string version_of(const instance::Instance& instance) {
  const instance::Handshake& handshake = instance.handshake();
  if (handshake.outcome() != instance::Handshake::Outcome::Ready) return {};
  return knowledge::version_in(handshake.result());
}

observe::InstanceView view_of(const pool::Slot& slot, const observe::Usage* usage) {
  const router::Router& router = *slot.router();
  const instance::Instance& instance = *router.instance();
  const pool::ServerSpec& spec = slot.spec();
  observe::InstanceView view;
  view.server = spec.server;
  view.id = instance.id().text();
  view.version = version_of(instance);
  view.pid = instance.server_pid();
  view.keeper = instance.keeper();
  view.state = state_of(slot);
  view.era = era_of(router);
  view.share = share_of(slot);
  view.root = spec.root;
  view.stale = slot.run().stale();
  view.rolls = spec.entry.on_change == config::OnChange::Roll;
  view.reason = slot.decision().reason;
  if (!router.options().shared) view.hint = slot.decision().hint;
  view.level = instance.level();
  for (const auto& [session, port] : router.sessions()) view.sessions.push_back(session.value());
  view.calls = router.activity().calls;
  view.uptime = elapsed(instance.started());
  view.ends_in = time_left(slot);
  view.limits = limits_of(spec);
  view.counters = counters_of(router);
  if (usage == nullptr) return view;
  if (const auto tree = usage->trees.find(view.keeper); tree != usage->trees.end()) view.usage = tree->second;
  return view;
}

/// Says which other shared instance of its name this one is separate from: the one from which it differs
/// least. `earlier` are the ones before it, at least one.
void explain_separation(const pool::Slot& slot, const std::vector<const pool::Slot*>& earlier,
                        observe::InstanceView& view) {
  Separation least;
  const pool::Slot* nearest = nullptr;
  for (const pool::Slot* const other : earlier) {
    Separation separation = separation_of(slot.spec(), other->spec());
    if (separation.differs.empty()) continue;  // one of them runs old code, or ends
    if (nearest != nullptr && separation.differs.size() >= least.differs.size()) continue;
    least = std::move(separation);
    nearest = other;
  }
  if (nearest == nullptr) return;
  view.separate = show_separation(least.differs, nearest->router()->instance()->server_pid());
  view.differs = std::move(least.differs);
  view.hint = std::move(least.hint);
}

observe::SessionView view_of(const ConnectedSession& connected, const observe::Usage* usage) {
  const session::Session& session = connected.session();
  const std::string& info = session.client().info;
  const router::Router* router = session.attachment().router();
  observe::SessionView view;
  view.id = session.id().value();
  view.server = session.attachment().server();
  view.client.pid = connected.client_pid();
  view.client.name = wire::string_member(info, "name").value_or("");
  view.client.version = wire::string_member(info, "version").value_or("");
  view.client.root = connected.origin.root.empty() ? connected.origin.cwd : connected.origin.root;
  view.shim = connected.shim_pid();
  view.transport = connected.transport;
  view.state = session.attachment().state();
  view.object = session.owner();
  if (router != nullptr) view.instance = router->instance()->id().text();
  view.age = elapsed(session.record().since);
  if (router != nullptr && connected.background.unattended_since)
    view.unattended = elapsed(*connected.background.unattended_since);
  view.calls = router != nullptr ? router->calls_of(session) : 0;
  view.messages = session.record().messages;
  view.bad_messages = session.record().bad_messages;
  view.dropped = session.dropped();
  if (usage == nullptr) return view;
  if (const auto client = usage->clients.find(connected.client_pid()); client != usage->clients.end()) {
    view.client.command = client->second.command;
    if (connected.stdio == nullptr && connected.origin.root.empty()) view.client.root = client->second.root;
  }
  return view;
}

/// Why this server is not started for now; empty if it may start.
std::string broken(const pool::Pool& pool, const std::string& server) {
  for (const pool::Slot& slot : pool.slots()) {
    if (slot.spec().server == server && slot.life() == pool::Life::Broken)
      return slot.run().last_words().to({});
  }
  return {};
}

std::vector<pid_t> keepers_of(const pool::Pool& pool) {
  std::vector<pid_t> keepers;
  for (const pool::Slot& slot : pool.slots()) {
    if (slot.router()) keepers.push_back(slot.router()->instance()->keeper());
  }
  return keepers;
}

}  // namespace

observe::DaemonView Snapshots::daemon() const {
  const config::Configuration& configuration = sources_.definitions.configuration();
  observe::DaemonView daemon;
  daemon.pid = getpid();
  daemon.version = kVersion;
  daemon.build = kBuildDate;
  proc::RunningProgram program = proc::running_program();
  daemon.program_replaced = program.file == proc::RunningProgram::File::Other;
  daemon.program = std::move(program.path);
  daemon.protocol = control::kProtocol;
  daemon.uptime = elapsed(started_);
  daemon.config = configuration.file;
  daemon.config_error = sources_.definitions.error();
  daemon.registry = sources_.records.registry_file();
  daemon.degraded = sources_.records.registry().degraded();
  daemon.lost = sources_.records.lost();
  daemon.keep = configuration.options.keep;
  if (pid_file_) daemon.pid_file = pid_file_();
  return daemon;
}

void Snapshots::add_servers(observe::Snapshot& snapshot) const {
  const pool::Pool& pool = sources_.pool;
  for (const config::Server& server : sources_.definitions.configuration().servers) {
    if (server.built_in) continue;
    snapshot.servers.push_back({server.name, server.disabled, pool.stopped().contains(server.name),
                                broken(pool, server.name),
                                sources_.records.error_files().path_of(server.name), config::about(server),
                                config::FilePlace{server.file, server.line}.text()});
  }
  const std::string& only = sources_.definitions.only_server();
  if (only.empty()) return;
  snapshot.servers.push_back({only,
                              false,
                              pool.stopped().contains(only),
                              broken(pool, only),
                              sources_.records.error_files().path_of(only),
                              {},
                              {}});
}

observe::Snapshot Snapshots::make(const observe::Usage* usage) const {
  const pool::Pool& pool = sources_.pool;
  observe::Snapshot snapshot;
  snapshot.daemon = daemon();
  snapshot.http = http_;
  add_servers(snapshot);
  constexpr std::size_t kMostCompared = 16;
  std::map<std::string_view, std::vector<const pool::Slot*>> shared;      // by the name of the server
  std::map<std::string_view, const pool::ServerSpec*> first_private_one;  // the same
  for (const pool::Slot& slot : pool.slots()) {
    if (!slot.router()) continue;
    snapshot.instances.push_back(view_of(slot, usage));
    snapshot.instances.back().unattended = sources_.unattended.note_on(slot);
    if (!slot.router()->options().shared) {
      const auto [first, is_first] = first_private_one.emplace(slot.spec().server, &slot.spec());
      std::string& hint = snapshot.instances.back().hint;
      if (!is_first && !hint.empty()) hint = hint_for_both(hint, slot.spec(), *first->second);
      continue;
    }
    std::vector<const pool::Slot*>& earlier = shared[slot.spec().server];
    if (!earlier.empty()) explain_separation(slot, earlier, snapshot.instances.back());
    if (earlier.size() < kMostCompared) earlier.push_back(&slot);
  }
  for (const auto& [id, connected] : sources_.sessions) {
    observe::SessionView& view = snapshot.sessions.emplace_back(view_of(connected, usage));
    // The session waits for the user to allow the server again, not for a call.
    if (view.instance.empty() && pool.stopped().contains(view.server)) view.state = "stopped";
  }
  snapshot.objects = sources_.owned.list();
  snapshot.failures = sources_.records.failures().now();
  snapshot.crash_loops = sources_.records.crash_loops();
  snapshot.unkillable = sources_.records.unkillable();
  snapshot.counters.instances_started = pool.started();
  sources_.records.failures().count_in(snapshot.counters);
  snapshot.health = observe::health_of(snapshot);
  return snapshot;
}

void Snapshots::measure(Done done) {
  constexpr std::chrono::seconds kPatience{3};
  std::vector<pid_t> clients;
  for (const auto& [id, connected] : sources_.sessions) {
    if (connected.client_pid() > 0) clients.push_back(connected.client_pid());
  }
  const auto waiting = std::make_shared<Done>(std::move(done));
  const auto answer = [this, waiting, alive = lifetime_.watch()](const observe::Usage* usage) {
    if (!alive.over() && *waiting) std::exchange(*waiting, nullptr)(make(usage));
  };
  const auto timer = std::make_shared<Timer>(loop_);
  timer->start(kPatience, [answer] { answer(nullptr); });
  sources_.records.meter().measure(keepers_of(sources_.pool), std::move(clients),
                                   [answer, timer](const observe::Usage& usage) { answer(&usage); });
}

}  // namespace corral::daemon
