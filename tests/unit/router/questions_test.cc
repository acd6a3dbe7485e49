#include "router/questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/router_parts.h"

namespace corral::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class QuestionsTest : public testing::Test {
 protected:
  QuestionsTest() { sessions_.add(port_); }

  void ask(const std::string& id, const std::string& method = "roots/list") {
    const std::string line = request(id, method);
    questions_.asked(wire::Message(line));
  }
  void answer(const std::string& line) { questions_.answered(port_, wire::Message(line)); }
  /// What the server got since the last call.
  std::vector<std::string> sent() { return std::exchange(sent_, {}); }

  router::RouterOptions options_{.server = "files"};
  router::RouterCounters counters_;
  RecordedLearner learner_;
  RecordedPort port_{1};
  router::AttachedSessions sessions_;
  std::vector<std::string> sent_;
  bool congested_ = false;
  router::Questions questions_{
      options_,
      sessions_,
      counters_,
      learner_,
      {.congested = [this] { return congested_; },
       .send = [this](const wire::Line& line,
                      std::initializer_list<wire::Edit> edits) { sent_.push_back(edited(line, edits)); }}};
};

TEST_F(QuestionsTest, AQuestionGoesToTheClientAndItsAnswerBackUnderTheServersId) {
  ask("\"q\"");
  EXPECT_THAT(port_.received(), ElementsAre(request("1", "roots/list")));
  EXPECT_EQ(questions_.size(), 1U);
  answer(result("1", R"({"roots":[]})"));
  EXPECT_THAT(sent(), ElementsAre(result("\"q\"", R"({"roots":[]})")));
  EXPECT_EQ(questions_.size(), 0U);
}

TEST_F(QuestionsTest, ASecondAnswerIsDroppedAndNoted) {
  ask("7");
  answer(result("1"));
  answer(result("1"));
  EXPECT_THAT(sent(), SizeIs(1));
  EXPECT_EQ(counters_.unknown_answers, 1U);
  EXPECT_THAT(port_.notes, SizeIs(1));
}

TEST_F(QuestionsTest, APingIsAnsweredWithoutTheClient) {
  ask("7", "ping");
  EXPECT_THAT(sent(), ElementsAre(result("7")));
  EXPECT_THAT(port_.received(), IsEmpty());
}

TEST_F(QuestionsTest, ASharedServerIsRefusedAndThatIsLearned) {
  options_.shared = true;
  ask("7");
  EXPECT_THAT(sent(), ElementsAre(AllOf(HasSubstr("-32601"), HasSubstr("\"id\":7"))));
  EXPECT_EQ(learner_.questions, 1);
  EXPECT_EQ(counters_.refused_questions, 1U);
}

TEST_F(QuestionsTest, AQuestionThatTheServerWithdrawsIsCancelledAtTheClient) {
  ask("\"q\"");
  port_.received();
  const std::string cancelled = notification("notifications/cancelled", R"({"requestId":"q"})");
  EXPECT_TRUE(questions_.withdrawn(wire::Message(cancelled)));
  EXPECT_THAT(port_.received(), ElementsAre(notification("notifications/cancelled", R"({"requestId":1})")));
  EXPECT_FALSE(questions_.withdrawn(wire::Message(cancelled))) << "it is not open any more";
}

TEST_F(QuestionsTest, QuestionsOfAServerThatEndsAreTakenBack) {
  ask("1");
  ask("2");
  port_.received();
  questions_.take_back();
  EXPECT_THAT(port_.received(), ElementsAre(HasSubstr("\"requestId\":1"), HasSubstr("\"requestId\":2")));
  EXPECT_EQ(questions_.size(), 0U);
}

TEST_F(QuestionsTest, ASilentClientIsAnsweredFor) {
  ask("1");
  RecordedPort other(2);
  questions_.client_silent(other);
  EXPECT_THAT(sent(), IsEmpty()) << "it is not the session of this server";
  questions_.client_silent(port_);
  EXPECT_THAT(sent(), ElementsAre(HasSubstr("the client has closed its output")));
  ask("2", "elicitation/create");
  EXPECT_THAT(sent(), ElementsAre(result("2", R"({"action":"cancel"})")));
  EXPECT_EQ(counters_.refused_questions, 2U);
}

TEST_F(QuestionsTest, AServerThatDoesNotReadGetsNoMoreRepliesThanItCouldRead) {
  congested_ = true;
  for (int i = 0; i < 1030; ++i) ask("1", "ping");
  EXPECT_THAT(sent(), SizeIs(1024));
  EXPECT_EQ(counters_.dropped_replies, 6U);
  questions_.server_reads();
  ask("1", "ping");
  EXPECT_THAT(sent(), SizeIs(1));
}

}  // namespace
}  // namespace corral::tests
