#include "crosstalk/world.h"

#include <sys/stat.h>

#include <algorithm>

#include "knowledge/fingerprint.h"
#include "knowledge/launch_key.h"

namespace corral::crosstalk {
namespace {

using config::Share;
using knowledge::Era;

const std::vector<Definition> kDefinitions = {
    {"shared-legacy", Share::Shared, Era::Legacy, "user", ""},
    {"shared-modern", Share::Shared, Era::Modern, "user", ""},
    {"private-legacy", Share::Session, Era::Legacy, "user", ""},
    {"private-modern", Share::Session, Era::Modern, "user", ""},
    {"root-legacy", Share::Root, Era::Legacy, "user", "/a"},
    {"auto-modern", Share::Auto, Era::Modern, "user", ""},
};

constexpr const char* kCrowd = "token:crowd";

/// A program that never changes, so that what is known of a server stays true.
knowledge::Fingerprint steady_build() {
  constexpr const char* kPath = "/proc/self/exe";
  struct stat status {};
  stat(kPath, &status);
  const std::int64_t modified = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
  return {{{kPath, status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size), modified}}};
}

transport::HttpLimits limits_for(Random& random) {
  transport::HttpLimits limits;
  // A status line that goes out at once, and one that waits for the first message.
  if (random.chance(50)) limits.hold = std::chrono::milliseconds(1);
  return limits;
}

}  // namespace

Result<proc::ProcessTree> Stage::spawn(const proc::LaunchSpec& spec) {
  auto tree = spawner_.spawn(spec);
  players.emplace_back(spawner_.servers.back(), roles.at(spec.environment.at(0)), ledger_, random_);
  ++ledger_.deeds.instances;
  return tree;
}

World::World(std::uint32_t seed, Deeds& deeds)
    : deeds_(deeds),
      random_(seed),
      ledger_(deeds),
      stage_(ledger_, random_),
      pool_(loop_, stage_, std::size_t{1} << 20),
      endpoint_(loop_, *this, limits_for(random_), std::chrono::minutes(30)) {
  pool_.learn_builds_with([](const instance::Instance&) { return steady_build(); });
  pool::Limits limits;
  limits.drain = std::chrono::milliseconds(random_.chance(50) ? 2 : 5000);
  limits.restart.second_delay = std::chrono::milliseconds(1);
  limits.restart.longest_delay = std::chrono::milliseconds(3);
  limits.restart.most_deaths = 1'000'000;
  pool_.set_limits(limits);
  hostile_ = random_.chance(20);
  definitions_.push_back(random_.one_of(kDefinitions));
  if (random_.chance(40)) definitions_.push_back(random_.one_of(kDefinitions));
  for (const Definition& definition : definitions_) {
    Habits& habits = habits_[definition.server];
    habits.idle = random_.chance(40) ? std::chrono::milliseconds(random_.below(20)) : std::chrono::hours(1);
    if (random_.chance(50)) habits.park = true;
    habits.restart = random_.chance(85);
    habits.era_is_known = random_.chance(80) && definition.server != "auto-modern";
  }
  const std::size_t count = 2 + random_.below(kMostClients - 1);
  clients_.resize(count);
  for (std::size_t seat = 0; seat < count; ++seat) clients_[seat] = some_client(seat);
}

World::~World() {
  for (const auto& client : clients_) {
    if (!client->dead()) client->die();
  }
  pool_.stop_all(instance::Instance::Haste::Now);
  for (Player& player : stage_.players) {
    if (!player.gone()) player.crash();
  }
  for (int turn = 0; turn < 8; ++turn) loop_.run_due();
}

// ---- who is there

Definition World::some_definition() {
  Definition definition = random_.one_of(definitions_);
  if (definition.share == Share::Root && random_.chance(50)) definition.root = "/b";
  return definition;
}

/// By URL one may come with a token. Modern programs that nobody can tell apart have one instance, also where
/// each would have its own if it could be known: some come in such a crowd, the others with tokens of their
/// own.
Definition World::for_url(Definition definition, bool modern) {
  const bool would_be_alone = definition.share != Share::Shared && definition.share != Share::Root;
  if (modern && would_be_alone && random_.chance(60)) {
    definition.principal = kCrowd;
    ++deeds_.crowds;
  } else if (modern && would_be_alone) {
    definition.principal = "token:" + std::to_string(++last_principal_);
  } else if (random_.chance(30)) {
    definition.principal = "token:all";
  }
  return definition;
}

std::shared_ptr<pool::ServerSpec> World::spec_of(const Definition& definition) {
  const Habits& habits = habits_.at(definition.server);
  auto spec = std::make_shared<pool::ServerSpec>();
  spec->from_configuration = true;
  spec->server = definition.server;
  spec->launch.argv = {"/bin/" + definition.server};
  spec->launch.directory = "/";
  spec->launch.environment = {definition.scope()};
  spec->key = knowledge::launch_key(spec->launch);
  spec->entry.share = definition.share;
  spec->root = definition.root;
  if (habits.era_is_known) spec->entry.modern = definition.era == knowledge::Era::Modern;
  spec->entry.idle = habits.idle;
  spec->entry.park = habits.park;
  spec->entry.restart = habits.restart;
  spec->entry.probe = {};
  Role& role = stage_.roles[definition.scope()];
  const bool own = definition.own() && definition.principal != kCrowd;
  role = {definition.scope(), definition.era, own, hostile_};
  return spec;
}

std::variant<std::unique_ptr<session::Session>, transport::HttpRefusal> World::open(
    const transport::HttpArrival& arrival, session::Transport& transport) {
  const auto found = std::find_if(definitions_.begin(), definitions_.end(),
                                  [&](const Definition& one) { return one.server == arrival.server; });
  Definition definition = *found;
  definition.principal = arrival.principal;
  definition.root = arrival.root;
  return std::make_unique<session::Session>(loop_, ids_.next(), transport, pool_, spec_of(definition));
}

bool World::would_be_private(const transport::HttpArrival& arrival) {
  const auto found = std::find_if(definitions_.begin(), definitions_.end(),
                                  [&](const Definition& one) { return one.server == arrival.server; });
  Definition definition = *found;
  definition.principal = arrival.principal;
  definition.root = arrival.root;
  return !pool_.would_share({spec_of(definition), "", std::nullopt});
}

/// In the same place as the session before it, as soon as that is free.
std::unique_ptr<Client> World::pipe_client(std::size_t seat) {
  const Definition definition = some_definition();
  const Era era = random_.chance(35) ? Era::Modern : Era::Legacy;
  tests::FakeClient* fake = nullptr;
  if (!seats_[seat] || seats_[seat]->exits > 0) {
    if (seats_[seat]) ++deeds_.same_address;
    seats_[seat].reset();
    fake = &seats_[seat].emplace(loop_, ids_.next(), pool_, spec_of(definition), "");
  } else {
    std::erase_if(elsewhere_, [&](const tests::FakeClient& one) { return one.exits > 0; });
    fake = &elsewhere_.emplace_back(loop_, ids_.next(), pool_, spec_of(definition), "");
  }
  return std::make_unique<PipeClient>(definition, era, ledger_, random_, *fake);
}

std::unique_ptr<Client> World::some_client(std::size_t seat) {
  std::unique_ptr<Client> client;
  switch (random_.below(10)) {
    case 0:
    case 1:
      client = std::make_unique<StreamableClient>(for_url(some_definition(), false), Era::Legacy, ledger_,
                                                  random_, endpoint_);
      break;
    case 2:
      client = std::make_unique<SseClient>(for_url(some_definition(), false), Era::Legacy, ledger_, random_,
                                           endpoint_);
      break;
    case 3:
    case 4:
    case 5:
      client = std::make_unique<ModernUrlClient>(for_url(some_definition(), true), Era::Modern, ledger_,
                                                 random_, endpoint_);
      break;
    default: client = pipe_client(seat);
  }
  client->settles_with([this] { settle(); });
  return client;
}

// ---- what happens

void World::settle() {
  for (int turn = 0; turn < 6; ++turn) loop_.run_due();
  for (Player& player : stage_.players) player.hear();
}

void World::read() {
  for (const auto& client : clients_) client->read();
}

void World::replace_the_dead() {
  for (std::size_t seat = 0; seat < clients_.size(); ++seat) {
    Client& client = *clients_[seat];
    if (client.lost() && !client.dead()) {
      if (!client.unanswered().empty()) {
        ledger_.fault(client.name() + " lost its session without answers to" + client.unanswered());
      }
      client.die();
    }
    if (client.over() && random_.chance(50)) clients_[seat] = some_client(seat);
  }
}

/// What people do: stop a server, allow it to start again, restart it.
void World::interfere() {
  const std::string server = random_.one_of(definitions_).server;
  if (random_.chance(60)) pool_.allow(server);
  if (random_.chance(80)) return;
  const pool::Cause cause = random_.chance(85) ? pool::Cause::Restarted : pool::Cause::Stopped;
  ledger_.note("somebody " + std::string(cause == pool::Cause::Stopped ? "stops " : "restarts ") + server);
  pool_.retire(server, cause, [](const auto&) {});
}

void World::step() {
  clock_.pass(std::chrono::milliseconds(random_.below(3)));
  const std::size_t choice = random_.below(100);
  if (choice < 3) {
    interfere();
  } else if (choice < 50 || stage_.players.empty()) {
    random_.one_of(clients_)->act();
  } else {
    std::vector<Player*> living;
    for (Player& player : stage_.players) {
      if (!player.gone()) living.push_back(&player);
    }
    if (!living.empty()) random_.one_of(living)->act();
  }
  if (random_.chance(75)) settle();
  read();
  replace_the_dead();
}

void World::finish() {
  for (const Definition& definition : definitions_) pool_.allow(definition.server);
  const auto give_up = Clock::now() + std::chrono::seconds(15);
  const auto settled = [this] {
    return std::all_of(clients_.begin(), clients_.end(), [](const auto& one) { return one->settled(); });
  };
  for (int round = 0; round < 20 || (!settled() && Clock::now() < give_up); ++round) {
    settle();
    for (Player& player : stage_.players) player.finish();
    settle();
    read();
    for (const auto& client : clients_) client->finish();
    if (round > 20) clock_.pass(std::chrono::milliseconds(1));
    if (!ledger_.faults().empty()) return;
  }
  for (const auto& client : clients_) {
    if (!client->settled()) ledger_.fault(client->name() + " has no answers to" + client->unanswered());
  }
}

}  // namespace corral::crosstalk
