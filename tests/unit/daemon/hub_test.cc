// Which clients get a session, are refused, or are told to run the server themselves; and how all of them
// end.
#include "daemon/hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/daemon_in_memory.h"
#include "wire/error_codes.h"

namespace corral::daemon {
namespace {

using events::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// ---- by socket

TEST(HubSocket, AcceptsAShimAndServesItsSession) {
  DaemonInMemory daemon;

  ShimClient client = daemon.ready_client("files");
  daemon.call(client);
  daemon.answer_call();

  EXPECT_THAT(client.line->said, ElementsAre("accepted"));
  EXPECT_THAT(client.heard(), HasSubstr(R"("id":7)"));
  EXPECT_EQ(daemon.hub.sessions(), 1U);
  EXPECT_EQ(daemon.hub.instances(), 1U);
}

TEST(HubSocket, RefusesAnUnknownServerAndNamesTheNearest) {
  DaemonInMemory daemon;

  const ShimClient client = daemon.connect("fils");

  EXPECT_THAT(client.told(), StartsWith("refused 125: no server is called 'fils' (perhaps 'files')"));
  EXPECT_THAT(daemon.events_of(Kind::Refused), ElementsAre(StartsWith("server: refused: no server")));
  EXPECT_TRUE(daemon.hub.empty());
}

TEST(HubSocket, RefusesADisabledServer) {
  config::Server entry = an_entry("files");
  entry.disabled = true;
  DaemonInMemory daemon(with_entries({entry}));

  EXPECT_EQ(daemon.connect("files").told(), "refused 125: server files is disabled in corral.json");
}

TEST(HubSocket, RefusesAShimThatBringsNoPipes) {
  DaemonInMemory daemon;

  const ShimClient client =
      daemon.connect("files", [](transport::Arrival& arrival) { arrival.output.reset(); });

  EXPECT_THAT(client.told(), HasSubstr("two pipes or sockets"));
  EXPECT_THAT(daemon.events_of(Kind::Refused), ElementsAre(StartsWith("pipes: ")));
}

TEST(HubSocket, RefusesAnOlderProgramThanConfigured) {
  config::Configuration configuration = with_entries({an_entry("files")});
  configuration.options.min_version = "2.0";
  DaemonInMemory daemon(configuration);

  const ShimClient old = daemon.connect("files");
  const ShimClient young =
      daemon.connect("files", [](transport::Arrival& arrival) { arrival.hello.version = "2.0"; });

  EXPECT_THAT(old.told(), AllOf(HasSubstr("version 1.0.0"), HasSubstr("min_version")));
  EXPECT_EQ(young.told(), "accepted");
}

TEST(HubSocket, NamesTheFileThatAsksForANewerProgram) {
  config::Configuration configuration = with_entries({an_entry("files")});
  configuration.options.min_version = "99.0";
  configuration.file = "user.json";
  configuration.machine_file = "/etc/corral/config.json";
  for (const auto& [file, next] :
       {std::pair{"user.json", "`corral shutdown`"},
        std::pair{"/etc/corral/config.json", "ask the administrator of this machine"}}) {
    configuration.option_places["min_version"] = {file, 1};
    DaemonInMemory daemon(configuration);

    EXPECT_THAT(daemon.connect("files").told(), AllOf(HasSubstr(file), HasSubstr(next)));
  }
}

TEST(HubSocket, AClientInASandboxRunsItsOwnCommandItself) {
  DaemonInMemory daemon;

  const ShimClient client = daemon.connect("", [](transport::Arrival& arrival) {
    arrival.hello.argv = {"/bin/fake-server"};
    arrival.confinement = "its user namespace";
  });

  EXPECT_EQ(client.told(), "run it: this process is more confined than the daemon (its user namespace)");
  EXPECT_THAT(daemon.events_of(Kind::Refused), IsEmpty());
}

TEST(HubSocket, AClientInASandboxMayUseAConfiguredServer) {
  DaemonInMemory daemon;

  const ShimClient client = daemon.connect(
      "files", [](transport::Arrival& arrival) { arrival.confinement = "its user namespace"; });

  EXPECT_EQ(client.told(), "accepted");
}

TEST(HubSocket, AClientInASandboxMayNotSteerTheDaemon) {
  DaemonInMemory daemon(with_entries({an_entry("corral")}));

  const ShimClient client = daemon.connect(
      "corral", [](transport::Arrival& arrival) { arrival.confinement = "its user namespace"; });

  EXPECT_THAT(client.told(), AllOf(StartsWith("refused 125: "), HasSubstr("use it from outside")));
}

TEST(HubSocket, ACommandOfTheClientIsServed) {
  DaemonInMemory daemon;

  const ShimClient client =
      daemon.connect("", [](transport::Arrival& arrival) { arrival.hello.argv = {"/opt/bin/fake-server"}; });

  EXPECT_EQ(client.told(), "accepted");
  EXPECT_EQ(daemon.hub.snapshots().now().sessions.at(0).server, "fake-server");
}

TEST(HubSocket, ASessionIsRecordedFromItsInstanceToItsEnd) {
  DaemonInMemory daemon;
  ShimClient client = daemon.ready_client("files");

  client.typed.reset();
  daemon.settle();
  daemon.end_server();
  daemon.records.registry().flush();

  const auto past = daemon.records.registry().past_sessions(10);
  ASSERT_EQ(past.size(), 1U);
  EXPECT_EQ(past[0].server, "files");
  EXPECT_EQ(past[0].client_name, "tester");
  EXPECT_EQ(past[0].client_pid, 41);
  EXPECT_EQ(past[0].transport, "stdio");
  EXPECT_FALSE(past[0].instance.empty());
  EXPECT_EQ(past[0].reason, "stdin-closed");
  EXPECT_THAT(daemon.events_of(Kind::Detach), ElementsAre(HasSubstr("session 1 with server files: ended")));
}

TEST(HubSocket, TellsWhenTheLastSessionIsOver) {
  DaemonInMemory daemon;
  int empty = 0;
  daemon.hub.when_empty([&empty] { ++empty; });
  ShimClient one = daemon.connect("files");
  ShimClient two = daemon.connect("files");

  one.line->gone();
  daemon.settle();
  ASSERT_EQ(empty, 0);
  two.line->gone();
  daemon.settle();

  EXPECT_EQ(empty, 1);
  EXPECT_TRUE(daemon.hub.empty());
}

// ---- quotas

config::Configuration with_room_for_one() {
  config::Configuration configuration = with_entries({an_entry("files")});
  configuration.options.max_instances = 1;
  return configuration;
}

TEST(HubQuota, AShimThatFindsNoRoomRunsItsServerItself) {
  DaemonInMemory daemon(with_room_for_one());
  const ShimClient first = daemon.connect("files");

  const ShimClient second = daemon.connect("files");

  EXPECT_EQ(first.told(), "accepted");
  EXPECT_THAT(second.told(), StartsWith("run it: "));
  EXPECT_EQ(daemon.hub.sessions(), 1U);
}

TEST(HubQuota, ASessionObjectWaitsForAnInstanceInsteadOfRunningElsewhere) {
  DaemonInMemory daemon(with_room_for_one());
  const ShimClient first = daemon.connect("files");
  control::Hello create;
  create.verb = control::Verb::SessionCreate;
  create.cwd = "/";
  create.servers = {"files"};
  const Replies created = daemon.ask(create);
  ASSERT_EQ(created->size(), 1U);
  const std::string id = tests::json(created->at(0).text).at("id").as_string().c_str();

  const ShimClient second =
      daemon.connect("files", [&id](transport::Arrival& arrival) { arrival.hello.session = id; });

  EXPECT_EQ(second.told(), "accepted");
}

TEST(HubQuota, BeyondItsSessionsTheUserRunsServersItself) {
  DaemonInMemory daemon;
  const auto held = daemon.hub.account("user").take(Good::Sessions, Shares::kSessions);
  ASSERT_TRUE(held);

  const ShimClient client = daemon.connect("files");

  EXPECT_THAT(client.told(), AllOf(StartsWith("run it: "), HasSubstr("16384")));
}

TEST(HubQuota, AnUnknownSessionObjectIsRefused) {
  DaemonInMemory daemon;

  const ShimClient client =
      daemon.connect("files", [](transport::Arrival& arrival) { arrival.hello.session = "s-none"; });

  EXPECT_THAT(client.told(), StartsWith("refused 125: no session is called 's-none'"));
}

// ---- by HTTP

class HubHttp : public testing::Test {
 protected:
  std::variant<std::unique_ptr<session::Session>, transport::HttpRefusal> open(const std::string& server,
                                                                               const std::string& root = {}) {
    return daemon.hub.open({server, root, "user", "http"}, transport);
  }

  DaemonInMemory daemon;
  SilentTransport transport;
};

TEST_F(HubHttp, OpensASessionAndForgetsItWhenItIsOver) {
  auto opened = open("files");
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<session::Session>>(opened));
  auto& session = std::get<std::unique_ptr<session::Session>>(opened);
  daemon.hub.bound(*session, 815);

  const observe::Snapshot snapshot = daemon.hub.snapshots().now();
  daemon.hub.session_over(*session);

  ASSERT_EQ(snapshot.sessions.size(), 1U);
  EXPECT_EQ(snapshot.sessions[0].client.pid, 815);
  EXPECT_EQ(snapshot.sessions[0].transport, "http");
  EXPECT_TRUE(daemon.hub.empty());
}

TEST_F(HubHttp, AnUnknownServerIsNotFound) {
  const auto opened = open("fils");

  ASSERT_TRUE(std::holds_alternative<transport::HttpRefusal>(opened));
  EXPECT_EQ(std::get<transport::HttpRefusal>(opened).status, 404);
  EXPECT_THAT(daemon.events_of(Kind::Refused), ElementsAre(StartsWith("server: ")));
}

// A URL may have any word as a name. Only names of the configuration are kept and shown.
TEST_F(HubHttp, ARefusalNamesOnlyConfiguredServers) {
  config::Server off = an_entry("off");
  off.disabled = true;
  daemon.file.servers.push_back(off);
  daemon.hub.reload("test", {});

  open("off");
  open("fils");
  open("fils", "/project");
  open("files", "/project");

  std::vector<std::string> names;
  for (const events::Event& event : daemon.told) {
    if (event.kind == Kind::Refused) names.push_back(event.server);
  }
  EXPECT_THAT(names, ElementsAre("off", "", "", "files"));
  const observe::Snapshot snapshot = daemon.hub.snapshots().now();
  ASSERT_EQ(snapshot.failures.size(), 2U);
  EXPECT_EQ(snapshot.counters.refusals, 4U);
}

TEST_F(HubHttp, ARootIsRefusedWhereTheServerHasNone) {
  const auto opened = open("files", "/project");

  ASSERT_TRUE(std::holds_alternative<transport::HttpRefusal>(opened));
  EXPECT_EQ(std::get<transport::HttpRefusal>(opened).status, 400);
  EXPECT_THAT(daemon.events_of(Kind::Refused), ElementsAre(StartsWith("root: ")));
}

TEST_F(HubHttp, WhileTheDaemonShutsDownThereIsNoSession) {
  daemon.hub.drain([](const Drained&) {});

  const auto opened = open("files");

  ASSERT_TRUE(std::holds_alternative<transport::HttpRefusal>(opened));
  EXPECT_EQ(std::get<transport::HttpRefusal>(opened).status, 503);
  EXPECT_EQ(std::get<transport::HttpRefusal>(opened).code, wire::kShuttingDown);
}

TEST_F(HubHttp, KnowsWhoWouldGetAnInstanceOfItsOwn) {
  config::Server shared = an_entry("shared", config::Share::Shared);
  daemon.file.servers.push_back(shared);
  daemon.hub.reload("test", {});

  EXPECT_TRUE(daemon.hub.would_be_private({"files", "", "user", "http"}));
  EXPECT_FALSE(daemon.hub.would_be_private({"shared", "", "user", "http"}));
  EXPECT_FALSE(daemon.hub.would_be_private({"none", "", "user", "http"}));
}

TEST_F(HubHttp, TheOnlyServerIsACommand) {
  daemon.hub.serve_only({"/opt/bin/notes"}, "/", {"PATH=/bin"});

  auto opened = open("notes");

  EXPECT_EQ(daemon.hub.only_server(), "notes");
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<session::Session>>(opened));
  daemon.hub.session_over(*std::get<std::unique_ptr<session::Session>>(opened));
}

TEST_F(HubHttp, TheOnlyServerHasTheNameThatAClientsCommandWouldHave) {
  daemon.hub.serve_only({"npx", "-y", "some-server"}, "/", {"PATH=/bin"});

  EXPECT_EQ(daemon.hub.only_server(), "some-server");
  const std::string status = observe::status_json(daemon.hub.snapshots().now());
  EXPECT_THAT(status, HasSubstr(R"({"name":"some-server","disabled":false)"));
}

// ---- draining

class HubDrain : public testing::Test {
 protected:
  void drain() {
    daemon.hub.drain([this](const Drained& what) { ended.push_back(what); });
    daemon.settle();
  }

  DaemonInMemory daemon;
  std::vector<Drained> ended;
};

TEST_F(HubDrain, OfAnEmptyDaemonIsOverAtOnce) {
  drain();

  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].sessions, 0U);
  EXPECT_EQ(ended[0].instances, 0U);
}

TEST_F(HubDrain, WithoutCallsEndsSessionsAtOnceAndWaitsForTheTrees) {
  ShimClient client = daemon.ready_client("files");

  drain();
  EXPECT_TRUE(daemon.last_server().input_closed());
  EXPECT_THAT(ended, IsEmpty());
  daemon.end_server();

  ASSERT_TRUE(daemon.until([this] { return !ended.empty(); }));
  EXPECT_EQ(ended[0].sessions, 1U);
  EXPECT_EQ(ended[0].instances, 1U);
  EXPECT_TRUE(daemon.hub.empty());
}

TEST_F(HubDrain, WaitsForACallInFlight) {
  ShimClient client = daemon.ready_client("files");
  daemon.call(client);

  drain();
  daemon.pass(seconds(4));
  EXPECT_FALSE(daemon.last_server().input_closed()) << "its time is not over";
}

TEST_F(HubDrain, EndsTheSessionWhenItsCallIsAnswered) {
  ShimClient client = daemon.ready_client("files");
  daemon.call(client);
  drain();

  daemon.answer_call();

  EXPECT_TRUE(daemon.until([this] { return daemon.last_server().input_closed(); }, seconds(1)));
  EXPECT_THAT(client.heard(), HasSubstr(R"("id":7,"result")"));
}

TEST_F(HubDrain, ACallThatTakesTooLongIsEndedInHaste) {
  ShimClient client = daemon.ready_client("files");
  daemon.call(client);
  drain();

  ASSERT_TRUE(daemon.until([this] { return daemon.last_server().stops_told() > 0; }, seconds(6)));
  daemon.end_server();

  EXPECT_TRUE(daemon.until([this] { return !ended.empty(); }));
}

TEST_F(HubDrain, ASecondCallDoesNotWaitForCalls) {
  ShimClient client = daemon.ready_client("files");
  daemon.call(client);
  drain();

  drain();
  daemon.pass(milliseconds(20));
  EXPECT_GT(daemon.last_server().stops_told(), 0U);
  daemon.end_server();

  ASSERT_TRUE(daemon.until([this] { return !ended.empty(); }));
  EXPECT_EQ(ended.size(), 2U) << "both hear of the end";
}

TEST_F(HubDrain, GivesUpWhatDoesNotEnd) {
  ShimClient client = daemon.ready_client("files");

  drain();

  EXPECT_TRUE(daemon.until([this] { return !ended.empty(); }, DrainPlan::kLastPatience + seconds(1)));
}

TEST_F(HubDrain, AShimThatArrivesMeanwhileRunsItsServerItself) {
  drain();

  EXPECT_EQ(daemon.connect("files").told(), "run it: the daemon is shutting down");
}

}  // namespace
}  // namespace corral::daemon
