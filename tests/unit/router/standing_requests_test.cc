#include "router/standing_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/router_parts.h"

namespace corral::tests {
namespace {

using router::Purpose;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kLogs = R"({"capabilities":{"logging":{}}})";

class StandingRequestsTest : public testing::Test {
 protected:
  StandingRequestsTest() {
    for (RecordedPort* const port : {&one_, &two_}) {
      sessions_.add(*port);
      standing_.attached(port->id());
    }
  }
  bool take(RecordedPort& port, const std::string& line) {
    return standing_.take(port, wire::Message(line), kLogs);
  }
  void subscribe(RecordedPort& port, const std::string& id, const std::string& uri = "a:1") {
    EXPECT_TRUE(take(port, request(id, "resources/subscribe", R"({"uri":")" + uri + "\"}")));
  }
  void unsubscribe(RecordedPort& port, const std::string& id, const std::string& uri = "a:1") {
    EXPECT_TRUE(take(port, request(id, "resources/unsubscribe", R"({"uri":")" + uri + "\"}")));
  }
  void set_level(RecordedPort& port, const std::string& id, const std::string& level) {
    EXPECT_TRUE(take(port, request(id, "logging/setLevel", R"({"level":")" + level + "\"}")));
  }
  /// The server answers the last request.
  void answer(const std::string& member = R"("result":{})") {
    const std::string line = R"({"jsonrpc":"2.0","id":)" + std::to_string(server_.last) + "," + member + "}";
    standing_.answered(server_.requests.back().call, wire::Message(line));
  }

  router::RouterOptions options_{.server = "files", .shared = true};
  RecordedPort one_{1};
  RecordedPort two_{2};
  router::AttachedSessions sessions_;
  AskedServer server_;
  std::vector<CallId> forgotten_;
  router::StandingRequests standing_{options_, sessions_, server_.ask(),
                                     [this](CallId id) { forgotten_.push_back(id); }};
};

TEST_F(StandingRequestsTest, OtherRequestsAreNotTaken) {
  EXPECT_FALSE(take(one_, request("1", "tools/list")));
  EXPECT_THAT(one_.received(), IsEmpty());
}

TEST_F(StandingRequestsTest, TheServerIsAskedOnceForASubscriptionOfTwoSessions) {
  subscribe(one_, "10");
  subscribe(two_, "\"x\"");
  EXPECT_THAT(server_.asked(), ElementsAre(R"(resources/subscribe {"uri":"a:1"})"));
  EXPECT_EQ(standing_.waiting(one_.id()), 1U);
  answer();
  EXPECT_THAT(one_.received(), ElementsAre(result("10")));
  EXPECT_THAT(two_.received(), ElementsAre(result("\"x\"")));
  EXPECT_TRUE(one_.memory().subscribed());
  EXPECT_THAT(standing_.subscribers("a:1"), ElementsAre(one_.id(), two_.id()));
  EXPECT_EQ(standing_.waiting(one_.id()), 0U);

  unsubscribe(one_, "11");
  EXPECT_THAT(server_.asked(), IsEmpty()) << "the other session still wants it";
  unsubscribe(two_, "11");
  EXPECT_THAT(server_.asked(), ElementsAre(R"(resources/unsubscribe {"uri":"a:1"})"));
  EXPECT_THAT(two_.received(), ElementsAre(result("11"))) << "no session waits for the server";
}

TEST_F(StandingRequestsTest, ARefusalOfTheServerReachesEverySessionThatWaits) {
  subscribe(one_, "10");
  subscribe(two_, "20");
  answer(R"("error":{"code":-32002,"message":"no"})");
  EXPECT_THAT(one_.received(), ElementsAre(HasSubstr("-32002")));
  EXPECT_THAT(two_.received(), ElementsAre(HasSubstr("\"id\":20")));
  EXPECT_FALSE(one_.memory().subscribed());
}

TEST_F(StandingRequestsTest, ASubscriptionThatNoSessionWantsAnyMoreIsUndone) {
  subscribe(one_, "10");
  standing_.left(one_.id());
  sessions_.remove(one_.id());
  server_.asked();
  answer();
  EXPECT_THAT(server_.asked(), ElementsAre(HasSubstr("resources/unsubscribe")));
}

TEST_F(StandingRequestsTest, RequestsThatWaitAreGivenUpWithAnError) {
  subscribe(one_, "10");
  standing_.give_up(one_, -31001, "server files has ended");
  EXPECT_THAT(one_.received(), ElementsAre(HasSubstr("server files has ended")));
  standing_.failed(server_.requests.back().call, -31001, "again");
  EXPECT_THAT(one_.received(), IsEmpty()) << "each is answered once";
}

TEST_F(StandingRequestsTest, OneLevelIsSentAtATimeAndTheLastOneInTheEnd) {
  set_level(one_, "1", "debug");
  set_level(one_, "2", "error");
  set_level(one_, "3", "warning");
  EXPECT_THAT(one_.received(), SizeIs(3));
  EXPECT_THAT(server_.asked(), ElementsAre(R"(logging/setLevel {"level":"debug"})"));
  answer();
  EXPECT_THAT(server_.asked(), ElementsAre(R"(logging/setLevel {"level":"info"})"))
      << "the other session's default";
  EXPECT_TRUE(standing_.wants_log(one_.id(), router::LogLevel::Error));
  EXPECT_FALSE(standing_.wants_log(one_.id(), router::LogLevel::Info));
}

TEST_F(StandingRequestsTest, NothingIsSentToAServerThatIsLost) {
  set_level(one_, "1", "debug");
  set_level(one_, "2", "error");
  server_.asked();
  standing_.server_lost();
  standing_.failed(server_.requests.back().call, -31001, "server files has ended");
  standing_.left(one_.id());
  EXPECT_THAT(server_.asked(), IsEmpty());
}

TEST_F(StandingRequestsTest, ALevelIsCheckedBeforeTheServerGetsIt) {
  set_level(one_, "1", "loud");
  EXPECT_THAT(one_.received(), ElementsAre(HasSubstr("-32602")));
  const std::string line = request("2", "logging/setLevel", R"({"level":"error"})");
  EXPECT_TRUE(standing_.take(one_, wire::Message(line), R"({"capabilities":{}})"));
  EXPECT_THAT(one_.received(), ElementsAre(HasSubstr("does not log")));
  EXPECT_THAT(server_.asked(), IsEmpty());
}

TEST_F(StandingRequestsTest, ANewInstanceIsToldWhatTheLastOneWasTold) {
  standing_.restore(one_, {.initialized = true, .level = "debug", .uris = {"a:1", "a:2"}});
  EXPECT_THAT(server_.asked(), ElementsAre(HasSubstr("debug"), HasSubstr("a:1"), HasSubstr("a:2")));
  standing_.restore(two_, {.initialized = true, .level = "", .uris = {"a:1"}});
  EXPECT_THAT(server_.asked(), IsEmpty()) << "the shared server was asked already";
  answer();
  EXPECT_THAT(one_.received(), IsEmpty()) << "the client's request was answered long ago";
}

TEST_F(StandingRequestsTest, ASubscriptionThatANewPrivateInstanceRefusesIsForgotten) {
  options_.shared = false;
  sessions_.remove(two_.id());
  one_.memory().add_subscription("a:1");
  standing_.restore(one_, one_.memory().standing());
  answer(R"("error":{"code":-32002,"message":"no"})");
  EXPECT_FALSE(one_.memory().subscribed());
}

TEST_F(StandingRequestsTest, OnlyTheLastUnansweredUnsubscribesAreRemembered) {
  for (int i = 0; i < 1026; ++i) {
    const std::string uri = "a:" + std::to_string(i);
    subscribe(one_, "1", uri);
    answer();
    unsubscribe(one_, "2", uri);
  }
  EXPECT_THAT(forgotten_, ElementsAre(CallId(2), CallId(4)));
}

}  // namespace
}  // namespace corral::tests
