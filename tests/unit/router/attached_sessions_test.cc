#include "router/attached_sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/router_parts.h"

namespace corral::tests {
namespace {

using testing::ElementsAre;

class AttachedSessionsTest : public testing::Test {
 protected:
  AttachedSessionsTest() {
    for (RecordedPort* const port : {&two_, &one_, &three_}) sessions_.add(*port);
  }

  RecordedPort one_{1};
  RecordedPort two_{2};
  RecordedPort three_{3};
  router::AttachedSessions sessions_;
};

TEST_F(AttachedSessionsTest, AreFoundByTheirIds) {
  EXPECT_EQ(sessions_.find(two_.id()), &two_);
  EXPECT_TRUE(sessions_.contains(two_.id()));
  EXPECT_THAT(sessions_.ids(), ElementsAre(one_.id(), two_.id(), three_.id())) << "in order of age";
  EXPECT_TRUE(sessions_.remove(two_.id()));
  EXPECT_FALSE(sessions_.remove(two_.id()));
  EXPECT_EQ(sessions_.find(two_.id()), nullptr);
  EXPECT_EQ(sessions_.find(SessionId()), nullptr) << "no session has no id";
}

TEST_F(AttachedSessionsTest, ThereIsAnOnlyOneIfExactlyOneIsLeft) {
  EXPECT_EQ(sessions_.only(), nullptr);
  sessions_.remove(one_.id());
  sessions_.remove(two_.id());
  EXPECT_EQ(sessions_.only(), &three_);
  sessions_.remove(three_.id());
  EXPECT_EQ(sessions_.only(), nullptr);
  EXPECT_TRUE(sessions_.empty());
}

TEST_F(AttachedSessionsTest, ASessionThatEndsWhenAnotherIsToldIsNotVisited) {
  std::vector<SessionId> visited;
  sessions_.each([&](router::SessionPort& port) {
    visited.push_back(port.id());
    sessions_.remove(one_.id());
    sessions_.remove(two_.id());
  });
  EXPECT_THAT(visited, ElementsAre(one_.id(), three_.id()));
}

}  // namespace
}  // namespace corral::tests
