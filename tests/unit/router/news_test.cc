#include "router/news.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/held_clock.h"
#include "router/router_parts.h"

namespace corral::tests {
namespace {

using knowledge::Era;
using router::ChangedList;
using router::Purpose;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kToolsChanged = "notifications/tools/list_changed";

std::string of_listen(const std::string& method, const std::string& id) {
  return notification(method, R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + "}}");
}

class NewsTest : public testing::Test {
 protected:
  NewsTest() {
    sessions_.add(one_);
    sessions_.add(two_);
  }
  void pass_on(const std::string& line) { news_.pass_on(wire::Message(line)); }
  void add_call(std::uint64_t id, const RecordedPort& port, Purpose purpose = Purpose::Forward) {
    router::Call call;
    call.session = port.id();
    call.id = std::to_string(100 + id);
    call.token = "\"t\"";
    call.purpose = purpose;
    call.patience = seconds(30);
    call.listens_to = R"({"toolsListChanged":true})";
    calls_.add(CallId(id), std::move(call));
  }

  HeldClock clock_;
  router::RouterOptions options_{.server = "files", .shared = true};
  router::RouterCounters counters_;
  RecordedLearner learner_;
  RecordedPort one_{1};
  RecordedPort two_{2};
  router::AttachedSessions sessions_;
  router::PendingCalls calls_;
  AskedServer server_;
  router::Admission admission_{options_, learner_};
  router::Audience audience_{options_, sessions_, calls_, counters_};
  router::OwnListen listen_{sessions_, server_.ask()};
  router::Questions questions_{
      options_, sessions_, counters_, learner_, {[] { return false; }, [](auto&&...) {}}};
  router::StandingRequests standing_{options_, sessions_, server_.ask(), [](CallId) {}};
  router::News news_{
      {options_, admission_, sessions_, audience_, standing_, calls_, questions_, listen_, counters_}};
};

TEST_F(NewsTest, ProgressGoesToTheSessionOfTheCallAndRestartsItsTimeLimit) {
  add_call(7, one_);
  pass_on(notification("notifications/progress", R"({"progressToken":7,"progress":1})"));
  EXPECT_THAT(one_.received(),
              ElementsAre(notification("notifications/progress", R"({"progressToken":"t","progress":1})")));
  EXPECT_THAT(two_.received(), IsEmpty());
  EXPECT_EQ(calls_.find(CallId(7))->deadline, Clock::now() + seconds(30));
  pass_on(notification("notifications/progress", R"({"progressToken":8,"progress":1})"));
  EXPECT_EQ(counters_.dropped_news, 1U);
}

TEST_F(NewsTest, AChangedListIsToldToEveryClientThatHasFinishedItsHandshake) {
  news_.initialized(one_.id());
  pass_on(notification(kToolsChanged));
  EXPECT_THAT(one_.received(), ElementsAre(notification(kToolsChanged)));
  EXPECT_THAT(two_.received(), IsEmpty());
}

TEST_F(NewsTest, ASlowClientIsToldOnceWhatHasChangedWhenItReadsAgain) {
  news_.initialized(one_.id());
  one_.slow = true;
  pass_on(notification(kToolsChanged));
  pass_on(notification(kToolsChanged));
  EXPECT_THAT(one_.received(), IsEmpty());
  news_.client_reads(one_);
  EXPECT_THAT(one_.received(), ElementsAre(HasSubstr(kToolsChanged)));
  news_.client_reads(one_);
  EXPECT_THAT(one_.received(), IsEmpty());
  EXPECT_EQ(counters_.dropped_news, 0U);
}

TEST_F(NewsTest, ASlowClientLosesOtherNotificationsOfASharedServerOnly) {
  add_call(7, one_);
  one_.slow = true;
  pass_on(notification("notifications/progress", R"({"progressToken":7})"));
  EXPECT_EQ(counters_.dropped_news, 1U);
  options_.shared = false;
  pass_on(notification("notifications/progress", R"({"progressToken":7})"));
  EXPECT_THAT(one_.received(), testing::SizeIs(1));
}

TEST_F(NewsTest, ASessionThatHasLeftIsNotOwedAnything) {
  news_.initialized(one_.id());
  one_.slow = true;
  pass_on(notification(kToolsChanged));
  news_.left(one_.id());
  news_.client_reads(one_);
  one_.slow = false;
  pass_on(notification(kToolsChanged));
  EXPECT_THAT(one_.received(), IsEmpty());
}

TEST_F(NewsTest, ALogMessageOfASharedServerGoesToTheOnlyPossibleCause) {
  add_call(7, one_);
  const std::string line = notification("notifications/message", R"({"level":"error","data":"x"})");
  pass_on(line);
  EXPECT_THAT(one_.received(), ElementsAre(line));
  add_call(8, two_);
  pass_on(line);
  EXPECT_THAT(one_.received(), IsEmpty());
  EXPECT_THAT(two_.received(), IsEmpty());
  EXPECT_EQ(counters_.dropped_log_lines, 1U);
}

TEST_F(NewsTest, AnUpdateOfAResourceThatNoSessionSubscribedToIsDropped) {
  pass_on(notification("notifications/resources/updated", R"({"uri":"a:1"})"));
  EXPECT_EQ(counters_.dropped_news, 1U);
}

TEST_F(NewsTest, EveryNotificationOfAPrivateServerIsForItsSession) {
  options_.shared = false;
  sessions_.remove(two_.id());
  pass_on(notification("notifications/made/up"));
  EXPECT_THAT(one_.received(), ElementsAre(notification("notifications/made/up")));
}

TEST_F(NewsTest, ANotificationOfAListenHasTheIdThatTheClientGave) {
  add_call(7, one_, Purpose::Listen);
  pass_on(of_listen("notifications/subscriptions/acknowledged", "7"));
  EXPECT_TRUE(calls_.find(CallId(7))->acknowledged);
  pass_on(of_listen(kToolsChanged, "7"));
  EXPECT_THAT(one_.received(), ElementsAre(of_listen("notifications/subscriptions/acknowledged", "107"),
                                           of_listen(kToolsChanged, "107")));
  add_call(8, two_);
  pass_on(of_listen(kToolsChanged, "8"));
  EXPECT_EQ(counters_.dropped_news, 1U) << "that call is not a listen";
}

TEST_F(NewsTest, AListenThatTheServerCancelsIsOver) {
  add_call(7, one_, Purpose::Listen);
  pass_on(notification("notifications/cancelled", R"({"requestId":7})"));
  EXPECT_THAT(one_.received(), ElementsAre(notification("notifications/cancelled", R"({"requestId":107})")));
  EXPECT_EQ(calls_.find(CallId(7)), nullptr);
}

TEST_F(NewsTest, ListensThatAskedForItAreToldAboutAChangedList) {
  add_call(7, one_, Purpose::Listen);
  add_call(8, one_);
  news_.tell_listens(one_, ChangedList::Tools);
  EXPECT_THAT(one_.received(), ElementsAre(of_listen(kToolsChanged, "107")));
  news_.tell_listens(one_, ChangedList::Prompts);
  EXPECT_THAT(one_.received(), IsEmpty());
}

}  // namespace
}  // namespace corral::tests
