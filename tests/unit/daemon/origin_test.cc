// Which server a session gets, by where it comes from and what is configured.
#include "daemon/origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace corral::daemon {
namespace {

using config::Share;
using testing::Contains;
using testing::HasSubstr;

config::Configuration with(Share share, const std::string& cwd = "") {
  config::Server server;
  server.name = "files";
  server.argv = {"server", "${CORRAL_ROOT}"};
  server.share = share;
  server.cwd = cwd;
  server.file = "/etc/corral.json";
  config::Configuration configuration;
  configuration.file = "/etc/corral.json";
  configuration.servers = {server};
  return configuration;
}

Origin from(const std::string& cwd, const std::string& root = "") {
  Origin origin;
  origin.server = "files";
  origin.cwd = cwd;
  origin.root = root;
  origin.environment = std::make_shared<Environment>(Environment{"PATH=/bin", "CORRAL_ROOT=/mine"});
  return origin;
}

pool::ServerSpec resolved(const Origin& origin, const config::Configuration& configuration) {
  const Result<pool::ServerSpec> spec = resolve(origin, configuration);
  EXPECT_TRUE(spec) << spec.error().message;
  return spec ? *spec : pool::ServerSpec{};
}

TEST(Resolve, AProjectIsTheRootOrElseTheFolder) {
  const pool::ServerSpec given = resolved(from("/cwd", "/project"), with(Share::Root));
  const pool::ServerSpec implied = resolved(from("/cwd"), with(Share::Root));

  EXPECT_EQ(given.root, "/project");
  EXPECT_EQ(given.launch.directory, "/project");
  EXPECT_EQ(implied.root, "/cwd");
  EXPECT_EQ(implied.launch.directory, "/cwd");
}

TEST(Resolve, OneProjectIsOneServerWhereverItIsSeenFrom) {
  const config::Configuration configuration = with(Share::Root);

  EXPECT_EQ(resolved(from("/a", "/project"), configuration).key,
            resolved(from("/b", "/project"), configuration).key);
  EXPECT_NE(resolved(from("/a", "/project"), configuration).key,
            resolved(from("/a", "/other"), configuration).key);
}

TEST(Resolve, AFolderThatIsPinnedDoesNotMixProjects) {
  config::Configuration configuration = with(Share::Root, "/pinned");
  configuration.servers[0].argv = {"server"};  // nothing but the root differs
  const pool::ServerSpec one = resolved(from("/a", "/one"), configuration);
  const pool::ServerSpec other = resolved(from("/a", "/two"), configuration);

  EXPECT_EQ(one.launch.directory, "/pinned");
  EXPECT_EQ(other.launch.directory, "/pinned");
  EXPECT_NE(one.key, other.key);
}

TEST(Resolve, TheVariableIsTheProjectAndNeverTheClientsOwn) {
  EXPECT_THAT(resolved(from("/cwd", "/project"), with(Share::Root)).launch.argv, Contains("/project"));
  EXPECT_THAT(resolved(from("/cwd"), with(Share::Auto)).launch.argv, Contains("/cwd"));
}

TEST(Resolve, WithoutRootSharingTheFolderStaysTheClients) {
  const pool::ServerSpec spec = resolved(from("/cwd", "/project"), with(Share::Shared));

  EXPECT_EQ(spec.root, "");
  EXPECT_EQ(spec.launch.directory, "/cwd");
}

TEST(Resolve, WhatTheClientAsksForCountsMore) {
  Origin origin = from("/cwd", "/project");
  origin.share = "root";
  EXPECT_EQ(resolved(origin, with(Share::Session)).entry.share, Share::Root);
  EXPECT_EQ(resolved(origin, with(Share::Session)).root, "/project");
  origin.share = "session";
  EXPECT_EQ(resolved(origin, with(Share::Root)).entry.share, Share::Session);
  EXPECT_EQ(resolved(origin, with(Share::Root)).root, "");
}

TEST(Resolve, ACommandIsWhatItIsWhateverIsConfigured) {
  Origin origin = from("/cwd");
  origin.argv = {"/opt/files", "--fast"};

  const pool::ServerSpec spec = resolved(origin, with(Share::Shared));

  EXPECT_EQ(spec.launch.argv, origin.argv);
  EXPECT_FALSE(spec.from_configuration);
  EXPECT_EQ(spec.server, "files");
  EXPECT_EQ(spec.entry.share, Share::Auto);
}

Origin window(const std::string& cwd, const std::string& editor, const std::string& path) {
  Origin origin = from(cwd);
  origin.argv = {"npx", "-y", "@modelcontextprotocol/server-memory"};
  origin.environment = std::make_shared<Environment>(
      Environment{"HOME=/home/me", "PATH=" + path, "EDITOR=" + editor, "TERM=" + editor});
  return origin;
}

TEST(Resolve, FiveWindowsOfAServerThatNoticesNothingAreOneServer) {
  std::set<std::string> keys;
  for (int one = 1; one <= 5; ++one) {
    const std::string number = std::to_string(one);
    const Origin origin = window("/project" + number, "editor" + number, "/nowhere" + number + ":/none");
    const pool::ServerSpec spec = resolved(origin, with(Share::Auto));
    EXPECT_EQ(spec.launch.directory, "/home/me");
    keys.insert(spec.key);
  }
  EXPECT_EQ(keys.size(), 1U);
}

TEST(Resolve, ATokenOfItsOwnMakesAServerOfItsOwn) {
  Origin other = window("/project", "vi", "/bin");
  Environment environment = *other.environment;
  environment.emplace_back("SERVICE_TOKEN=other");
  other.environment = std::make_shared<Environment>(environment);
  EXPECT_NE(resolved(window("/project", "vi", "/bin"), with(Share::Auto)).key,
            resolved(other, with(Share::Auto)).key);
}

TEST(Resolve, WithoutAHomeTheDirectoryStays) {
  Origin origin = window("/project", "vi", "/bin");
  origin.environment = std::make_shared<Environment>(Environment{"PATH=/bin"});
  EXPECT_EQ(resolved(origin, with(Share::Auto)).launch.directory, "/project");
}

TEST(Resolve, AClientMayDeclareWhatItsCommandIgnores) {
  Origin one = window("/one", "vi", "/bin");
  one.argv = {"/opt/server"};
  Origin other = window("/two", "vi", "/bin");
  other.argv = one.argv;
  EXPECT_NE(resolved(one, with(Share::Auto)).key, resolved(other, with(Share::Auto)).key);

  one.ignore = other.ignore = {"cwd"};

  EXPECT_EQ(resolved(one, with(Share::Auto)).key, resolved(other, with(Share::Auto)).key);
  EXPECT_EQ(resolved(one, with(Share::Auto)).launch.directory, "/home/me");
}

TEST(Resolve, AnEntryMayDeclareWhatItsServerIgnores) {
  config::Configuration configuration = with(Share::Auto);
  configuration.servers[0].argv = {"server"};
  configuration.servers[0].ignore = {"cwd"};
  Origin one = from("/one");
  one.environment = std::make_shared<Environment>(Environment{"HOME=/home/me", "PATH=/bin"});
  Origin other = one;
  other.cwd = "/two";
  EXPECT_EQ(resolved(one, configuration).key, resolved(other, configuration).key);
  configuration.servers[0].cwd = "/pinned";
  EXPECT_EQ(resolved(one, configuration).launch.directory, "/pinned");
}

TEST(Resolve, SaysWhyThereIsNone) {
  config::Configuration configuration = with(Share::Auto);
  Origin origin = from("/cwd");
  origin.server = "fles";
  EXPECT_THAT(resolve(origin, configuration).error().message,
              HasSubstr("no server is called 'fles' (perhaps 'files'); the configured servers are files in "
                        "/etc/corral.json"));
  configuration.servers[0].disabled = true;
  EXPECT_THAT(resolve(from("/cwd"), configuration).error().message, HasSubstr("is disabled"));
  configuration.servers[0].disabled = false;
  configuration.servers[0].argv = {"${MISSING}"};
  EXPECT_THAT(resolve(from("/cwd"), configuration).error().message, HasSubstr("MISSING"));
}

TEST(Resolve, DoesNotGiveAClientWhatIsLocked) {
  config::Configuration configuration = with(Share::Shared);
  Origin origin = from("/cwd", "/project");
  origin.share = "root";
  Origin command = origin;
  command.argv = {"server"};
  command.ignore = {"PATH"};
  ASSERT_EQ(resolved(origin, configuration).entry.share, Share::Root);
  ASSERT_EQ(resolved(command, configuration).entry.ignore.size(), 1U);

  for (const char* const key : {"share", "ignore"}) configuration.locks[key] = {"/etc/corral/config.json", 2};

  EXPECT_EQ(resolved(origin, configuration).entry.share, Share::Shared);
  EXPECT_EQ(resolved(origin, configuration).root, "");
  EXPECT_EQ(resolved(command, configuration).entry.share, Share::Auto);
  EXPECT_TRUE(resolved(command, configuration).entry.ignore.empty());
  EXPECT_EQ(locked_wishes(command, configuration), (std::vector<std::string>{"share", "ignore"}));
}

TEST(Resolve, CarriesTheRulesOfTheEntry) {
  config::Configuration configuration = with(Share::Auto);
  configuration.servers[0].restart = false;
  configuration.servers[0].park = true;
  configuration.servers[0].probe = std::chrono::seconds(7);
  configuration.servers[0].idle = std::chrono::seconds(9);
  configuration.servers[0].modern = true;
  configuration.servers[0].eager = true;
  configuration.servers[0].warm = 3;
  configuration.servers[0].on_change = config::OnChange::Warn;

  const pool::ServerSpec spec = resolved(from("/cwd"), configuration);

  EXPECT_FALSE(spec.entry.restart);
  EXPECT_EQ(spec.entry.park, true);
  EXPECT_EQ(spec.entry.probe, std::chrono::seconds(7));
  EXPECT_EQ(spec.entry.idle, std::chrono::seconds(9));
  EXPECT_EQ(configured_era(spec), knowledge::Era::Modern);
  EXPECT_TRUE(spec.entry.eager);
  EXPECT_EQ(spec.entry.warm, 3U);
  EXPECT_EQ(spec.entry.on_change, config::OnChange::Warn);
}

TEST(Interned, EqualValuesAreOne) {
  Environments environments;
  const auto one = environments.keep({"A=1", "B=2"});
  const auto same = environments.keep({"A=1", "B=2"});
  const auto other = environments.keep({"B=2", "A=1"});

  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
}

TEST(Interned, ServersThatDifferInTheirRulesAreTwo) {
  ServerSpecs wanteds;
  pool::ServerSpec shared;
  shared.key = "k";
  shared.entry.share = Share::Shared;
  pool::ServerSpec alone = shared;
  alone.entry.share = Share::Session;

  EXPECT_EQ(wanteds.keep(shared), wanteds.keep(shared));
  const auto kept = wanteds.keep(shared);
  EXPECT_NE(kept, wanteds.keep(alone));
  wanteds.clear();
  EXPECT_NE(kept, wanteds.keep(shared)) << "another configuration, other rules";
}

TEST(Interned, WhatNobodyHoldsIsForgotten) {
  Environments environments;
  for (int i = 0; i < 1000; ++i) environments.keep({"NUMBER=" + std::to_string(i)});

  EXPECT_LT(environments.size(), 100U);
}

}  // namespace
}  // namespace corral::daemon
