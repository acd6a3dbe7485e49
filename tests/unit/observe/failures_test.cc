// What `ps` says of servers that have failed.
#include "observe/failures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::observe {
namespace {

using events::Kind;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

class LastFailures : public testing::Test {
 protected:
  void happens(Kind kind, const std::string& server, const std::string& text = "why") {
    events::Event event;
    event.kind = kind;
    event.server = server;
    event.text = text;
    event.time_ms = now_;
    failures_.handle(event);
  }
  void pass(std::chrono::milliseconds time) { now_ += time.count(); }
  std::vector<std::string> servers() const {
    std::vector<std::string> names;
    for (const FailureView& view : failures_.now()) names.push_back(view.server);
    return names;
  }

  std::int64_t now_ = 1'000'000;
  Failures failures_{[this] { return now_; }};
};

TEST_F(LastFailures, AreShownTheNewestFirstWithTheirAge) {
  happens(Kind::Failed, "files", "'nosuchcmd' was not found");
  pass(std::chrono::seconds(3));
  happens(Kind::Crash, "notes", "it exited with code 3");
  pass(std::chrono::seconds(1));
  const std::vector<FailureView> seen = failures_.now();
  ASSERT_THAT(seen, SizeIs(2));
  EXPECT_EQ(seen[0], (FailureView{"notes", "it exited with code 3", std::chrono::seconds(1), "crash", {}}));
  EXPECT_EQ(seen[1],
            (FailureView{"files", "'nosuchcmd' was not found", std::chrono::seconds(4), "failed", {}}));
}

TEST_F(LastFailures, AreOneForEachServerTheLast) {
  happens(Kind::Crash, "files", "first");
  happens(Kind::Broken, "files", "last");
  EXPECT_THAT(failures_.now(), ElementsAre(Field(&FailureView::text, "last")));
}

TEST_F(LastFailures, AreForgottenWhenTheServerIsReady) {
  happens(Kind::Failed, "files");
  happens(Kind::Failed, "notes");
  happens(Kind::Ready, "files");
  EXPECT_THAT(servers(), ElementsAre("notes"));
}

TEST_F(LastFailures, AreForgottenAfterTenMinutes) {
  happens(Kind::Failed, "files");
  pass(std::chrono::minutes(10));
  EXPECT_THAT(servers(), SizeIs(1));
  pass(std::chrono::milliseconds(1));
  EXPECT_THAT(servers(), IsEmpty());
}

TEST_F(LastFailures, AreOfServersAndNothingElse) {
  happens(Kind::Failed, "");
  for (const Kind kind : {Kind::Stop, Kind::Extinct, Kind::Detach}) happens(kind, "files");
  EXPECT_THAT(servers(), IsEmpty());
}

// A user who misses a server in the client has no other place to look: nothing was started.
TEST_F(LastFailures, AreAlsoRefusals) {
  happens(Kind::Refused, "files", "refused: server files is disabled in corral.json");
  const std::vector<FailureView> seen = failures_.now();
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].kind, "refused");
  EXPECT_EQ(seen[0].text, "server files is disabled in corral.json") << "the word is shown before it";
}

TEST_F(LastFailures, HaveWhatTheServerWroteLast) {
  events::Event event;
  event.kind = Kind::Crash;
  event.server = "files";
  event.time_ms = now_;
  event.error_lines = {"no licence", "good bye"};
  failures_.handle(event);
  EXPECT_THAT(failures_.now()[0].error_lines, ElementsAre("no licence", "good bye"));
}

TEST_F(LastFailures, AreCountedWithAndWithoutAServer) {
  happens(Kind::Failed, "files");
  happens(Kind::Ready, "files");
  for (const Kind kind : {Kind::Refused, Kind::Crash, Kind::Crash, Kind::Broken}) happens(kind, "");
  failures_.refused_without_event();
  TotalsView totals;
  failures_.count_in(totals);
  EXPECT_EQ(totals, (TotalsView{.failed_starts = 1, .refusals = 2, .crashes = 2}));
}

// A client chooses the name in a refusal, and must not push out what has really failed.
TEST_F(LastFailures, OfServersStayIfManyClientsAreRefused) {
  happens(Kind::Crash, "files");
  for (int one = 0; one < 300; ++one) {
    pass(std::chrono::milliseconds(1));
    happens(Kind::Refused, "name" + std::to_string(one));
  }
  EXPECT_THAT(servers(),
              testing::AllOf(SizeIs(256), testing::Contains("files"), testing::Contains("name299")));
}

TEST_F(LastFailures, AreLimitedInNumber) {
  for (int one = 0; one < 300; ++one) {
    happens(Kind::Failed, "server" + std::to_string(one));
    pass(std::chrono::milliseconds(1));
  }
  const auto names = servers();
  EXPECT_THAT(names, SizeIs(256));
  EXPECT_EQ(names.front(), "server299") << "the oldest ones are gone";
}

}  // namespace
}  // namespace corral::observe
