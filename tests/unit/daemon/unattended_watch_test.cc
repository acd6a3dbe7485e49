// What happens to sessions that a background process of their client holds when nobody is attached to it.
#include "daemon/unattended_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "daemon/daemon_in_memory.h"
#include "keeper/kernel.h"

namespace corral::daemon {
namespace {

using events::Kind;
using std::chrono::minutes;
using std::chrono::seconds;
using survey::Attendance;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string state_in(DaemonInMemory& daemon) { return daemon.hub.snapshots().now().sessions.at(0).state; }

class Unattended : public testing::Test {
 protected:
  explicit Unattended(std::optional<std::chrono::milliseconds> asked = std::nullopt, bool stateless = false)
      : daemon(with_entries({entry(asked, stateless)})) {}

  static config::Server entry(std::optional<std::chrono::milliseconds> asked, bool stateless) {
    config::Server server = an_entry("files");
    server.unattended = asked;
    server.stateless = stateless;
    server.idle = std::chrono::hours(24);  // else a stateless one is parked for another reason
    return server;
  }
  void found(Attendance attendance) { daemon.backgrounds[getpid()] = {"Codex", 4711, attendance}; }
  /// A client whose process is this one.
  ShimClient ready_client() {
    ShimClient client = daemon.connect("files", [](transport::Arrival& arrival) {
      arrival.client = UniqueFd(keeper::pidfd_open(getpid()));
    });
    client.say(tests::kInitialize);
    daemon.settle();
    daemon.answer_handshake();
    client.say(tests::kInitialized);
    daemon.settle();
    daemon.last_server().heard();
    client.heard();
    return client;
  }
  void pass(Clock::duration time) {
    for (Clock::duration passed{}; passed < time; passed += seconds(1)) daemon.pass(seconds(1));
  }
  std::string state() { return state_in(daemon); }
  bool is_parked() { return state() == "parked"; }

  DaemonInMemory daemon;
};

class AskedFor : public Unattended {
 protected:
  AskedFor() : Unattended(minutes(10)) {}
};

class Stateless : public Unattended {
 protected:
  Stateless() : Unattended(std::nullopt, true) {}
};

class Never : public Unattended {
 protected:
  Never() : Unattended(std::chrono::milliseconds(0), true) {}
};

TEST_F(AskedFor, IsParkedAfterTheTimeAndTheNextCallStartsAnother) {
  found(Attendance::Unattended);
  ShimClient client = ready_client();

  pass(minutes(9));
  EXPECT_FALSE(is_parked());
  pass(minutes(2));

  ASSERT_TRUE(is_parked());
  EXPECT_EQ(state(), "parked");
  daemon.end_server();
  daemon.call(client);
  ASSERT_EQ(daemon.spawner.servers.size(), 2U);
  daemon.answer_handshake();
  daemon.answer_call();
  EXPECT_THAT(client.heard(), AllOf(HasSubstr("its state in memory is lost"), HasSubstr(R"("id":7)")));
}

TEST_F(AskedFor, SaysInAnEventWhoWasNotAttached) {
  found(Attendance::Unattended);
  const ShimClient client = ready_client();

  pass(minutes(11));

  EXPECT_THAT(daemon.events_of(Kind::Unattended),
              ElementsAre(AllOf(HasSubstr("parked: "), HasSubstr("Codex (pid 4711)"), HasSubstr("files"))));
  EXPECT_THAT(daemon.events_of(Kind::Stop), Contains(HasSubstr("parked: ")));
}

TEST_F(AskedFor, SomebodyWhoIsAttachedKeepsIt) {
  found(Attendance::Attended);
  const ShimClient client = ready_client();

  pass(minutes(60));

  EXPECT_FALSE(is_parked());
  EXPECT_THAT(daemon.events_of(Kind::Unattended), IsEmpty());
}

TEST_F(AskedFor, WhatCannotBeReadCountsAsAttended) {
  found(Attendance::Unattended);
  const ShimClient client = ready_client();
  pass(minutes(9));
  found(Attendance::Unknown);
  pass(minutes(60));
  EXPECT_FALSE(is_parked());
  daemon.backgrounds.clear();
  pass(minutes(60));
  EXPECT_FALSE(is_parked());
}

TEST_F(AskedFor, TheTimeBeginsAgainWhenSomebodyComesBack) {
  found(Attendance::Unattended);
  const ShimClient client = ready_client();
  pass(minutes(9));
  found(Attendance::Attended);
  pass(minutes(2));
  found(Attendance::Unattended);

  pass(minutes(9));
  EXPECT_FALSE(is_parked());
  pass(minutes(2));
  EXPECT_TRUE(is_parked());
}

TEST_F(AskedFor, WorkThatGoesOnIsUse) {
  found(Attendance::Unattended);
  ShimClient client = ready_client();
  daemon.call(client);

  pass(minutes(30));
  EXPECT_FALSE(is_parked()) << "a call is in flight";
  daemon.answer_call();
  pass(minutes(9));
  EXPECT_FALSE(is_parked()) << "the last call is not long enough ago";
  pass(minutes(2));
  EXPECT_TRUE(is_parked());
}

TEST_F(AskedFor, AnotherProcessUnderTheSameClientBeginsAgain) {
  found(Attendance::Unattended);
  const ShimClient client = ready_client();
  pass(minutes(9));
  daemon.backgrounds[getpid()].pid = 4712;
  pass(minutes(9));
  EXPECT_FALSE(is_parked());
}

TEST_F(Stateless, IsParkedWithoutBeingAskedFor) {
  found(Attendance::Unattended);
  const ShimClient client = ready_client();
  pass(minutes(11));
  EXPECT_TRUE(is_parked());
}

TEST_F(Unattended, WhatMayKeepStateIsOnlyReportedOnceWithTheLineThatParksIt) {
  found(Attendance::Unattended);
  const ShimClient client = ready_client();

  pass(minutes(60));

  EXPECT_FALSE(is_parked());
  EXPECT_THAT(daemon.events_of(Kind::Unattended),
              ElementsAre(AllOf(HasSubstr("kept: "), HasSubstr(R"("corral": {"unattended": "10m"})"),
                                HasSubstr("in its entry in corral.json"))));
  const observe::Snapshot now = daemon.hub.snapshots().now();
  EXPECT_GE(*now.sessions.at(0).unattended, minutes(59));
  EXPECT_THAT(now.instances.at(0).unattended, AllOf(HasSubstr("Codex (pid 4711)"), HasSubstr("unattended")));
}

TEST_F(Unattended, AReloadThatAsksForItParksIt) {
  found(Attendance::Unattended);
  const ShimClient client = ready_client();
  pass(minutes(60));
  daemon.file = with_entries({entry(minutes(1), false)});
  daemon.hub.reload("test", {});

  pass(minutes(1));

  EXPECT_TRUE(is_parked());
}

TEST_F(Unattended, TheTopOfTheFileCountsForCommandsOfClients) {
  daemon.file.options.unattended = minutes(1);
  daemon.hub.reload("test", {});
  found(Attendance::Unattended);
  const ShimClient client = daemon.connect("", [](transport::Arrival& arrival) {
    arrival.hello.argv = {"/opt/bin/fake-server"};
    arrival.client = UniqueFd(keeper::pidfd_open(getpid()));
  });
  client.say(tests::kInitialize);
  daemon.settle();
  for (const std::string& line : daemon.last_server().heard()) {  // it is asked first whether it is modern
    daemon.last_server().say(R"({"jsonrpc":"2.0","error":{"code":-32601,"message":"no"},"id":)" +
                             boost::json::serialize(tests::json(line).at("id")) + "}");
  }
  daemon.settle();
  daemon.answer_handshake();
  EXPECT_TRUE(daemon.until([this] { return is_parked(); }, minutes(3)));
}

TEST_F(Never, NobodyLooks) {
  found(Attendance::Unattended);
  const ShimClient client = ready_client();
  pass(minutes(60));
  EXPECT_FALSE(is_parked());
  EXPECT_EQ(daemon.looks, 0);
}

TEST_F(AskedFor, AClientOfAnotherKindIsLookedAtOnce) {
  const ShimClient client = ready_client();
  pass(minutes(60));
  EXPECT_EQ(daemon.looks, 1);
  EXPECT_FALSE(is_parked());
}

TEST_F(AskedFor, NobodyLooksWhileTheSessionHasNoProcess) {
  found(Attendance::Unattended);
  const ShimClient client = ready_client();
  pass(minutes(11));
  ASSERT_TRUE(is_parked());
  daemon.end_server();
  const int before = daemon.looks;
  pass(minutes(60));
  EXPECT_EQ(daemon.looks, before);
}

TEST_F(AskedFor, ALookIsRareWhileTheTimeIsLong) {
  found(Attendance::Attended);
  const ShimClient client = ready_client();
  pass(minutes(10));
  EXPECT_LE(daemon.looks, 61) << "every 10 s, and once at the beginning";
}

/// Whatever happens in whatever order: an instance is parked only after ten minutes in which nobody was seen
/// to be attached and no call was in flight.
TEST(UnattendedRandomly, NeverParksWhatSomebodyUses) {
  std::mt19937 random(4711);
  int parked = 0;
  for (int round = 0; round < 30; ++round) {
    config::Server server = an_entry("files");
    server.unattended = minutes(10);
    DaemonInMemory daemon(with_entries({server}));
    daemon.backgrounds[getpid()] = {"Codex", 4711, Attendance::Unattended};
    ShimClient client = daemon.connect("files", [](transport::Arrival& arrival) {
      arrival.client = UniqueFd(keeper::pidfd_open(getpid()));
    });
    client.say(tests::kInitialize);
    daemon.settle();
    daemon.answer_handshake();
    client.say(tests::kInitialized);
    daemon.settle();
    Clock::time_point used = Clock::now();
    bool calls = false;
    for (int step = 0; step < 120 && state_in(daemon) != "parked"; ++step) {
      const int what = static_cast<int>(random() % 12);
      if (what == 0) daemon.backgrounds[getpid()].attendance = Attendance::Attended;
      if (what == 1) daemon.backgrounds[getpid()].attendance = Attendance::Unknown;
      if (what >= 2 && what <= 6) daemon.backgrounds[getpid()].attendance = Attendance::Unattended;
      if (what == 7 && !calls) {
        daemon.call(client, step + 10);
        calls = true;
      } else if (what >= 8 && calls) {
        daemon.answer_call();
        calls = false;
        used = Clock::now();
      }
      if (daemon.backgrounds[getpid()].attendance != Attendance::Unattended || calls) used = Clock::now();
      for (int second = 0; second < 60; ++second) {
        daemon.pass(seconds(1));
        if (daemon.backgrounds[getpid()].attendance != Attendance::Unattended || calls) used = Clock::now();
      }
    }
    if (state_in(daemon) != "parked") continue;
    ++parked;
    EXPECT_GE(Clock::now() - used, minutes(10)) << "in round " << round;
  }
  EXPECT_GT(parked, 0) << "it proves nothing if none is parked";
}

}  // namespace
}  // namespace corral::daemon
