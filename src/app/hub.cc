// Builds the objects in the order of the data path: client, session, switchboard, router, instance.
#include "app/hub.h"

#include <unistd.h>

#include <list>

#include "app/hub_status.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/paths.h"
#include "client/stdio_client.h"
#include "config/environment.h"
#include "router/switchboard.h"
#include "server/launch_key.h"

namespace corral::app {
namespace {

constexpr int kRefused = 125;
constexpr std::chrono::milliseconds kBetweenLooks{10};
// Beyond what is configured, for the kernel to finish with what was killed.
constexpr std::chrono::seconds kLastPatience{8};

std::string no_such_server(const std::string& name, const config::Configuration& configuration) {
  std::vector<std::string> names;
  std::string list;
  for (const config::Server& server : configuration.servers) {
    names.push_back(server.name);
    list += (list.empty() ? "" : ", ") + server.name;
  }
  const std::string nearest = nearest_word(name, names);
  return "no server is called '" + name + "'" + (nearest.empty() ? "" : " (perhaps '" + nearest + "')") +
         "; " + (list.empty() ? "none is configured" : "configured are " + list) +
         (configuration.file.empty()
              ? "; write one into the configuration (`corral config path`), or give a command "
                "after --"
              : " in " + configuration.file);
}

/// A peer in a sandbox may use what is configured, as it is configured: with its PATH, its folder or its
/// variables it would choose what runs out here.
void forget_premises(control::Hello& hello) {
  hello.environment.clear();
  for (char** variable = environ; *variable != nullptr; ++variable) hello.environment.emplace_back(*variable);
  hello.cwd = "/";
}

proc::LaunchSpec spec_of(const config::Server& entry, const control::Hello& hello) {
  proc::LaunchSpec spec;
  spec.argv = entry.argv;
  spec.environment = config::environment_for_entry(hello.environment, entry);
  spec.directory = entry.cwd.empty() ? hello.cwd : entry.cwd;
  spec.containment = entry.containment;
  spec.limits = entry.limits;
  spec.stdin_grace = entry.stdin_grace;
  spec.term_grace = entry.term_grace;
  spec.on_stop = entry.on_stop;
  return spec;
}

void apply_share(const std::string& share, router::Wanted& wanted) {
  if (share == "shared") wanted.share = config::Share::Shared;
  if (share == "session") wanted.share = config::Share::Session;
}

}  // namespace

struct Hub::Impl {
  Impl(Loop& given, config::Configuration read, proc::Spawner& spawner)
      : loop(given),
        configuration(std::move(read)),
        switchboard(given, spawner, configuration.options.line_cap),
        drain_timer(given) {}

  Result<std::shared_ptr<const router::Wanted>> wanted(const control::Hello& hello) const;
  Result<std::shared_ptr<const router::Wanted>> configured(const control::Hello& hello) const;
  void forget(const client::StdioClient& gone);
  void drain_step();
  std::vector<router::Router*> with_calls() const;

  Loop& loop;
  config::Configuration configuration;
  router::Switchboard switchboard;
  std::list<client::StdioClient> clients;
  router::SessionId last_session = 0;
  Clock::time_point started = Clock::now();
  Task empty;
  std::function<void(std::string)> asked_to_stop;

  bool draining = false;
  bool sessions_ended = false;
  bool insisted = false;
  bool drain_over = false;
  Timer drain_timer;
  Clock::time_point drain_until{};
  Ended ended;
  std::vector<std::function<void(Ended)>> drained;
};

Hub::Hub(Loop& loop, config::Configuration configuration, proc::Spawner& spawner)
    : impl_(std::make_unique<Impl>(loop, std::move(configuration), spawner)) {}

Hub::~Hub() = default;

// ---- arriving

void Hub::arrived(client::Arrival arrival, std::shared_ptr<client::ShimLine> line) {
  if (impl_->draining) return line->run_it("the daemon is shutting down");
  if (!arrival.input.valid() || !arrival.output.valid()) {
    return line->refuse("connect needs two pipes or sockets, beside its first byte", kRefused);
  }
  if (arrival.hello.server.empty() && !arrival.confinement.empty()) {
    return line->run_it("this process is more confined than the daemon (" + arrival.confinement + ")");
  }
  if (!arrival.confinement.empty()) forget_premises(arrival.hello);
  auto wanted = impl_->wanted(arrival.hello);
  if (!wanted) return line->refuse(wanted.error().message, kRefused);

  line->accept();
  impl_->clients.emplace_back(impl_->loop, std::move(arrival), std::move(line),
                              impl_->configuration.options.line_cap,
                              [impl = impl_.get()](client::StdioClient& gone) { impl->forget(gone); });
  impl_->clients.back().begin(++impl_->last_session, impl_->switchboard, std::move(*wanted));
}

Result<std::shared_ptr<const router::Wanted>> Hub::Impl::wanted(const control::Hello& hello) const {
  if (!hello.server.empty()) return configured(hello);
  if (hello.argv.empty()) return Error{"connect needs the name of a server or a command after --"};
  auto wanted = std::make_shared<router::Wanted>();
  wanted->server = base_name(hello.argv.front());
  wanted->spec.argv = hello.argv;
  wanted->spec.environment = config::environment_for_command(hello.environment);
  wanted->spec.directory = hello.cwd;
  apply_share(hello.share, *wanted);
  wanted->key = server::launch_key(wanted->spec);
  return wanted;
}

Result<std::shared_ptr<const router::Wanted>> Hub::Impl::configured(const control::Hello& hello) const {
  const config::Server* entry = configuration.find(hello.server);
  if (entry == nullptr) {
    return Error{no_such_server(hello.server, configuration)};
  }
  if (entry->disabled) return Error{"server " + hello.server + " is disabled in " + configuration.file};
  auto expanded = config::expand(*entry, hello.environment);
  if (!expanded) return expanded.error();
  auto wanted = std::make_shared<router::Wanted>();
  wanted->server = expanded->name;
  wanted->spec = spec_of(*expanded, hello);
  wanted->share = expanded->share;
  wanted->from_configuration = true;
  wanted->stateless = expanded->stateless;
  wanted->idle = expanded->idle;
  if (expanded->timeout) wanted->call_timeout = *expanded->timeout;
  if (!expanded->tools.empty()) {
    wanted->allows_tool = [entry = *expanded](std::string_view tool) {
      return config::allows_tool(entry, tool);
    };
  }
  apply_share(hello.share, *wanted);
  // Two entries may start the same command under different rules; they must not meet in one process.
  wanted->key = server::launch_key(wanted->spec) + "\n" + wanted->server;
  return wanted;
}

void Hub::Impl::forget(const client::StdioClient& gone) {
  clients.remove_if([&gone](const client::StdioClient& one) { return &one == &gone; });
  if (clients.empty() && empty) empty();
}

std::size_t Hub::sessions() const { return impl_->clients.size(); }
std::size_t Hub::instances() const { return impl_->switchboard.living(); }
void Hub::when_empty(Task task) { impl_->empty = std::move(task); }

// ---- looking in

std::string Hub::status() {
  return status_json({impl_->configuration, impl_->clients, impl_->switchboard, impl_->started});
}

// ---- leaving

void Hub::when_asked_to_stop(std::function<void(std::string)> task) {
  impl_->asked_to_stop = std::move(task);
}

void Hub::shut_down(const std::string& why, std::function<void(std::string)> done) {
  const bool first = !impl_->draining;
  drain([done](Ended ended) {
    done("ended " + std::to_string(ended.sessions) + " sessions and " + std::to_string(ended.instances) +
         " instances");
  });
  if (impl_->asked_to_stop) impl_->asked_to_stop(why);
  if (first) impl_->insisted = false;  // the service drains as well, but nobody has asked twice
}

void Hub::drain(std::function<void(Ended)> done) {
  if (impl_->drain_over) return done(impl_->ended);
  impl_->drained.push_back(std::move(done));
  if (impl_->draining) {  // somebody insists
    impl_->insisted = true;
    return;
  }
  impl_->draining = true;
  impl_->ended = {sessions(), instances()};
  impl_->drain_until = Clock::now() + impl_->configuration.options.drain;
  impl_->drain_step();
}

std::vector<router::Router*> Hub::Impl::with_calls() const {
  std::vector<router::Router*> busy;
  for (const router::Place& place : switchboard.places()) {
    if (place.router && place.router->calls() > 0) busy.push_back(place.router.get());
  }
  return busy;
}

/// Calls in flight get their time; then every session ends, then every instance, then we insist.
void Hub::Impl::drain_step() {
  const Clock::time_point now = Clock::now();
  if (!sessions_ended && (insisted || with_calls().empty() || now >= drain_until)) {
    sessions_ended = true;
    insisted = false;
    drain_until = now + kLastPatience;
    const std::vector<router::Router*> busy = with_calls();
    for (client::StdioClient& client : clients) client.session().end(session::EndReason::ShuttingDown);
    switchboard.stop_all(server::Instance::Haste::Polite);
    // Had its time. It may not read, and input that it does not read would hold up the end by a minute.
    for (router::Router* router : busy) router->stop(server::Instance::Haste::Now);
  }
  const bool over = sessions_ended && clients.empty() && switchboard.living() == 0;
  if (over || (sessions_ended && now >= drain_until)) {
    if (!over) log_line("not everything could be ended in time; see `corral doctor`");
    drain_over = true;
    for (const auto& done : std::exchange(drained, {})) done(ended);
    return;
  }
  if (std::exchange(insisted, false)) switchboard.stop_all(server::Instance::Haste::Now);
  drain_timer.start(kBetweenLooks, [this] { drain_step(); });
}

}  // namespace corral::app
