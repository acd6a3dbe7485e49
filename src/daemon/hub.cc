#include "daemon/hub.h"

#include <utility>

#include "control/hello.h"
#include "daemon/built_in_server.h"
#include "wire/error_codes.h"

namespace corral::daemon {
namespace {

/// Reading /proc takes a while, so a thread does it.
UnattendedWatch::Read read_on(Worker& worker) {
  return [&worker](std::vector<pid_t> pids, UnattendedWatch::Answer answer) {
    const auto found = std::make_shared<std::vector<survey::Background>>();
    worker.run([found, pids = std::move(pids)] { *found = survey::read_backgrounds(pids); },
               [found, answer = std::move(answer)] { answer(*found); });
  };
}

}  // namespace

Hub::Hub(Loop& loop, config::Configuration configuration, proc::Spawner& spawner,
         ServerDefinitions::ReadAgain read_again, Records& records)
    : loop_(loop),
      records_(records),
      definitions_(std::move(configuration), std::move(read_again), shares_),
      pool_(loop, spawner, definitions_.options().line_cap),
      owned_(
          loop, sessions_, pool_, [this](const Origin& origin) { return definitions_.check(origin); },
          [this] { tell_if_empty(); }),
      session_records_(records, shares_),
      heirs_(records.looking()),
      drain_(loop, sessions_, owned_, pool_),
      reload_(definitions_, sessions_, pool_, drain_, records.events()),
      unattended_(loop, {definitions_, pool_, sessions_, records.events()}, read_on(records.looking())),
      snapshots_(loop, {definitions_, pool_, sessions_, owned_, unattended_, records}),
      recycling_(loop, pool_, snapshots_, records.events()),
      verbs_(
          {definitions_, pool_, sessions_, owned_, session_records_, records, snapshots_, drain_, reload_}) {
  pool_.write_to({.events = &records.events(),
                  .journal = &records.journal(),
                  .error_files = &records.error_files(),
                  .manifests = &records.manifests()});
  records.events().listen(lifetime_.guard([this](const events::Event& event) { handle(event); }));
}

// ---- by socket

void Hub::open(transport::Arrival arrival, std::shared_ptr<transport::ShimLine> line) {
  using How = Rejection::How;
  const std::string server = arrival.hello.server;
  const std::string object = arrival.hello.session;
  if (const auto rejection = check(arrival)) return reject(*rejection, server, *line);
  Result<Origin> origin = origin_of(arrival);
  if (!origin) return reject({How::Refuse, "session", origin.error().message}, server, *line);
  auto spec = definitions_.spec_for(*origin);
  if (!spec) return reject({How::Refuse, "server", spec.error().message}, server, *line);

  Account& user = shares_.account("user");
  std::optional<Account::Held> quota = user.take(Good::Sessions);
  const std::string full = quota ? why_full(*spec) : user.objection(Good::Sessions);
  if (!full.empty() && object.empty()) return reject({How::RunIt, "", full}, server, *line);
  // A server of a session object cannot run elsewhere. If only an instance is missing, it is accepted: its
  // first request gets an instance that became free, or an answer that names the limit.
  if (!quota) return reject({How::Refuse, "limit", full}, server, *line);

  if (!origin->configured()) origin->environment.reset();  // no reload touches a client's own command
  line->accept();
  owned_.attached(object, origin->server);
  ConnectedSession connected;
  connected.origin = std::move(*origin);
  connected.quota = std::move(*quota);
  connected.stdio = std::make_unique<transport::StdioClient>(
      loop_, std::move(arrival), std::move(line), options().line_cap,
      [this](transport::StdioClient& gone) { remove(gone.session()); });
  connected.stdio->find_heir_with([this](const transport::StdioClient::Pipes& pipes, Heirs::Found found) {
    heirs_.find({pipes.input, pipes.output}, std::move(found));
  });
  connected.stdio->begin(sessions_.next_id(), pool_, std::move(*spec), object);
  sessions_.add(std::move(connected));
}

/// The checks that do not need the configuration, in this order.
std::optional<Hub::Rejection> Hub::check(const transport::Arrival& arrival) const {
  using How = Rejection::How;
  if (drain_.begun()) return Rejection{How::RunIt, "", control::kShuttingDown};
  if (std::string old = definitions_.too_old(arrival.hello); !old.empty()) {
    return Rejection{How::Refuse, "version", std::move(old)};
  }
  if (!arrival.input.valid() || !arrival.output.valid()) {
    return Rejection{How::Refuse, "pipes", "connect must send two pipes or sockets with its first byte"};
  }
  if (arrival.confinement.empty()) return std::nullopt;
  const std::string confined = "this process is more confined than the daemon (" + arrival.confinement + ")";
  if (arrival.hello.server.empty()) return Rejection{How::RunIt, "", confined};
  if (arrival.hello.server != kBuiltInServer) return std::nullopt;
  return Rejection{
      How::Refuse, "confined",
      "server corral controls the daemon, and " + confined + ": use it from outside the sandbox"};
}

Result<Origin> Hub::origin_of(transport::Arrival& arrival) {
  const Confined client = arrival.confinement.empty() ? Confined::No : Confined::Yes;
  if (client == Confined::Yes) use_own_launch_context(arrival.hello);
  const std::string object = arrival.hello.session;
  Origin origin = definitions_.origin_of(arrival.hello);
  if (object.empty()) return origin;
  return owned_.attach(object, std::move(origin), client);
}

/// A client that has handed over its pipes can no longer run its server itself, so it must be refused before
/// that. Sessions that have not sent anything yet will need an instance, too.
std::string Hub::why_full(const std::shared_ptr<const pool::ServerSpec>& spec) {
  const pool::Ask ask{spec, "", std::nullopt};
  if (pool_.why_no_room(ask, sessions_.size()).empty()) return {};
  return pool_.why_no_room(ask, sessions_.without_instance());
}

void Hub::reject(const Rejection& rejection, const std::string& server, transport::ShimLine& line) {
  if (rejection.how == Rejection::How::RunIt) return line.run_it(rejection.why);
  session_records_.refused({server, rejection.cause, rejection.why});
  line.refuse(rejection.why, kRefused);
}

void Hub::answer(transport::Question question, transport::Answer answer) {
  verbs_.answer(std::move(question), answer);
}

// ---- by HTTP

std::variant<std::unique_ptr<session::Session>, transport::HttpRefusal> Hub::open(
    const transport::HttpArrival& arrival, session::Transport& transport) {
  if (drain_.begun()) {
    return transport::HttpRefusal{503, wire::kShuttingDown, control::kShuttingDown, "", ""};
  }
  auto origin = definitions_.origin_of(arrival);
  if (auto* const refusal = std::get_if<transport::HttpRefusal>(&origin)) {
    session_records_.refused({known_name(arrival), "root", refusal->message, 0, arrival.principal});
    return std::move(*refusal);
  }
  auto spec = definitions_.spec_for(std::get<Origin>(origin));
  if (!spec) {
    session_records_.refused({known_name(arrival), "server", spec.error().message, 0, arrival.principal});
    return transport::HttpRefusal{404, wire::kServerLost, spec.error().message, "", ""};
  }
  auto session =
      std::make_unique<session::Session>(loop_, sessions_.next_id(), transport, pool_, std::move(*spec));
  ConnectedSession connected;
  connected.origin = std::move(std::get<Origin>(origin));
  connected.by_http = session.get();
  connected.arrival = arrival;
  connected.transport = arrival.transport == "sse" ? "sse" : "http";
  sessions_.add(std::move(connected));
  return session;
}

/// A URL may have any word as the name of a server. Only the name of a configured one is shown and kept.
std::string Hub::known_name(const transport::HttpArrival& arrival) const {
  return definitions_.find(arrival.server) == nullptr ? "" : arrival.server;
}

std::optional<transport::HttpRefusal> Hub::objection(const transport::HttpArrival& arrival) {
  return definitions_.objection(arrival);
}

void Hub::bound(session::Session& session, pid_t process) {
  if (ConnectedSession* const connected = sessions_.find(session.id())) connected->bound = process;
}

bool Hub::would_be_private(const transport::HttpArrival& arrival) {
  const auto origin = definitions_.origin_of(arrival);
  if (!std::holds_alternative<Origin>(origin)) return false;
  const auto spec = definitions_.spec_for(std::get<Origin>(origin));
  return spec && !pool_.would_share({*spec, "", std::nullopt});
}

void Hub::serve_only(std::vector<std::string> argv, std::string cwd, Environment environment) {
  definitions_.serve_only(std::move(argv), std::move(cwd), std::move(environment));
}

// ---- what happens to sessions

/// The pool reports which instance a session was attached to.
void Hub::handle(const events::Event& event) {
  if (event.kind != events::Kind::Attach) return;
  ConnectedSession* const connected = sessions_.find(SessionId(event.session));
  if (connected == nullptr) return;
  connected->instance = InstanceId(event.instance);
  session_records_.attached(*connected);
}

/// Destroys the session if it came by socket.
void Hub::remove(const session::Session& session) {
  const SessionId id = session.id();
  owned_.left(session);
  if (const ConnectedSession* const connected = sessions_.find(id)) {
    session_records_.detached(*connected);
    sessions_.remove(id);
  }
  tell_if_empty();
}

void Hub::tell_if_empty() {
  if (empty() && when_empty_) when_empty_();
}

// ---- for the service

Readiness Hub::readiness(const http::Principal* who) const {
  const auto shutting_down = drain_.begun() ? ShuttingDown::Yes : ShuttingDown::No;
  return readiness_of(definitions_, pool_, shutting_down, who);
}

void Hub::started(pid_t child, std::function<void(int status)> ended) {
  pool_.started(child, std::move(ended));
}

}  // namespace corral::daemon
