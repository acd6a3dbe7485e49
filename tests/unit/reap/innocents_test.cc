// Nobody innocent is ever ended: random machines, and every command that can end something. What is innocent
// and what has leaked is known from how the machine was built, not from the code under test.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "reap/every_ending.h"
#include "survey/scene.h"

namespace corral::reap {
namespace {

using survey::Scene;
using survey::Survey;

constexpr int kMachines = 3000;

/// What can be true of a leaked server that makes it innocent.
enum class Trait {
  OtherUser,
  HoldsTheAsker,
  Debugger,
  Container,
  ClientInside,
  Kept,
  TcpListener,
  Called,
  CallsItself,
  UnixListener,
  UnixPeer,
  HiddenPeer,
  Pipeline,
  Count
};

/// How the server is known to be one.
enum class Kind { Package, ConfiguredSame, ConfiguredAlike, LauncherGone, Count };

class Machine {
 public:
  explicit Machine(std::uint32_t seed) : random_(seed) {
    scene_.process(kEditor, 1, {"code"});
    scene_.process(kAgent, 1, {"codex"});
    scene_.process(kStranger, 1, {"stranger"});
    asker_ = {.own_uid = 1000, .own_ancestors = {next_++}, .asked = true};
    scene_.process(asker_.own_ancestors[0], 1, {"bash"});
    const int situations = between(3, 9);
    for (int i = 0; i < situations; ++i) add_situation();
  }

  const Scene& scene() const { return scene_; }
  const survey::Asker& asker() const { return asker_; }
  const std::set<pid_t>& innocent() const { return innocent_; }  // for every command but recovery
  const std::set<pid_t>& unasked() const { return unasked_; }    // for those that nobody asked
  const std::set<pid_t>& possible() const { return possible_; }  // without --possible
  const std::set<pid_t>& leaked() const { return leaked_; }      // reap --orphans ends them
  const std::map<std::string, int>& counts() const { return counts_; }
  const std::set<pid_t>& remnants() const { return remnants_; }  // recovery ends these and nobody else
  const std::set<pid_t>& cgroup() const { return cgroup_; }      // in that of the lost instance
  static Claim claim() { return {kInstance, Scene::kTag, kDaemonStarted, 1000}; }
  std::size_t keep() { return static_cast<std::size_t>(between(0, 3)); }
  bool chance() { return between(0, 1) == 1; }

 private:
  static constexpr pid_t kEditor = 10;
  static constexpr pid_t kAgent = 11;
  static constexpr pid_t kStranger = 12;
  static constexpr pid_t kOlder = 13;
  static constexpr std::uint64_t kDaemonStarted = 20 * 100;  // as the process 20 would be
  static constexpr const char* kInstance = "0123456789abcdef0123456789abcdef";
  static constexpr const char* kOtherInstance = "fedcba9876543210fedcba9876543210";

  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  template <class Enum>
  Enum any_of() {
    return static_cast<Enum>(between(0, static_cast<int>(Enum::Count) - 1));
  }

  void add_situation() {
    switch (between(0, 9)) {
      case 8: return add_remnant();
      case 9: return add_member_of_cgroup();
      case 0: return add_language_servers();
      case 1: return add_other_job();
      case 2: return add_what_has_no_evidence();
      case 3: return add_servers_in_use();
      default: return add_leaked_server();
    }
  }

  /// An editor's language servers, of a program that is also an MCP server.
  void add_language_servers() {
    ++counts_["language servers"];
    scene_.configure("codex", "dart", "file:/home/me/bin/dart", {"mcp-server"});
    for (int i = between(1, 12); i > 0; --i) {
      const pid_t pid = next_++;
      scene_.process(pid, kEditor, {"dart"});
      scene_.command(pid).key = "file:/home/me/bin/dart";
      scene_.command(pid).script = "/home/me/bin/dart";
      scene_.command(pid).arguments = {chance() ? "language-server" : "tooling-daemon"};
      if (chance()) scene_.command(pid).arguments.emplace_back("--verbose");
      chance() ? scene_.connect(pid, kEditor) : scene_.strand(pid);
      innocent_.insert(pid);
    }
  }

  /// A program of the SDK that does a job other than the one that a configuration starts it for.
  void add_other_job() {
    ++counts_["other job"];
    const pid_t pid = next_++;
    scene_.process(pid, chance() ? 1 : kEditor, {"node"});
    scene_.make_mcp_package(pid, "acme-mcp");
    scene_.command(pid).arguments = {"lsp"};
    scene_.configure("claude-code", "acme", "npm:acme-mcp", {"mcp"});
    chance() ? scene_.connect(pid, kEditor) : scene_.strand(pid);
    innocent_.insert(pid);
  }

  void add_what_has_no_evidence() {
    ++counts_["no evidence"];
    const pid_t pid = next_++;
    const bool named = chance();
    scene_.process(pid, 1, {named ? "mcp-server-unheard-of" : "vim"});
    scene_.strand(pid);
    (named ? possible_ : innocent_).insert(pid);
  }

  /// Fewer than anybody calls a pile-up.
  void add_servers_in_use() {
    ++counts_["in use"];
    const pid_t pid = next_++;
    scene_.process(pid, kAgent, {"node"});
    scene_.make_mcp_package(pid, "@x/used-mcp-" + std::to_string(pid));
    scene_.connect(pid, kAgent);
  }

  /// A process with the mark of an instance whose daemon and keeper were killed, or with half of it.
  void add_remnant() {
    const int reason = between(0, 8);
    ++counts_["remnant " + std::to_string(reason)];
    const pid_t pid = reason == 5 ? kOlder : next_++;
    scene_.process(pid, 1, {"anything"});
    scene_.mark(pid, kInstance);
    switch (reason) {
      case 0: break;
      case 1: scene_.details(pid).environment.clear(); break;  // the limit alone is proof for recovery
      case 2: scene_[pid].uid = 1001; break;
      case 3: scene_.details(pid).tracer = kStranger; break;
      case 4: asker_.own_ancestors.push_back(pid); break;
      case 5: break;                                    // it was there before the daemon
      case 6: scene_.mark(pid, kOtherInstance); break;  // below, but another keeper answers for it
      case 7: scene_.details(pid).rttime_limit = ~std::uint64_t{0}; break;  // it has copied the environment
      case 8: scene_.details(pid).rttime_limit = 1000; break;  // reap leaves it alone, recovery has a record
    }
    if (reason == 0 || reason == 1 || reason == 8) remnants_.insert(pid);
    if (reason != 0 && reason != 5 && reason != 6) innocent_.insert(pid);
    if (reason == 0 || reason == 6) leaked_.insert(pid);
  }

  /// Without any mark, and perhaps of another user by now.
  void add_member_of_cgroup() {
    const int reason = between(0, 3);
    ++counts_["in cgroup " + std::to_string(reason)];
    const pid_t pid = next_++;
    scene_.process(pid, 1, {"anything"});
    if (reason == 1) scene_[pid].uid = 1001;
    if (reason == 2) scene_.details(pid).tracer = kStranger;
    if (reason == 3) asker_.own_ancestors.push_back(pid);
    cgroup_.insert(pid);
    innocent_.insert(pid);
    if (reason < 2) remnants_.insert(pid);
  }

  void add_leaked_server() {
    const Kind kind = any_of<Kind>();
    const std::vector<pid_t> tree = add_tree(kind);
    const auto anybody = [&] {
      return tree[static_cast<std::size_t>(between(0, static_cast<int>(tree.size()) - 1))];
    };
    bool innocent = false;
    bool listens = false;
    for (int i = between(0, 2); i > 0; --i) {
      const Trait trait = any_of<Trait>();
      const bool protects = add_trait(trait, kind, tree, anybody());
      counts_["trait " + std::to_string(static_cast<int>(trait))] += protects ? 1 : 0;
      innocent |= protects;
      listens |= trait == Trait::TcpListener || trait == Trait::UnixListener || trait == Trait::CallsItself;
    }
    counts_["extra port"] += listens && !innocent ? 1 : 0;
    if (listens) unasked_.insert(tree.begin(), tree.end());
    counts_["leaked " + std::to_string(static_cast<int>(kind))] += innocent ? 0 : 1;
    if (innocent) {
      innocent_.insert(tree.begin(), tree.end());
    } else {
      leaked_.insert(tree.begin(), tree.end());
    }
  }

  /// A server that nobody holds: sometimes behind a shell, sometimes with helpers.
  std::vector<pid_t> add_tree(Kind kind) {
    std::vector<pid_t> tree;
    pid_t parent = 1;
    const bool behind_shell = chance();
    if (behind_shell) {
      tree.push_back(next_++);
      scene_.process(tree.back(), parent, {"sh", "-c", "server; :"});
      scene_.make_shell(tree.back());
      parent = tree.back();
    }
    const pid_t server = next_++;
    tree.push_back(server);
    scene_.process(server, parent, {"node"});
    scene_.make_mcp_package(server, "@x/mcp-" + std::to_string(between(0, 3)) + "-" + std::to_string(server));
    scene_.strand(server);
    const std::string key = scene_.command(server).key;
    if (kind == Kind::ConfiguredSame || kind == Kind::ConfiguredAlike) {
      scene_.configure("codex", "entry", key, {"--root", "/home/me"});
      scene_.command(server).arguments = {"--root", kind == Kind::ConfiguredSame ? "/home/me" : "/elsewhere"};
    }
    if (kind == Kind::LauncherGone) {
      scene_.far_ends(server).out = {survey::FarEnd::State::Open, {kAgent}};
    }
    if (behind_shell) scene_.share_pipes(tree.front(), server);
    for (int i = between(0, 2); i > 0; --i) {
      const pid_t helper = next_++;
      scene_.process(helper, tree.back(), {"helper"});
      tree.push_back(helper);
    }
    server_ = server;
    return tree;
  }

  /// Whether it protects from everybody: exactly what a client starts over pipes may have a port, if a person
  /// asks.
  bool add_trait(Trait trait, Kind kind, const std::vector<pid_t>& tree, pid_t somebody) {
    switch (trait) {
      case Trait::OtherUser:
        for (const pid_t pid : tree) scene_[pid].uid = 1001;
        return true;
      case Trait::HoldsTheAsker: asker_.own_ancestors.push_back(somebody); return true;
      case Trait::Debugger: scene_.details(somebody).tracer = kStranger; return true;
      case Trait::Container: scene_.details(tree.front()).in_other_pid_namespace = true; return true;
      case Trait::ClientInside: scene_.process(next_++, somebody, {"claude"}); return true;
      case Trait::Kept:
        scene_.process(next_, 1, {"corral-keeper"}).comm = "corral-keeper";
        scene_[tree.front()].parent = next_++;
        return true;
      case Trait::TcpListener: scene_.listen(somebody, port_++); return kind != Kind::ConfiguredSame;
      case Trait::Called:
        scene_.listen(somebody, port_);
        scene_.call(port_++);
        return true;
      case Trait::CallsItself:
        scene_.listen(somebody, port_);
        scene_.call(port_++, tree.back());
        return kind != Kind::ConfiguredSame;
      case Trait::UnixListener:
        scene_.listen_unix(somebody, "/tmp/hub" + std::to_string(somebody));
        return kind != Kind::ConfiguredSame;
      case Trait::UnixPeer: scene_.link(somebody, kStranger); return true;
      case Trait::HiddenPeer: scene_.link(somebody, 0, "/tmp/hub"); return true;
      case Trait::Pipeline: return add_reader(tree);
      case Trait::Count: break;
    }
    return false;
  }

  bool add_reader(const std::vector<pid_t>& tree) {
    const pid_t reader = next_++;
    scene_.process(reader, 1, {chance() ? "claude" : "jq"});
    scene_.pipe_into(server_, reader);
    if (tree.front() != server_) scene_.share_pipes(tree.front(), server_);
    return true;
  }

  std::mt19937 random_;
  Scene scene_;
  survey::Asker asker_;
  pid_t next_ = 100;
  std::uint16_t port_ = 10000;
  pid_t server_ = 0;  // of the tree that was added last
  std::set<pid_t> innocent_, unasked_, possible_, leaked_, remnants_, cgroup_;
  std::map<std::string, int> counts_;
};

std::set<pid_t> both(const std::set<pid_t>& a, const std::set<pid_t>& b) {
  std::set<pid_t> found;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(found, found.end()));
  return found;
}

std::set<pid_t> without(const std::set<pid_t>& a, const std::set<pid_t>& b) {
  std::set<pid_t> rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
  return rest;
}

std::set<pid_t> none() { return {}; }

void check(Machine& machine, const survey::Snapshot& snapshot, const Survey& survey) {
  Selectors selectors;
  selectors.orphans = machine.chance();
  selectors.pile_ups = machine.chance();
  selectors.possible = machine.chance();
  selectors.keep = machine.keep();
  std::set<pid_t> innocent = machine.innocent();
  if (!selectors.possible) innocent.insert(machine.possible().begin(), machine.possible().end());

  ASSERT_EQ(both(ended_by_reap(survey, selectors, machine.asker()), innocent), none()) << "reap";
  const std::set<pid_t> watched = ended_by_watch(survey, selectors, machine.asker());
  ASSERT_EQ(both(watched, innocent), none()) << "watch";
  ASSERT_EQ(both(watched, machine.unasked()), none()) << "watch";
  const Selectors daemons = unasked(machine.keep());
  const std::set<pid_t> by_daemon = ended_by_watch(survey, daemons, machine.asker());
  ASSERT_EQ(both(by_daemon, machine.innocent()), none()) << "daemon";
  ASSERT_EQ(both(by_daemon, machine.unasked()), none()) << "daemon";
  const std::set<pid_t> copies = ended_by_cleanup(snapshot, survey, machine.keep(), machine.asker());
  ASSERT_EQ(both(copies, machine.innocent()), none()) << "run --cleanup";
  ASSERT_EQ(both(copies, machine.unasked()), none()) << "run --cleanup";
  ASSERT_EQ(both(copies, machine.possible()), none()) << "run --cleanup";
  const std::set<pid_t> recovered =
      ended_by_recovery(snapshot, Machine::claim(), machine.cgroup(), machine.asker());
  ASSERT_EQ(recovered, machine.remnants()) << "recovery";
}

/// Also without a protection something must happen, or the test would say nothing.
void check_that_leaks_are_found(const Machine& machine, const Survey& survey) {
  const std::set<pid_t> ended = ended_by_reap(survey, {.orphans = true}, machine.asker());
  ASSERT_EQ(both(ended, machine.leaked()), machine.leaked()) << "reap --orphans";
  const std::set<pid_t> for_all = without(machine.leaked(), machine.unasked());
  ASSERT_EQ(both(ended_by_watch(survey, {.orphans = true}, machine.asker()), for_all), for_all) << "watch";
}

TEST(Innocents, AreNeverEndedAndLeaksAlwaysAre) {
  // CORRAL_SEED=N repeats one run; each machine's own seed is in the message of a failure.
  const char* const given = getenv("CORRAL_SEED");
  const std::uint32_t first =
      given == nullptr ? std::random_device{}() : static_cast<std::uint32_t>(std::stoul(given));
  std::printf("seed of this run: CORRAL_SEED=%u\n", first);
  std::map<std::string, int> counts;
  for (std::uint32_t i = 0; i < kMachines; ++i) {
    SCOPED_TRACE("CORRAL_SEED=" + std::to_string(first + i));
    Machine machine(first + i);
    const survey::Snapshot snapshot = machine.scene().snapshot();
    const Survey survey = survey::judge(snapshot);
    ASSERT_NO_FATAL_FAILURE(check(machine, snapshot, survey));
    ASSERT_NO_FATAL_FAILURE(check_that_leaks_are_found(machine, survey));
    for (const auto& [what, count] : machine.counts()) counts[what] += count;
  }
  for (int trait = 0; trait < static_cast<int>(Trait::Count); ++trait) {
    EXPECT_GT(counts["trait " + std::to_string(trait)], 100) << "too seldom to say anything";
  }
  for (int kind = 0; kind < static_cast<int>(Kind::Count); ++kind) {
    EXPECT_GT(counts["leaked " + std::to_string(kind)], 100) << "too seldom to say anything";
  }
  for (int reason = 0; reason < 8; ++reason) EXPECT_GT(counts["remnant " + std::to_string(reason)], 100);
  for (int reason = 0; reason < 4; ++reason) EXPECT_GT(counts["in cgroup " + std::to_string(reason)], 100);
  for (const char* situation : {"language servers", "other job", "no evidence", "in use", "extra port"}) {
    EXPECT_GT(counts[situation], 100) << situation;
  }
}

}  // namespace
}  // namespace corral::reap
