#include "router/audience.h"

#include <gtest/gtest.h>

#include "base/held_clock.h"
#include "router/router_parts.h"

namespace corral::tests {
namespace {

using router::Audience;
using router::Causes;
using Readers = router::LastWords::Readers;

class AudienceTest : public testing::Test {
 protected:
  AudienceTest() {
    sessions_.add(one_);
    sessions_.add(two_);
  }
  void call(std::uint64_t id, const RecordedPort& port) {
    router::Call call;
    call.session = port.id();
    call.id = "1";
    calls_.add(CallId(id), std::move(call));
    audience_.asked(port);
  }

  HeldClock clock_;
  router::RouterOptions options_{.server = "files", .shared = true};
  router::RouterCounters counters_;
  RecordedPort one_{1};
  RecordedPort two_{2};
  router::AttachedSessions sessions_;
  router::PendingCalls calls_;
  Audience audience_{options_, sessions_, calls_, counters_};
};

TEST_F(AudienceTest, BeforeTheFirstRequestEverySessionGetsStderr) {
  audience_.pass_error_output("starting\n");
  EXPECT_EQ(one_.errors, "starting\n");
  EXPECT_EQ(two_.errors, "starting\n");
}

TEST_F(AudienceTest, StderrGoesToTheOnlySessionWithACall) {
  call(1, one_);
  audience_.pass_error_output("working\n");
  EXPECT_EQ(one_.errors, "working\n");
  EXPECT_EQ(two_.errors, "");
  EXPECT_EQ(audience_.only_cause(Causes::AnyCall), &one_);
}

TEST_F(AudienceTest, WithTwoPossibleCausesStderrIsKeptAndCounted) {
  call(1, one_);
  call(2, two_);
  audience_.pass_error_output("about one\n");
  EXPECT_EQ(one_.errors + two_.errors, "");
  EXPECT_EQ(counters_.kept_error_bytes, 10U);
}

TEST_F(AudienceTest, AServerThatWorksForNoSessionMayWriteAboutAnyOfThem) {
  audience_.asked(one_);
  EXPECT_EQ(audience_.only_cause(Causes::AnyCall), nullptr);
  sessions_.remove(two_.id());
  EXPECT_EQ(audience_.only_cause(Causes::AnyCall), &one_);
  EXPECT_EQ(audience_.only_cause(Causes::CallsThatWantLogs), nullptr);
}

TEST_F(AudienceTest, APrivateServerWritesForItsSession) {
  options_.shared = false;
  sessions_.remove(two_.id());
  EXPECT_EQ(audience_.only_cause(Causes::CallsThatWantLogs), &one_);
}

TEST_F(AudienceTest, TheEndOfStderrIsForTheOnlySessionThatEverAsked) {
  EXPECT_EQ(audience_.last_words("server files ended", "oh no\r\n").readers, Readers::All);
  audience_.asked(one_);
  const router::LastWords words = audience_.last_words("server files ended", "oh no\r\n");
  EXPECT_EQ(words.to(one_.id()), "server files ended; its stderr ended with: oh no");
  EXPECT_EQ(words.to(two_.id()), "server files ended; `corral logs files` shows its stderr");
  EXPECT_EQ(words.for_log(), words.to(two_.id()));
  audience_.asked(two_);
  EXPECT_EQ(audience_.last_words("server files ended", "oh no").readers, Readers::None);
  EXPECT_EQ(audience_.last_words("server files ended", "").to(one_.id()), "server files ended");
}

TEST_F(AudienceTest, ASessionOfSeveralProgramsNeverReadsTheEndOfStderr) {
  one_.several_programs = true;
  audience_.asked(one_);
  EXPECT_EQ(audience_.last_words("server files ended", "oh no").readers, Readers::None);
}

}  // namespace
}  // namespace corral::tests
