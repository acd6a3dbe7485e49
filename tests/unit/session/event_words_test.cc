// The sentences in which the stream tells what happens to instances: people read them, and scripts do.
#include "session/known_server.h"

namespace corral::tests {
namespace {

using events::Event;
using events::Kind;
using std::chrono::milliseconds;
using testing::HasSubstr;

class EventWords : public Lazy {
 protected:
  explicit EventWords(config::Share share = config::Share::Shared) : Lazy(share) {
    exchange.pool.write_to({.events = &stream_});
    stream_.listen([this](const Event& event) { all_.push_back(event); });
  }
  /// The last one of its kind; an empty one if there was none.
  Event last(Kind kind) const {
    Event found;
    for (const Event& event : all_) {
      if (event.kind == kind) found = event;
    }
    return found;
  }

  events::Stream stream_;
  std::vector<Event> all_;
};

class PrivateEventWords : public EventWords {
 protected:
  PrivateEventWords() : EventWords(config::Share::Session) {}
};

const std::string kWho = "instance instance of server files: ";  // of its id the first eight letters

TEST_F(EventWords, OfAStartSayWhoWhyAndHowLongItTook) {
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  const Event spawn = last(Kind::Spawn);
  EXPECT_EQ(spawn.text, kWho + R"(started, shared: share is set to "shared")");
  EXPECT_EQ(spawn.cause, "shared");
  EXPECT_EQ(spawn.server, "files");
  EXPECT_EQ(spawn.pid, 0) << "it is not known yet";

  exchange.clock.pass(milliseconds(1234));
  exchange.answer_handshake(exchange.server());
  const Event ready = last(Kind::Ready);
  EXPECT_EQ(ready.text, kWho + "ready after 1234 ms");
  EXPECT_EQ(ready.took, milliseconds(1234));
  EXPECT_EQ(ready.pid, exchange.server().number());
  const Event attach = last(Kind::Attach);
  EXPECT_EQ(attach.text, "session 1: attached to instance instance of server files");
  EXPECT_EQ(attach.cause, "spawn");
}

TEST_F(PrivateEventWords, OfAStartSayWhetherItIsASpare) {
  exchange.spec->entry.warm = 1;
  exchange.spec->entry.eager = true;
  exchange.ready_client();
  ASSERT_EQ(exchange.started(), 2U);
  EXPECT_EQ(last(Kind::Spawn).cause, "spare");
  EXPECT_EQ(last(Kind::Spawn).text, kWho + "started, private: kept ready for the next session");
  exchange.answer_handshake(exchange.server(1));
  attach();
  EXPECT_EQ(last(Kind::Attach).cause, "spare");
}

TEST_F(PrivateEventWords, OfAPrivateStartSayThatItIsOne) {
  exchange.ready_client();
  EXPECT_EQ(last(Kind::Spawn).cause, "private");
  EXPECT_EQ(last(Kind::Spawn).text, kWho + R"(started, private: share is set to "session")");
}

TEST_F(EventWords, OfACrashHaveWhatTheServerWroteLast) {
  exchange.ready_client();
  exchange.server().complain("no cheese\n");
  exchange.settle();
  exchange.clock.pass(milliseconds(5));
  exchange.server().exit(1 << 8);
  exchange.settle();

  const Event crash = last(Kind::Crash);
  EXPECT_EQ(crash.cause, "died");
  EXPECT_EQ(crash.text, "instance instance of server files exited with code 1");
  EXPECT_THAT(crash.error_lines, testing::ElementsAre("no cheese"));
  const Event extinct = last(Kind::Extinct);
  EXPECT_EQ(extinct.text, kWho + "exited with code 1 (died, 0 processes, 0 ms), its tree is gone");
  EXPECT_EQ(extinct.pid, exchange.server().number());
  EXPECT_EQ(extinct.count, 0U);
  EXPECT_EQ(last(Kind::Restart).text, kWho + R"(started again, shared: share is set to "shared")");
}

TEST_F(EventWords, OfACrashHaveItAlsoWhereNoSessionMayReadIt) {
  FakeClient& one = exchange.ready_client();
  FakeClient& other = exchange.ready_client();
  for (FakeClient* const client : {&one, &other}) client->say(kCall);
  exchange.settle();
  exchange.server().complain("no cheese\n");
  exchange.settle();
  exchange.server().exit(1 << 8);
  exchange.settle();

  EXPECT_THAT(last(Kind::Crash).error_lines, testing::ElementsAre("no cheese"));
  for (FakeClient* const client : {&one, &other}) {
    for (const std::string& line : client->heard()) EXPECT_THAT(line, testing::Not(HasSubstr("no cheese")));
  }
}

TEST_F(EventWords, OfTooManyDeathsHaveTheReasonOfTheLast) {
  exchange.ready_client();
  for (std::size_t death = 1; death <= 5; ++death) {
    exchange.spawner.servers.back().complain("no cheese\n");
    exchange.settle();
    exchange.spawner.servers.back().exit(3 << 8);
    ASSERT_TRUE(death == 5 || exchange.until([&] { return exchange.started() == death + 1; })) << death;
  }
  exchange.settle();

  const Event broken = last(Kind::Broken);
  EXPECT_THAT(broken.text, testing::EndsWith("Last error: server files exited with code 3"));
  EXPECT_THAT(broken.error_lines, testing::ElementsAre("no cheese"));
}

TEST_F(EventWords, OfACrashWithoutStderrPromiseNone) {
  exchange.ready_client();
  exchange.server().exit(1 << 8);
  exchange.settle();
  EXPECT_EQ(last(Kind::Crash).text, "instance instance of server files exited with code 1");
  EXPECT_THAT(last(Kind::Crash).error_lines, testing::IsEmpty());
}

TEST_F(EventWords, OfAnEndSayWhyAndFromWhenOn) {
  exchange.ready_client();
  exchange.pool.retire("files", pool::Cause::Restarted, [](const auto&) {});
  exchange.settle();
  EXPECT_EQ(last(Kind::Stop).cause, "restarted");
  EXPECT_EQ(last(Kind::Stop).text, kWho + "is being ended (restarted)");
  exchange.clock.pass(milliseconds(40));
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_EQ(last(Kind::Extinct).took, milliseconds(40));
  EXPECT_EQ(last(Kind::Extinct).text,
            kWho + "exited with code 0 (restarted, 0 processes, 40 ms), its tree is gone");
}

TEST_F(EventWords, OfAnEndWithoutProofNameTheProcessesThatAreLeft) {
  exchange.ready_client();
  exchange.server().exit(0, FakeServer::Proof::None, {71});
  exchange.settle();
  const Event survivor = last(Kind::Survivor);
  EXPECT_THAT(survivor.text, HasSubstr("its tree was not proved gone; process 71 ("));
  EXPECT_THAT(survivor.text, HasSubstr(") could not be ended: "));
  EXPECT_EQ(survivor.pid, 71);
  EXPECT_EQ(survivor.count, 1U);
}

TEST_F(EventWords, OfASessionThatNeedsNoProcessSaySo) {
  learn();
  attach();
  EXPECT_EQ(last(Kind::Attach).cause, "manifest");
  EXPECT_EQ(last(Kind::Attach).text, "session 2: attached to server files without starting it");
  EXPECT_EQ(last(Kind::Attach).instance, "");
}

TEST_F(EventWords, OfChangedFilesSayWhatBecomesOfTheInstance) {
  struct Case {
    config::OnChange on_change;
    const char* cause;
    const char* end;
  };
  for (const Case& one : {Case{config::OnChange::Roll, "roll", "; new sessions get a new one"},
                          Case{config::OnChange::Warn, "warn", "; `corral restart` runs the new code"}}) {
    exchange.spec = std::make_shared<pool::ServerSpec>(*exchange.spec);
    exchange.spec->entry.on_change = one.on_change;
    exchange.spec->launch.argv.emplace_back(one.cause);
    exchange.ready_client();
    write_script("other text for " + std::string(one.cause));
    exchange.pool.look_at_code();
    EXPECT_EQ(last(Kind::Stale).cause, one.cause);
    EXPECT_EQ(last(Kind::Stale).text, "instance instance of server files is out of date: " + folder +
                                          "/script has changed" + one.end);
  }
}

TEST_F(EventWords, OfOneThatIsTooLargeSayWhatWasFound) {
  exchange.ready_client();
  exchange.pool.recycle(InstanceId("another"), "it is large");
  EXPECT_EQ(last(Kind::Finding).cause, "");
  exchange.pool.recycle(InstanceId("instance1000000"), "it is large");
  EXPECT_EQ(last(Kind::Finding).cause, "memory");
  EXPECT_EQ(last(Kind::Finding).text, "it is large");
}

}  // namespace
}  // namespace corral::tests
