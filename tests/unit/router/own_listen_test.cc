#include "router/own_listen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/router_parts.h"

namespace corral::tests {
namespace {

using knowledge::Era;
using router::ChangedList;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kReportsTools =
    R"({"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":false},"resources":{}}})";

class OwnListenTest : public testing::Test {
 protected:
  OwnListenTest() {
    sessions_.add(legacy_);
    sessions_.add(modern_);
  }

  RecordedPort legacy_{1};
  RecordedPort modern_{2, Era::Modern};
  router::AttachedSessions sessions_;
  AskedServer server_;
  router::OwnListen listen_{sessions_, server_.ask()};
};

TEST_F(OwnListenTest, IsOpenedOnceForTheListsThatTheServerReports) {
  listen_.open(kReportsTools);
  listen_.open(kReportsTools);
  EXPECT_THAT(server_.asked(),
              ElementsAre(testing::AllOf(HasSubstr("subscriptions/listen"),
                                         HasSubstr(R"("notifications":{"toolsListChanged":true}})"))));
  EXPECT_TRUE(listen_.is(CallId(1)));
  EXPECT_FALSE(listen_.is(CallId(2)));
}

TEST_F(OwnListenTest, IsNotOpenedOnAServerThatReportsNoChanges) {
  listen_.open(R"({"capabilities":{"tools":{}}})");
  EXPECT_THAT(server_.asked(), IsEmpty());
  EXPECT_FALSE(listen_.is(CallId())) << "no call is the listen";
}

TEST_F(OwnListenTest, IsOpenedAgainAfterTheServerEndedIt) {
  listen_.open(kReportsTools);
  listen_.ended();
  EXPECT_FALSE(listen_.is(CallId(1)));
  listen_.open(kReportsTools);
  EXPECT_TRUE(listen_.is(CallId(2)));
}

TEST_F(OwnListenTest, TellsOnlySessionsWithALegacyClient) {
  const std::string changed = notification("notifications/tools/list_changed");
  listen_.received(wire::Message(changed));
  EXPECT_THAT(legacy_.changed, ElementsAre(ChangedList::Tools));
  EXPECT_THAT(modern_.changed, IsEmpty()) << "it has its own listens";
  const std::string acknowledged = notification("notifications/subscriptions/acknowledged");
  listen_.received(wire::Message(acknowledged));
  EXPECT_THAT(legacy_.changed, SizeIs(1));
}

}  // namespace
}  // namespace corral::tests
