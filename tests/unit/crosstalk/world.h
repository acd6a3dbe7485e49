// One episode of the crosstalk test: a daemon's middle, two to eight clients of all kinds, and servers that
// do what they like, in an order that one seed decides.
#pragma once

#include <array>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/held_clock.h"
#include "base/shares.h"
#include "crosstalk/client.h"
#include "crosstalk/kinds.h"
#include "crosstalk/ledger.h"
#include "crosstalk/player.h"
#include "session/exchange.h"
#include "transport/http_endpoint.h"
#include "transport/http_session_opener.h"

namespace corral::crosstalk {

/// Gives every instance its player.
class Stage final : public proc::Spawner {
 public:
  Stage(Ledger& ledger, Random& random) : ledger_(ledger), random_(random) {}
  Result<proc::ProcessTree> spawn(const proc::LaunchSpec& spec) override;

  std::map<std::string, Role> roles;  // by scope
  std::list<Player> players;          // all that were ever started

 private:
  Ledger& ledger_;
  Random& random_;
  tests::FakeSpawner spawner_;
};

class World final : private transport::HttpSessionOpener {
 public:
  World(std::uint32_t seed, Deeds& deeds);
  ~World() override;

  void step();
  /// Lets everybody finish: a call without an answer is then lost.
  void finish();
  const Ledger& ledger() const { return ledger_; }

 private:
  static constexpr std::size_t kMostClients = 8;

  std::variant<std::unique_ptr<session::Session>, transport::HttpRefusal> open(
      const transport::HttpArrival& arrival, session::Transport& transport) override;
  void session_over(session::Session&) override {}
  void bound(session::Session&, pid_t) override {}
  bool would_be_private(const transport::HttpArrival& arrival) override;
  const std::string& only_server() const override { return none_; }
  Account& account(const std::string& principal) override { return shares_.account(principal); }

  Definition some_definition();
  Definition for_url(Definition definition, bool modern);
  std::shared_ptr<pool::ServerSpec> spec_of(const Definition& definition);
  std::unique_ptr<Client> some_client(std::size_t seat);
  std::unique_ptr<Client> pipe_client(std::size_t seat);
  void settle();
  void read();
  void interfere();
  void replace_the_dead();

  /// What the entries of the configuration say, for this episode.
  struct Habits {
    std::chrono::milliseconds idle{};
    std::optional<bool> park;
    bool restart = true;
    bool era_is_known = true;
  };

  tests::HeldClock clock_;  // the seed decides how much time passes, too
  Deeds& deeds_;
  Random random_;
  Ledger ledger_;
  Loop loop_;
  Stage stage_;
  pool::Pool pool_;
  std::vector<Definition> definitions_;
  std::map<std::string, Habits> habits_;  // by server
  std::string none_;
  Shares shares_;
  IdSource<SessionId> ids_;
  int last_principal_ = 0;
  bool hostile_ = false;  // its servers try to forge messages
  transport::HttpEndpoint endpoint_;
  std::array<Seat, kMostClients> seats_;
  std::list<tests::FakeClient> elsewhere_;  // sessions with an address of their own
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace corral::crosstalk
