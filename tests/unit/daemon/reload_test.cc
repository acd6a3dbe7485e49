// What another configuration does to sessions that run.
#include "daemon/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/daemon_in_memory.h"

namespace corral::daemon {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class ReloadTest : public testing::Test {
 protected:
  ReloadTest() : daemon(with_entries({an_entry("files"), an_entry("notes")})) {}

  void reload() {
    daemon.hub.reload("test", [this](const Result<Reloaded>& result) { results.push_back(result); });
    daemon.settle();
  }

  DaemonInMemory daemon;
  std::vector<Result<Reloaded>> results;
};

TEST_F(ReloadTest, WithoutAChangeNobodyNotices) {
  ShimClient client = daemon.ready_client("files");

  reload();

  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0]->ended, 0U);
  EXPECT_FALSE(daemon.last_server().input_closed());
  EXPECT_THAT(daemon.events_of(events::Kind::Reload),
              ElementsAre("read: configuration (test): read; no server has changed"));
}

TEST_F(ReloadTest, AChangedServerGetsANewInstanceAndItsSessionStays) {
  ShimClient client = daemon.ready_client("files");
  daemon.file.servers.at(0).argv.emplace_back("--new");

  reload();
  EXPECT_TRUE(results.empty()) << "its old tree is not gone yet";
  daemon.end_server();

  ASSERT_EQ(results.size(), 1U);
  EXPECT_THAT(results[0]->changed, ElementsAre("files"));
  EXPECT_EQ(results[0]->ended, 1U);
  EXPECT_EQ(daemon.hub.sessions(), 1U);
}

TEST_F(ReloadTest, ACallInFlightIsAnsweredFirst) {
  ShimClient client = daemon.ready_client("files");
  daemon.call(client);
  daemon.file.servers.at(0).argv.emplace_back("--new");

  reload();
  EXPECT_TRUE(results.empty()) << "the call has its time";
  daemon.answer_call();

  EXPECT_THAT(client.heard(), HasSubstr(R"("id":7,"result")"));
  EXPECT_TRUE(daemon.last_server().input_closed());
}

TEST_F(ReloadTest, AServerThatIsNotTouchedGoesOn) {
  ShimClient client = daemon.ready_client("notes");
  daemon.file.servers.at(0).argv.emplace_back("--new");

  reload();

  EXPECT_EQ(results.size(), 1U);
  EXPECT_FALSE(daemon.last_server().input_closed());
}

TEST_F(ReloadTest, AnAddedServerCanBeUsed) {
  ASSERT_THAT(daemon.connect("maps").told(), HasSubstr("no server is called 'maps'"));
  daemon.file.servers.push_back(an_entry("maps"));

  reload();

  ASSERT_EQ(results.size(), 1U);
  EXPECT_THAT(results[0]->added, ElementsAre("maps"));
  EXPECT_EQ(daemon.connect("maps").told(), "accepted");
}

TEST_F(ReloadTest, ARemovedServerEndsItsSessions) {
  ShimClient client = daemon.ready_client("files");
  daemon.file.servers.erase(daemon.file.servers.begin());

  reload();
  daemon.end_server();

  ASSERT_TRUE(daemon.until([this] { return !results.empty(); }, seconds(10)));
  EXPECT_THAT(results[0]->removed, ElementsAre("files"));
  EXPECT_TRUE(daemon.until([this] { return daemon.hub.empty(); }, seconds(10)));
}

TEST_F(ReloadTest, ARemovedServerThatWasStoppedMayComeBack) {
  control::Hello stop;
  stop.verb = control::Verb::Stop;
  stop.server = "files";
  daemon.ask(stop);
  const config::Configuration before = daemon.file;
  daemon.file.servers.erase(daemon.file.servers.begin());
  reload();

  daemon.file = before;
  reload();

  EXPECT_FALSE(daemon.hub.snapshots().now().servers.at(0).stopped);
}

TEST_F(ReloadTest, ABrokenFileChangesNothingAndIsShown) {
  ShimClient client = daemon.ready_client("files");
  daemon.file.servers.clear();
  daemon.file_problem = "corral.json:1:1: this is not JSON.";

  reload();

  ASSERT_EQ(results.size(), 1U);
  ASSERT_FALSE(results[0]);
  EXPECT_EQ(results[0].error().message, "corral.json:1:1: this is not JSON; nothing was changed");
  EXPECT_EQ(daemon.hub.snapshots().now().daemon.config_error, "corral.json:1:1: this is not JSON.");
  EXPECT_FALSE(daemon.last_server().input_closed());
  daemon.file_problem.clear();
  daemon.file.servers = {an_entry("files"), an_entry("notes")};
  reload();
  EXPECT_EQ(daemon.hub.snapshots().now().daemon.config_error, "");
}

TEST_F(ReloadTest, AnotherPortHoldsFromTheNextStartOn) {
  daemon.file.options.http.port = 1;

  reload();

  ASSERT_EQ(results.size(), 1U);
  EXPECT_THAT(results[0]->warnings, ElementsAre(HasSubstr("`corral serve --replace`")));
}

TEST_F(ReloadTest, ALimitHoldsAtOnce) {
  daemon.file.options.max_instances = 1;
  reload();

  EXPECT_EQ(daemon.connect("files").told(), "accepted");
  EXPECT_THAT(daemon.connect("notes").told(), HasSubstr("run it: "));
}

TEST_F(ReloadTest, WhileTheDaemonShutsDownNothingIsRead) {
  daemon.hub.drain([](const Drained&) {});

  reload();

  ASSERT_EQ(results.size(), 1U);
  ASSERT_FALSE(results[0]);
  EXPECT_EQ(results[0].error().message, "the daemon is shutting down");
}

}  // namespace
}  // namespace corral::daemon
