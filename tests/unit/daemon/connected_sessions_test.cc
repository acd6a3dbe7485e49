// Finding connected sessions by their id.
#include "daemon/connected_sessions.h"

#include <gtest/gtest.h>

#include "daemon/daemon_in_memory.h"

namespace corral::daemon {
namespace {

class ConnectedSessionsTest : public testing::Test {
 protected:
  /// A session as the HTTP endpoint would own it.
  session::Session& add() {
    owned_.push_back(std::make_unique<session::Session>(exchange_.loop, sessions.next_id(), transport_,
                                                        exchange_.pool, exchange_.spec));
    ConnectedSession connected;
    connected.by_http = owned_.back().get();
    sessions.add(std::move(connected));
    return *owned_.back();
  }

  ConnectedSessions sessions;

 private:
  tests::Exchange exchange_;
  SilentTransport transport_;
  std::vector<std::unique_ptr<session::Session>> owned_;
};

TEST_F(ConnectedSessionsTest, AreFoundByIdAndByNumber) {
  const session::Session& first = add();
  const session::Session& second = add();

  EXPECT_EQ(&sessions.find(first.id())->session(), &first);
  EXPECT_EQ(&sessions.find("2")->session(), &second);
}

TEST_F(ConnectedSessionsTest, ANumberThatIsNoneFindsNothing) {
  add();

  for (const char* text : {"", "x", "1x", " 1", "-1", "2", "99999999999999999999"})
    EXPECT_EQ(sessions.find(text), nullptr) << text;
}

TEST_F(ConnectedSessionsTest, AnIdIsNotGivenAgain) {
  const SessionId first = add().id();

  sessions.remove(first);

  EXPECT_TRUE(sessions.empty());
  EXPECT_EQ(sessions.find(first), nullptr);
  EXPECT_NE(add().id(), first);
}

TEST_F(ConnectedSessionsTest, AreWalkedInTheOrderOfArrival) {
  add();
  add();
  add();

  std::uint64_t last = 0;
  for (const auto& [id, connected] : sessions) {
    EXPECT_GT(id.value(), last);
    last = id.value();
  }
  EXPECT_EQ(last, 3U);
}

}  // namespace
}  // namespace corral::daemon
