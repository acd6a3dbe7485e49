// Builds the objects in the order of the data path: client, session, pool, router, instance.
#include "daemon/hub.h"

#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "base/paths.h"
#include "daemon/built_in_server.h"
#include "daemon/hub_impl.h"

namespace corral::daemon {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{10};
// Beyond what is configured, for the kernel to finish with what was killed.
constexpr std::chrono::seconds kLastPatience{8};

}  // namespace

void forget_premises(control::Hello& hello) {
  hello.environment.clear();
  for (char** variable = environ; *variable != nullptr; ++variable) hello.environment.emplace_back(*variable);
  hello.cwd = std::string(1, '/');  // not "/": g++ 12 sees an overlap there and warns
  hello.root.clear();
}

Hub::Impl::Impl(Loop& given, config::Configuration first, proc::Spawner& spawner, ReadAgain again,
                Records& given_records)
    : loop(given),
      records(given_records),
      configuration(std::move(first)),
      read_again(std::move(again)),
      pool(given, spawner, configuration.options.line_cap),
      owned(
          given, guests, pool,
          [this](const Origin& origin) -> Result<void> {
            const auto found = resolve(origin, configuration);
            if (!found) return found.error();
            return {};
          },
          [this] { look_whether_empty(); }),
      drain_timer(given) {
  apply_options();
}

Hub::Hub(Loop& loop, config::Configuration configuration, proc::Spawner& spawner, ReadAgain read_again,
         Records& records)
    : impl_(
          std::make_unique<Impl>(loop, std::move(configuration), spawner, std::move(read_again), records)) {
  impl_->pool.keep_manifests(&records.manifests());
  impl_->pool.tell_events_to(&records.events());
  records.events().listen(
      [impl = impl_.get(), alive = std::weak_ptr<bool>(impl_->alive)](const events::Event& event) {
        if (!alive.expired()) impl->hear(event);
      });
  impl_->pool.keep_journal(&records.journal());
  impl_->pool.keep_error_output(&records.error_files());
}

Hub::~Hub() = default;

void Hub::Impl::apply_options() {
  const config::Options& options = configuration.options;
  pool.set_limits({options.max_instances, options.keep, options.drain});
  pool.set_line_cap(options.line_cap);
}

// ---- arriving

void Hub::open(transport::Arrival arrival, std::shared_ptr<transport::ShimLine> line) {
  if (impl_->draining) return line->run_it("the daemon is shutting down");
  const auto refuse = [&](const std::string& cause, const std::string& why) {
    impl_->tell_refused(arrival.hello.server, cause, why);
    line->refuse(why, kRefused);
  };
  if (const std::string old = impl_->too_old(arrival.hello); !old.empty()) return refuse("version", old);
  if (!arrival.input.valid() || !arrival.output.valid()) {
    return refuse("pipes", "connect needs two pipes or sockets, beside its first byte");
  }
  if (arrival.hello.server.empty() && !arrival.confinement.empty()) {
    return line->run_it("this process is more confined than the daemon (" + arrival.confinement + ")");
  }
  if (arrival.hello.server == kBuiltInServer && !arrival.confinement.empty()) {
    return refuse("confined",
                  "server corral steers the daemon, and this process is more confined than the daemon (" +
                      arrival.confinement + "): use it from outside");
  }
  if (!arrival.confinement.empty()) forget_premises(arrival.hello);
  const std::string object = arrival.hello.session;
  Result<Origin> origin = impl_->origin_of(arrival.hello);
  if (!object.empty()) {
    origin = impl_->owned.attach(object, std::move(*origin), !arrival.confinement.empty());
  }
  if (!origin) return refuse("session", origin.error().message);
  auto wanted = impl_->wanted(*origin);
  if (!wanted) return refuse("server", wanted.error().message);

  std::optional<Account::Held> place = impl_->shares.account("user").take(Good::Sessions);
  const std::string full =
      place ? impl_->why_full(*wanted) : impl_->shares.account("user").objection(Good::Sessions);
  if (!full.empty() && object.empty()) return line->run_it(full);
  // A server of a session object cannot run elsewhere. One that only lacks an instance is accepted: its first
  // request gets an instance that became free meanwhile, or an answer that names the limit.
  if (!place) return refuse("limit", full);

  if (!origin->configured()) origin->environment.reset();  // no reload touches a client's own command
  line->accept();
  impl_->owned.attached(object, origin->server);
  Guest& guest = impl_->guests.emplace_back();
  guest.origin = std::move(*origin);
  guest.place = std::move(*place);
  guest.stdio = std::make_unique<transport::StdioClient>(
      impl_->loop, std::move(arrival), std::move(line), impl_->configuration.options.line_cap,
      [impl = impl_.get()](transport::StdioClient& gone) { impl->forget(gone.session()); });
  guest.stdio->begin(impl_->session_ids.next(), impl_->pool, std::move(*wanted), object);
  impl_->seat(std::prev(impl_->guests.end()));
}

/// Once its pipes are ours a client cannot run its server itself any more, so it is told before. Those who
/// have come and not spoken yet will want an instance too.
std::string Hub::Impl::why_full(const std::shared_ptr<const pool::ServerSpec>& wanted) {
  const pool::Ask ask{wanted, "", std::nullopt};
  if (pool.why_no_room(ask, guests.size()).empty()) return {};
  const auto silent = std::count_if(guests.begin(), guests.end(), [](const Guest& guest) {
    return guest.stdio && guest.session().will_want_instance();
  });
  return pool.why_no_room(ask, static_cast<std::size_t>(silent));
}

/// The environment moves over: a hundred sessions of one client share one copy of it.
Origin Hub::Impl::origin_of(control::Hello& hello) {
  Origin origin;
  origin.server = hello.server.empty() ? base_name(hello.argv.front()) : hello.server;
  origin.argv = std::move(hello.argv);
  origin.cwd = std::move(hello.cwd);
  origin.root = std::move(hello.root);
  origin.share = std::move(hello.share);
  origin.environment = environments.keep(std::exchange(hello.environment, {}));
  return origin;
}

Result<std::shared_ptr<const pool::ServerSpec>> Hub::Impl::wanted(const Origin& origin) {
  Result<pool::ServerSpec> found = resolve(origin, configuration);
  if (!found) return found.error();
  found->account = &shares.account(origin.principal);
  return wanteds.keep(std::move(*found));
}

void Hub::Impl::forget(const session::Session& gone) {
  owned.left(gone);
  if (const auto seat = seats.extract(&gone)) {
    tell_detached(*seat.mapped());
    by_number.erase(seat.mapped()->session().id());
    guests.erase(seat.mapped());
  }
  look_whether_empty();
}

void Hub::Impl::look_whether_empty() {
  if (guests.empty() && owned.empty() && empty) empty();
}

const config::Options& Hub::options() const { return impl_->configuration.options; }
std::size_t Hub::sessions() const { return impl_->guests.size(); }
void Hub::started(pid_t child, std::function<void(int)> ended) {
  impl_->pool.started(child, std::move(ended));
}

std::size_t Hub::instances() const { return impl_->pool.living(); }
bool Hub::empty() const { return impl_->guests.empty() && impl_->owned.empty(); }
void Hub::when_empty(Task task) { impl_->empty = std::move(task); }

// ---- leaving

void Hub::when_asked_to_stop(std::function<void(std::string)> task) {
  impl_->asked_to_stop = std::move(task);
}

void Hub::drain(std::function<void(Ended)> done) {
  if (impl_->drain_over) return done(impl_->ended);
  impl_->drained.push_back(std::move(done));
  if (impl_->draining) {  // somebody insists
    impl_->insisted = true;
    return;
  }
  impl_->draining = true;
  impl_->owned.close();
  impl_->ended = {sessions(), instances()};
  impl_->drain_until = Clock::now() + impl_->configuration.options.drain;
  impl_->drain_step();
}

/// Calls in flight get their time; then every session ends, then every instance, then we insist.
void Hub::Impl::drain_step() {
  const Clock::time_point now = Clock::now();
  if (!sessions_ended && (insisted || pool.with_calls().empty() || now >= drain_until)) {
    sessions_ended = true;
    insisted = false;
    drain_until = now + kLastPatience;
    const std::vector<InstanceId> busy = pool.with_calls();
    for (Guest& guest : guests) guest.session().end(session::EndReason::ShuttingDown);
    pool.stop_all(instance::Instance::Haste::Polite);
    // Had its time. It may not read, and input that it does not read would hold up the end by a minute.
    for (const InstanceId& instance : busy) pool.kill(instance);
  }
  const bool over = sessions_ended && guests.empty() && pool.living() == 0;
  if (over || (sessions_ended && now >= drain_until)) {
    if (!over) log_line("not everything could be ended in time; see `corral doctor`");
    drain_over = true;
    for (const auto& done : std::exchange(drained, {})) done(ended);
    return;
  }
  if (std::exchange(insisted, false)) pool.stop_all(instance::Instance::Haste::Now);
  drain_timer.start(kBetweenLooks, [this] { drain_step(); });
}

}  // namespace corral::daemon
