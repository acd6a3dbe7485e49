// Suspended calls without the bridge around them: the test plays the client, the server and the rest of the
// bridge.
#include "bridge/suspended_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bridge/modern_exchange.h"
#include "wire/json_text.h"

namespace corral::bridge::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Retry = SuspendedCalls::Retry;

constexpr const char* kForms = R"({"elicitation":{"form":{}}})";

class TwoSides final : public Outlet {
 public:
  void to_client(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) override {
    to_client_.push_back(wire::edited(line.text, {edits.begin(), edits.size()}));
  }
  void to_server(const wire::Message& message) override { to_server_.emplace_back(message.text()); }
  QuestionId next_question() override { return QuestionId(1); }

  std::vector<std::string> client() { return std::exchange(to_client_, {}); }
  std::vector<std::string> server() { return std::exchange(to_server_, {}); }

 private:
  std::vector<std::string> to_client_;
  std::vector<std::string> to_server_;
};

class Suspended : public testing::Test {
 protected:
  /// A call of the client, as the bridge has sent it to the server.
  UpId open(const std::string& id, const std::string& capabilities = kForms) {
    const std::string text = call(id, capabilities);
    const wire::Message message(text);
    Call one;
    one.client_id = id;
    one.method = "tools/call";
    one.token = R"("p")";
    one.abilities = read_request(message).abilities;
    one.params = wire::Message(text).owned().line();
    one.params.text = wire::member(one.params.text, "params").in(one.params.text);
    const UpId number = side_.ids.next();
    side_.calls.add(number, std::move(one));
    return number;
  }
  void ask(const std::string& id = "9") {
    suspended_.question(
        wire::Message(corral::tests::request(id, "elicitation/create",
                                             R"({"message":"m","requestedSchema":{"type":"object"}})")),
        now_);
  }
  void pass(Clock::duration time) {
    now_ += time;
    side_.now = now_;
    suspended_.expire(now_);
  }
  /// Suspends the only call; returns the handle that its client received.
  std::string suspend() {
    ask();
    pass(milliseconds(5));
    const std::vector<std::string> told = outlet_.client();
    EXPECT_THAT(told, ElementsAre(HasSubstr("input_required")));
    const std::string_view result = wire::member_text(told.at(0), "result");
    return std::string(wire::member_text(result, "requestState"));
  }
  Retry retry(const std::string& state, const std::string& responses, const std::string& id = "2") {
    const std::string text =
        call(id, kForms, R"(,"requestState":)" + state + R"(,"inputResponses":)" + responses);
    const wire::Message message(text);
    return suspended_.retry(message, read_request(message), now_);
  }

  TwoSides outlet_;
  ModernSide side_{outlet_, "files", read_server(kInitialized), OpenCalls(nullptr)};
  std::vector<std::string> delivered_;
  SuspendedCalls suspended_{side_, minutes(10),
                            [this](Call call, const wire::Message& answer, Clock::time_point) {
                              delivered_.push_back(call.client_id + ": " + std::string(answer.result()));
                            }};
  Clock::time_point now_{};
};

TEST_F(Suspended, QuestionsThatArriveTogetherAreOneResult) {
  open("1");
  ask("8");
  ask("9");
  EXPECT_THAT(outlet_.client(), IsEmpty()) << "more questions may follow at once";

  pass(milliseconds(5));

  EXPECT_THAT(outlet_.client(),
              ElementsAre(AllOf(HasSubstr(R"("id":1)"), HasSubstr(R"("r1":)"), HasSubstr(R"("r2":)"))));
  EXPECT_EQ(side_.calls.suspended(), 1U);
}

TEST_F(Suspended, ARetryPassesTheAnswerOnAndTheCallGoesOn) {
  const UpId number = open("1");
  const std::string state = suspend();

  EXPECT_EQ(retry(state, R"({"r1":{"action":"accept"}})"), Retry::Done);

  EXPECT_THAT(outlet_.server(), ElementsAre(AllOf(HasSubstr(R"("id":9)"), HasSubstr("accept"))));
  EXPECT_EQ(side_.calls.suspended(), 0U);
  EXPECT_EQ(side_.calls.by_client("2"), number);
}

TEST_F(Suspended, AHandleWorksOnce) {
  open("1");
  const std::string state = suspend();
  retry(state, R"({"r1":{"action":"accept"}})");
  outlet_.client();

  EXPECT_EQ(retry(state, "{}", "3"), Retry::Done);

  EXPECT_THAT(outlet_.client(), ElementsAre(AllOf(HasSubstr(R"("id":3)"), HasSubstr("used up"))));
}

TEST_F(Suspended, WhatArrivesInBetweenIsKeptForTheRetry) {
  const UpId number = open("1");
  const std::string state = suspend();
  Call& call = *side_.calls.find(number);
  call.progress = R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                  to_string(number) + R"(,"progress":1}})";
  const std::string answer = result(to_string(number), R"({"content":[]})");
  suspended_.keep(call, wire::Message(answer));
  EXPECT_THAT(delivered_, IsEmpty());

  EXPECT_EQ(retry(state, R"({"r1":{"action":"accept"}})"), Retry::Done);

  EXPECT_THAT(delivered_, ElementsAre(R"(2: {"content":[]})"));
  EXPECT_EQ(side_.calls.find(number), nullptr);
}

TEST_F(Suspended, ACallWhosePagesWereVisitedIsSentAgain) {
  const UpId number = open("1", R"({"elicitation":{"url":{}}})");
  suspended_.wants_urls(*side_.calls.take(number),
                        R"({"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","url":"u",)"
                        R"("elicitationId":"e","message":"m"}]}})",
                        now_);
  const std::vector<std::string> told = outlet_.client();
  ASSERT_THAT(told, ElementsAre(HasSubstr("input_required")));
  const std::string_view result = wire::member_text(told.at(0), "result");

  const std::string text =
      call("2", R"({"elicitation":{"url":{}}})",
           R"(,"requestState":)" + std::string(wire::member_text(result, "requestState")) +
               R"(,"inputResponses":{"r1":{"action":"accept"}})");
  const wire::Message message(text);

  EXPECT_EQ(suspended_.retry(message, read_request(message), now_), Retry::SendAgain);
  EXPECT_THAT(outlet_.server(), IsEmpty());
}

TEST_F(Suspended, ACallIsGivenUpWhenItsClientDoesNotAnswerInTime) {
  open("1");
  suspend();

  pass(minutes(10) - milliseconds(1));
  EXPECT_THAT(outlet_.server(), IsEmpty());
  pass(milliseconds(1));

  EXPECT_THAT(outlet_.server(), ElementsAre(HasSubstr(R"("id":9)"), HasSubstr("notifications/cancelled")));
  EXPECT_EQ(side_.calls.suspended(), 0U);
}

TEST_F(Suspended, TheQuestionsOfACallThatHasEndedMoveToAnotherThatCanBeAsked) {
  const UpId first = open("1");
  ask();
  const UpId second = open("2");
  std::vector<Question> questions = side_.calls.take_questions(first);
  side_.calls.take(first);

  suspended_.pass_on(std::move(questions), now_);

  EXPECT_THAT(side_.calls.find(second)->questions, testing::SizeIs(1));
  EXPECT_THAT(outlet_.server(), IsEmpty());
}

TEST_F(Suspended, NothingIsAskedOfAClientThatIsGone) {
  open("1");
  suspend();

  suspended_.client_ended();
  EXPECT_THAT(outlet_.server(), ElementsAre(HasSubstr(R"("id":9)"), HasSubstr("notifications/cancelled")));

  open("2");
  ask("10");
  EXPECT_THAT(outlet_.server(), ElementsAre(HasSubstr(R"("id":10)")));
}

}  // namespace
}  // namespace corral::bridge::tests
