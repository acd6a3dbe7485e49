#include "transport/http_sessions.h"

#include <gtest/gtest.h>

#include "session/exchange.h"
#include "transport/modern_session.h"

namespace corral::transport {
namespace {

using Entry = HttpSessions::Entry;

class FakeOpener final : public HttpSessionOpener {
 public:
  std::variant<std::unique_ptr<session::Session>, HttpRefusal> open(const HttpArrival& arrival,
                                                                    session::Transport& transport) override {
    if (arrival.server == "unknown") return HttpRefusal{404, -32600, "no such server", "", ""};
    auto spec = std::make_shared<pool::ServerSpec>(*daemon.spec);
    spec->account = &shares.account(arrival.principal);
    return std::make_unique<session::Session>(daemon.loop, SessionId(++last_), transport, daemon.pool,
                                              std::move(spec));
  }
  void session_over(session::Session&) override { ++over; }
  std::optional<HttpRefusal> objection(const HttpArrival& arrival) override {
    if (arrival.root != revoked) return std::nullopt;
    return HttpRefusal{403, -32600, "this root was revoked", "", ""};
  }
  void bound(session::Session&, pid_t process) override { bound_to = process; }
  Account& account(const std::string& principal) override { return shares.account(principal); }
  bool would_be_private(const HttpArrival&) override { return false; }
  const std::string& only_server() const override { return revoked; }

  Shares shares;
  tests::Exchange daemon;
  int over = 0;
  pid_t bound_to = -1;
  std::string revoked = "none";

 private:
  std::uint64_t last_ = 0;
};

class HttpSessionsTest : public testing::Test {
 protected:
  static HttpArrival arrival(const std::string& principal = "user", const std::string& server = "files") {
    return {server, "", principal, "http", {}};
  }
  /// Null if it was refused.
  Entry* open(const std::string& key, const HttpArrival& from) {
    auto opened = sessions.open(
        key, from, std::make_unique<ModernSession>(opener.daemon.loop, HttpLimits{}, sessions.forgets(key)));
    return std::holds_alternative<Entry*>(opened) ? std::get<Entry*>(opened) : nullptr;
  }
  void pass(Clock::duration time) {
    opener.daemon.clock.pass(time);
    opener.daemon.settle();
  }

  FakeOpener opener;
  OwnerFinder finder{opener.daemon.loop};
  HttpSessions sessions{opener.daemon.loop, opener, finder, std::chrono::minutes(30)};
};

TEST_F(HttpSessionsTest, AreFoundByTheirKeyForTheirPrincipalAndServerOnly) {
  Entry* const entry = open("key", arrival());
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(sessions.find("key", arrival()), entry);
  EXPECT_EQ(sessions.find("other", arrival()), nullptr);
  EXPECT_EQ(sessions.find("key", arrival("token:a")), nullptr);
  EXPECT_EQ(sessions.find("key", arrival("user", "notes")), nullptr);
}

TEST_F(HttpSessionsTest, KeepNothingOfARefusedOne) {
  EXPECT_EQ(open("key", arrival("user", "unknown")), nullptr);
  EXPECT_EQ(sessions.find("key", arrival("user", "unknown")), nullptr);
  EXPECT_EQ(opener.shares.account("user").used(Good::Sessions), 0U);
}

TEST_F(HttpSessionsTest, EndWhenTheyWereNotUsedForTheIdleTime) {
  open("used", arrival());
  open("unused", arrival());
  pass(std::chrono::minutes(20));
  EXPECT_NE(sessions.find("used", arrival()), nullptr);
  pass(std::chrono::minutes(11));
  pass(std::chrono::minutes(1));
  EXPECT_EQ(sessions.find("unused", arrival()), nullptr);
  EXPECT_NE(sessions.find("used", arrival()), nullptr);
  EXPECT_EQ(opener.over, 1);
}

TEST_F(HttpSessionsTest, EndWhenTheirRootIsRevoked) {
  HttpArrival from = arrival();
  from.root = "/home";
  open("key", from);
  opener.revoked = "/home";
  EXPECT_EQ(sessions.find("key", arrival()), nullptr);
  opener.daemon.settle();
  EXPECT_EQ(opener.over, 1);
}

TEST_F(HttpSessionsTest, OfAGroupAreSharedUntilAClientHasMoreCapabilities) {
  Entry* const plain = open("plain", arrival());
  sessions.add_to_group(*plain, "plain", "group");
  EXPECT_EQ(sessions.find_in("group", arrival(), {}), plain);
  EXPECT_EQ(sessions.find_in("other", arrival(), {}), nullptr);
  EXPECT_EQ(sessions.find_in("group", arrival("token:a"), {}), nullptr);
  EXPECT_FALSE(sessions.crowded("group", 1));
  EXPECT_TRUE(sessions.crowded("group", 0));
  EXPECT_FALSE(sessions.crowded("other", 0));

  plain->session->session().end(session::EndReason::Expired);
  opener.daemon.settle();
  EXPECT_EQ(sessions.find_in("group", arrival(), {}), nullptr);
  EXPECT_FALSE(sessions.crowded("group", 0)) << "the group ended with its last session";
}

TEST_F(HttpSessionsTest, EndWithTheProcessThatTheyAreBoundTo) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  UniqueFd alive(ends[1]);
  Entry* const entry = open("key", arrival());
  sessions.bind(*entry, {4711, 1, std::make_shared<const UniqueFd>(ends[0])});
  EXPECT_EQ(opener.bound_to, 4711);
  alive.reset();
  pass({});
  EXPECT_NE(sessions.find("key", arrival()), nullptr);
  pass(ProcessLease::kGrace);
  pass({});
  EXPECT_EQ(sessions.find("key", arrival()), nullptr);
  EXPECT_EQ(opener.over, 1);
}

}  // namespace
}  // namespace corral::transport
