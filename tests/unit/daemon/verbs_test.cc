// What each verb answers, and when it is refused.
#include "daemon/verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/daemon_in_memory.h"

namespace corral::daemon {
namespace {

using control::Hello;
using control::Reply;
using control::Verb;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class VerbsTest : public testing::Test {
 protected:
  /// The only reply so far.
  static Reply only(const Replies& replies) {
    EXPECT_EQ(replies->size(), 1U);
    return replies->empty() ? Reply() : replies->front();
  }
  static std::string refused(const Replies& replies) {
    const Reply reply = only(replies);
    return reply.kind == Reply::Kind::Refused && reply.code == kRefused ? reply.text : "not refused";
  }
  static boost::json::object result(const Replies& replies) {
    const Reply reply = only(replies);
    EXPECT_EQ(reply.kind, Reply::Kind::Result) << reply.text;
    return reply.kind == Reply::Kind::Result ? tests::json(reply.text).as_object() : boost::json::object();
  }
  Replies create_session(const std::function<void(Hello&)>& change, const std::string& confinement = {}) {
    Hello hello;
    hello.verb = Verb::SessionCreate;
    hello.cwd = "/";
    change(hello);
    return daemon.ask(hello, confinement);
  }
  Replies end_session(const std::string& id) {
    Hello hello;
    hello.verb = Verb::SessionEnd;
    hello.session = id;
    return daemon.ask(hello);
  }

  DaemonInMemory daemon;
};

// ---- looking

TEST_F(VerbsTest, StatusShowsSessionsAndInstances) {
  ShimClient client = daemon.ready_client("files");

  const Reply reply = only(daemon.ask(Verb::Status));

  EXPECT_EQ(reply.kind, Reply::Kind::Status);
  const auto status = tests::json(reply.text).as_object();
  EXPECT_EQ(status.at("sessions").as_array().size(), 1U);
  EXPECT_EQ(status.at("instances").as_array().size(), 1U);
}

TEST_F(VerbsTest, WhatMustBeMeasuredIsAnsweredOnceAndAlsoIfNobodyMeasures) {
  Hello status;
  status.verb = Verb::Status;
  status.measure = true;
  const Replies measured = daemon.ask(status);
  const Replies info = daemon.ask(Verb::Info);
  const Replies metrics = daemon.ask(Verb::Metrics);

  daemon.pass(seconds(3));

  EXPECT_EQ(only(measured).kind, Reply::Kind::Status);
  EXPECT_TRUE(result(info).contains("server_version"));
  EXPECT_THAT(std::string(result(metrics).at("text").as_string()), HasSubstr("corral_"));
}

TEST_F(VerbsTest, EventsComeAfterTheNumberThatIsAsked) {
  daemon.connect("fils");
  const std::uint64_t last = daemon.records.events().last();
  Hello hello;
  hello.verb = Verb::Events;
  hello.after = last - 1;

  const auto events = result(daemon.ask(hello));

  ASSERT_EQ(events.at("events").as_array().size(), 1U);
  EXPECT_EQ(events.at("next").to_number<std::uint64_t>(), last);
}

TEST_F(VerbsTest, AnEventIsWaitedFor) {
  Hello hello;
  hello.verb = Verb::Events;
  hello.after = daemon.records.events().last();
  hello.wait = seconds(10);
  const Replies replies = daemon.ask(hello);
  ASSERT_TRUE(replies->empty());

  daemon.connect("fils");

  EXPECT_EQ(result(replies).at("events").as_array().size(), 1U);
}

// ---- one server

TEST_F(VerbsTest, StopEndsTheInstanceAndAnswersWithTheProof) {
  ShimClient client = daemon.ready_client("files");

  const Replies replies = daemon.ask(Verb::Stop, "files");
  EXPECT_TRUE(replies->empty()) << "its tree is not gone yet";
  daemon.end_server();

  const auto ended = result(replies).at("ended").as_array();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].at("cause"), "stopped");
  EXPECT_EQ(ended[0].at("proved"), true);
  EXPECT_EQ(daemon.hub.snapshots().now().sessions.at(0).state, "stopped");
}

TEST_F(VerbsTest, StartAllowsWhatWasStoppedOnce) {
  daemon.ask(Verb::Stop, "files");

  EXPECT_EQ(result(daemon.ask(Verb::Start, "files")).at("allowed"), true);
  EXPECT_EQ(result(daemon.ask(Verb::Start, "files")).at("allowed"), false);
}

TEST_F(VerbsTest, RestartEndsTheInstanceAndAllowsTheNext) {
  ShimClient client = daemon.ready_client("files");
  const std::size_t before = daemon.spawner.servers.size();

  const Replies replies = daemon.ask(Verb::Restart, "files");
  daemon.end_server();
  daemon.until([&] { return daemon.spawner.servers.size() > before; }, seconds(5));

  EXPECT_EQ(result(replies).at("ended").as_array().at(0).at("cause"), "restarted");
  EXPECT_FALSE(daemon.hub.snapshots().now().servers.at(0).stopped);
}

TEST_F(VerbsTest, AnUnknownServerCanBeNeitherStoppedNorStarted) {
  for (const Verb verb : {Verb::Stop, Verb::Start, Verb::Restart}) {
    EXPECT_THAT(refused(daemon.ask(verb, "fils")), StartsWith("no server is called 'fils'"));
  }
}

TEST_F(VerbsTest, ADisabledServerCanBeStoppedButNotStarted) {
  daemon.file.servers.at(0).disabled = true;
  daemon.hub.reload("test", {});

  EXPECT_EQ(refused(daemon.ask(Verb::Start, "files")), "server files is disabled in corral.json");
  EXPECT_EQ(refused(daemon.ask(Verb::Restart, "files")), "server files is disabled in corral.json");
  EXPECT_TRUE(result(daemon.ask(Verb::Stop, "files")).at("ended").as_array().empty());
}

TEST_F(VerbsTest, TheControlServerCannotBeStopped) {
  config::Server control = an_entry("corral");
  control.built_in = true;
  daemon.file.servers.push_back(control);
  daemon.hub.reload("test", {});

  EXPECT_THAT(refused(daemon.ask(Verb::Stop, "corral")), HasSubstr("`corral shutdown`"));
}

// ---- session objects

TEST_F(VerbsTest, ASessionObjectIsListedUntilItEnds) {
  const auto created = result(create_session([](Hello& hello) { hello.servers = {"files"}; }));
  const std::string id(created.at("id").as_string());

  EXPECT_EQ(result(daemon.ask(Verb::SessionList)).at("sessions").as_array().size(), 1U);
  EXPECT_EQ(result(end_session(id)).at("leaked"), false);
  EXPECT_TRUE(result(daemon.ask(Verb::SessionList)).at("sessions").as_array().empty());
}

TEST_F(VerbsTest, ASessionObjectOfAnUnknownServerIsRefused) {
  const Replies replies = create_session([](Hello& hello) { hello.servers = {"fils"}; });

  EXPECT_THAT(refused(replies), StartsWith("no server is called 'fils'"));
}

TEST_F(VerbsTest, ASandboxBringsNeitherCommandsNorOwners) {
  const std::string where = "its pid namespace";

  EXPECT_THAT(refused(create_session([](Hello& hello) { hello.commands = {{"/bin/sh"}}; }, where)),
              AllOf(HasSubstr(where), HasSubstr("`corral run`")));
  EXPECT_THAT(refused(create_session([](Hello& hello) { hello.owner = 1; }, where)),
              HasSubstr("time to live"));
  EXPECT_TRUE(result(create_session([](Hello& hello) { hello.servers = {"files"}; }, where)).contains("id"));
}

TEST_F(VerbsTest, AConnectedSessionEndsByItsNumber) {
  ShimClient client = daemon.ready_client("files");

  const Replies replies = end_session("1");
  daemon.end_server();

  EXPECT_EQ(result(replies).at("ended").as_array().size(), 1U);
  EXPECT_TRUE(daemon.hub.empty());
}

TEST_F(VerbsTest, AnUnknownSessionIsRefused) {
  for (const char* id : {"7", "s-none", "1x", ""}) {
    EXPECT_THAT(refused(end_session(id)), StartsWith("no session is called '" + std::string(id) + "'"));
  }
}

// ---- the daemon

TEST_F(VerbsTest, ShutdownDrainsTellsTheServiceAndCounts) {
  ShimClient client = daemon.ready_client("files");
  std::string why;
  daemon.hub.when_asked_to_stop([&why](const std::string& reason) { why = reason; });

  const Replies replies = daemon.ask(Verb::Shutdown);
  daemon.end_server();
  daemon.until([&replies] { return !replies->empty(); });

  EXPECT_EQ(why, "corral shutdown by process 4711");
  EXPECT_EQ(only(replies).kind, Reply::Kind::Exit);
  EXPECT_EQ(only(replies).text, "ended 1 session and 1 instance");
}

TEST_F(VerbsTest, ShutdownDoesNotHurryBecauseTheServiceDrainsToo) {
  ShimClient client = daemon.ready_client("files");
  daemon.call(client);
  daemon.hub.when_asked_to_stop([this](const std::string&) { daemon.hub.drain([](const Drained&) {}); });

  daemon.ask(Verb::Shutdown);
  daemon.pass(seconds(4));
  EXPECT_EQ(daemon.last_server().stops_told(), 0U) << "the call has its time";
  daemon.ask(Verb::Shutdown);
  daemon.pass(seconds(0));

  EXPECT_TRUE(daemon.until([this] { return daemon.last_server().stops_told() > 0; }, seconds(1)));
}

TEST_F(VerbsTest, WhileItShutsDownOnlyLookingIsAllowed) {
  ShimClient client = daemon.ready_client("files");
  daemon.hub.drain([](const Drained&) {});

  for (const Verb verb :
       {Verb::Reload, Verb::Restart, Verb::Stop, Verb::Start, Verb::SessionCreate, Verb::SessionEnd}) {
    EXPECT_EQ(refused(daemon.ask(verb, "files")), "the daemon is shutting down");
  }
  EXPECT_EQ(only(daemon.ask(Verb::Status)).kind, Reply::Kind::Status);
  EXPECT_EQ(only(daemon.ask(Verb::SessionList)).kind, Reply::Kind::Result);
}

TEST_F(VerbsTest, AnOldProgramMayOnlyShutDown) {
  daemon.file.options.min_version = "2.0";
  daemon.hub.reload("test", {});

  EXPECT_THAT(refused(daemon.ask(Verb::Status)), HasSubstr("min_version"));
  EXPECT_EQ(only(daemon.ask(Verb::Shutdown)).kind, Reply::Kind::Exit);
}

TEST_F(VerbsTest, ConnectIsNotAQuestion) {
  EXPECT_EQ(refused(daemon.ask(Verb::Connect, "files")), "unsupported request");
}

TEST_F(VerbsTest, ReloadTellsWhatHasChanged) {
  daemon.file.servers.push_back(an_entry("notes"));

  const auto reloaded = result(daemon.ask(Verb::Reload));

  EXPECT_EQ(reloaded.at("added"), (boost::json::array{"notes"}));
  EXPECT_TRUE(reloaded.at("changed").as_array().empty());
}

TEST_F(VerbsTest, AReloadThatFailsIsRefused) {
  daemon.file_problem = "corral.json:1:1: this is not JSON.";

  EXPECT_EQ(refused(daemon.ask(Verb::Reload)), "corral.json:1:1: this is not JSON; nothing was changed");
}

}  // namespace
}  // namespace corral::daemon
