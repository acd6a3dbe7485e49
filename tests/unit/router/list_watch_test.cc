#include "router/list_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/router_parts.h"

namespace corral::tests {
namespace {

using knowledge::Era;
using router::ChangedList;
using router::ListKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kOneTool = R"({"tools":[{"name":"a"}]})";
constexpr const char* kTwoTools = R"({"tools":[{"name":"a"},{"name":"b"}]})";
constexpr const char* kFirstPage = R"({"tools":[{"name":"a"}],"nextCursor":"2"})";

class ListWatchTest : public testing::Test {
 protected:
  ListWatchTest() {
    sessions_.add(one_);
    sessions_.add(two_);
    watch_.opened(Era::Legacy, "instance1");
  }
  void saw(RecordedPort& port, const char* result) {
    port.memory().list_given(ListKind::Tools, router::list_digest(ListKind::Tools, result));
  }
  void answer(std::size_t request, const char* result) {
    watch_.answered(server_.requests[request].call, result);
  }

  RecordedPort one_{1};
  RecordedPort two_{2};
  router::AttachedSessions sessions_;
  RecordedLearner learner_;
  AskedServer server_;
  router::ListWatch watch_{sessions_, learner_, server_.ask()};
};

TEST_F(ListWatchTest, ALegacyServerIsAskedOnceAndOnlyClientsThatSawAnotherListAreTold) {
  saw(one_, kOneTool);
  saw(two_, kTwoTools);
  watch_.compare(one_, ListKind::Tools);
  watch_.compare(two_, ListKind::Tools);
  EXPECT_THAT(server_.asked(), ElementsAre("tools/list {}"));
  answer(0, kOneTool);
  EXPECT_THAT(one_.changed, IsEmpty());
  EXPECT_THAT(two_.changed, ElementsAre(ChangedList::Tools));
  EXPECT_THAT(learner_.lists, SizeIs(1)) << "learned once";

  RecordedPort three(3);
  sessions_.add(three);
  saw(three, kTwoTools);
  watch_.compare(three, ListKind::Tools);
  EXPECT_THAT(server_.asked(), IsEmpty()) << "the list is known";
  EXPECT_THAT(three.changed, ElementsAre(ChangedList::Tools));
}

TEST_F(ListWatchTest, AModernServerIsAskedForEachClientInItsName) {
  watch_.opened(Era::Modern, "instance1");
  saw(one_, kTwoTools);
  saw(two_, kTwoTools);
  watch_.compare(one_, ListKind::Tools);
  watch_.compare(two_, ListKind::Tools);
  EXPECT_THAT(server_.asked(), SizeIs(2));
  EXPECT_EQ(server_.requests[0].call.on_behalf_of, one_.id());
  answer(0, kOneTool);
  EXPECT_THAT(one_.changed, ElementsAre(ChangedList::Tools));
  EXPECT_THAT(two_.changed, IsEmpty());
  EXPECT_THAT(learner_.lists, ElementsAre(std::pair(one_.id(), std::string(kOneTool))));
}

TEST_F(ListWatchTest, AListThatChangesIsComparedAgain) {
  saw(one_, kOneTool);
  watch_.compare(one_, ListKind::Tools);
  answer(0, kOneTool);
  watch_.changed(ChangedList::Prompts);
  watch_.compare(one_, ListKind::Tools);
  EXPECT_THAT(server_.asked(), SizeIs(1));
  watch_.changed(ChangedList::Tools);
  watch_.compare(one_, ListKind::Tools);
  EXPECT_THAT(server_.asked(), SizeIs(1)) << "asked again";
}

TEST_F(ListWatchTest, TemplatesChangeTogetherWithResources) {
  saw(one_, kOneTool);
  watch_.compare(one_, ListKind::Templates);
  EXPECT_THAT(server_.asked(), ElementsAre("resources/templates/list {}"));
  watch_.changed(ChangedList::Resources);
  watch_.compare(one_, ListKind::Templates);
  EXPECT_THAT(server_.asked(), SizeIs(1));
}

TEST_F(ListWatchTest, WhatAClientReceivesIsRememberedAndLearned) {
  watch_.given(one_, ListKind::Tools, kOneTool);
  EXPECT_THAT(one_.memory().lists_given(), ElementsAre(ListKind::Tools));
  EXPECT_FALSE(one_.memory().list_differs(ListKind::Tools, router::list_digest(ListKind::Tools, kOneTool)));
  EXPECT_THAT(learner_.lists, SizeIs(1));
}

TEST_F(ListWatchTest, AListOfSeveralPagesIsNotLearnedAndDiffersFromThatOfAnotherInstance) {
  watch_.given(one_, ListKind::Tools, kFirstPage);
  EXPECT_THAT(learner_.lists, IsEmpty());
  router::ListWatch next(sessions_, learner_, server_.ask());
  next.opened(Era::Legacy, "instance2");
  next.compare(one_, ListKind::Tools);
  next.answered(server_.requests.back().call, kFirstPage);
  EXPECT_THAT(one_.changed, ElementsAre(ChangedList::Tools));
}

TEST(ListNames, AreKnownByTheirMethods) {
  EXPECT_EQ(router::list_kind_of("tools/list"), ListKind::Tools);
  EXPECT_EQ(router::list_kind_of("resources/templates/list"), ListKind::Templates);
  EXPECT_EQ(router::list_kind_of("tools/call"), std::nullopt);
}

}  // namespace
}  // namespace corral::tests
