// One instance, with a keeper that says what the test wants it to, when the test wants it to.
#include "instance/instance.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/held_clock.h"

namespace corral::instance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Outcome = Handshake::Outcome;
using State = Instance::State;

class SilentSpawner final : public proc::Spawner {
 public:
  Result<proc::ProcessTree> spawn(const proc::LaunchSpec& spec) override {
    if (refuses) return Error{"no", Error::Kind::NotFound};
    int ends[2];
    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
    keeper = UniqueFd(ends[1]);
    input = UniqueFd(dup(spec.input));
    output = UniqueFd(dup(spec.output));
    error = UniqueFd(dup(spec.error));
    fcntl(input.get(), F_SETFL, O_NONBLOCK);
    watches_output = spec.watch_output;
    proc::ProcessTree::Parts parts;
    parts.instance = "1a2b3c4d";
    parts.keeper = 1'000'000;
    parts.lifeline = UniqueFd(ends[0]);
    return proc::ProcessTree(std::move(parts));
  }

  bool refuses = false;
  bool watches_output = true;
  UniqueFd keeper, input, output, error;
};

struct Listener final : Instance::Events {
  void on_opened() override { said.emplace_back("opened"); }
  void on_message(const wire::Message& message) override { said.emplace_back(message.text()); }
  void on_lost_answer(const LostAnswer& lost) override {
    said.push_back("lost answer " + lost.id + (lost.too_large ? " (large)" : "") + ": " + lost.why);
  }
  void on_error_output(std::string_view bytes) override { errors.append(bytes); }
  void on_drained() override { said.emplace_back("drained"); }
  void on_server_lost(const std::string& sentence) override { said.push_back("lost: " + sentence); }
  void on_ended(const TreeEnd& one) override {
    said.emplace_back("ended");
    ending = one;
  }

  std::vector<std::string> said;
  std::string errors;
  TreeEnd ending;
};

class OneInstance : public testing::Test {
 protected:
  OneInstance() {
    proc::LaunchSpec spec;
    spec.argv = {"/bin/fake"};
    spec.directory = "/srv";
    auto started = Instance::start(loop_, spawner_, spec, 1000, listener_);
    instance_ = std::move(*started);
  }

  void settle() {
    for (int turn = 0; turn < 8; ++turn) loop_.run_due();
  }
  void pass(Clock::duration time) {
    clock_.pass(time);
    settle();
  }
  void say(const std::string& text) {
    ASSERT_EQ(write(spawner_.output.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    settle();
  }
  void tell(const keeper::Event& event) {
    ASSERT_EQ(send(spawner_.keeper.get(), &event, sizeof event, 0), static_cast<ssize_t>(sizeof event));
    settle();
  }
  void tell_started() {
    keeper::Event event{};
    event.kind = keeper::Event::Kind::Started;
    event.server = 4711;
    tell(event);
  }
  std::string server_heard() {
    char bytes[65536];
    const ssize_t got = read(spawner_.input.get(), bytes, sizeof bytes);
    return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : "";
  }
  std::vector<std::string> said() { return std::exchange(listener_.said, {}); }
  void open(std::optional<knowledge::Era> expected, bool pinned = false) {
    instance_->open({.expected = expected, .pinned = pinned, .initialize_params = "{}"});
    settle();
  }

  tests::HeldClock clock_;
  Loop loop_;
  SilentSpawner spawner_;
  Listener listener_;
  std::unique_ptr<Instance> instance_;
};

constexpr const char* kGreeting = R"({"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}})"
                                  "\n";

TEST_F(OneInstance, KnowsWhatItIsBeforeAnybodySpeaks) {
  EXPECT_EQ(instance_->state(), State::Starting);
  EXPECT_EQ(instance_->server_pid(), 0);
  EXPECT_NE(instance_->input_inode(), 0U);
  EXPECT_EQ(instance_->id(), InstanceId("1a2b3c4d"));
  EXPECT_EQ(instance_->started(), Clock::now());
  EXPECT_FALSE(spawner_.watches_output) << "we read it ourselves";
  tell_started();
  EXPECT_EQ(instance_->server_pid(), 4711);
  EXPECT_STRNE(instance_->level(), "");
  EXPECT_THAT(said(), IsEmpty());
}

TEST_F(OneInstance, ThatAnswersBeforeItsKeeperHasToldOfItIsOpenOnlyThen) {
  open(knowledge::Era::Legacy);
  say(std::string(kGreeting) + R"({"jsonrpc":"2.0","method":"first"})" + "\n");
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_EQ(instance_->state(), State::Ready);
  tell_started();
  say(R"({"jsonrpc":"2.0","method":"second"})"
      "\n");
  EXPECT_THAT(said(), ElementsAre("opened", HasSubstr("first"), HasSubstr("second")));
  tell_started();
  EXPECT_THAT(said(), IsEmpty()) << "opened once";
}

TEST_F(OneInstance, IsOpenedOnce) {
  open(knowledge::Era::Legacy);
  EXPECT_THAT(server_heard(), HasSubstr("initialize"));
  open(knowledge::Era::Modern);
  EXPECT_EQ(server_heard(), "");
  EXPECT_EQ(instance_->handshake().era(), knowledge::Era::Legacy);
}

TEST_F(OneInstance, HasThreeMinutesForAnAnswerThatItsEraIsKnownToHave) {
  tell_started();
  open(knowledge::Era::Legacy);
  pass(seconds(180) - milliseconds(1));
  EXPECT_THAT(said(), IsEmpty());
  pass(milliseconds(1));
  EXPECT_THAT(said(), ElementsAre("opened"));
  EXPECT_EQ(instance_->handshake().outcome(), Outcome::Refused);
  EXPECT_THAT(instance_->handshake().error(), HasSubstr("did not answer the handshake in time"));
}

TEST_F(OneInstance, HasThreeSecondsForAProbeOnceItHasReadIt) {
  tell_started();
  open(std::nullopt);
  EXPECT_THAT(server_heard(), HasSubstr("server/discover"));
  pass(milliseconds(250));
  pass(milliseconds(2999));
  EXPECT_THAT(said(), IsEmpty());
  pass(milliseconds(1));
  EXPECT_THAT(said(), ElementsAre("opened"));
  EXPECT_EQ(instance_->handshake().outcome(), Outcome::NotModern);
}

TEST_F(OneInstance, ThatHasNotReadTheProbeIsStillStartingForThreeMinutes) {
  tell_started();
  open(std::nullopt);
  for (int i = 0; i < 4 * 180 - 1; ++i) pass(milliseconds(250));
  EXPECT_THAT(said(), IsEmpty());
  pass(milliseconds(250));
  pass(seconds(3) - milliseconds(1));
  EXPECT_THAT(said(), IsEmpty());
  pass(milliseconds(1));
  EXPECT_THAT(said(), ElementsAre("opened"));
}

TEST_F(OneInstance, AnswersInTimeAndIsNotGivenUpLater) {
  tell_started();
  open(knowledge::Era::Legacy);
  say(kGreeting);
  EXPECT_THAT(said(), ElementsAre("opened"));
  EXPECT_THAT(server_heard(), HasSubstr("notifications/initialized"));
  pass(std::chrono::hours(1));
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_EQ(instance_->handshake().outcome(), Outcome::Ready);
}

// ---- what it says

TEST_F(OneInstance, DropsAndCountsInvalidLinesButReportsHalfAnAnswer) {
  tell_started();
  open(knowledge::Era::Legacy);
  say(kGreeting);
  said();
  say("hello\n");
  EXPECT_THAT(said(), IsEmpty());
  EXPECT_EQ(instance_->counters().lines_dropped, 1U);
  EXPECT_EQ(instance_->counters().bytes_dropped, 5U);

  say(R"({"jsonrpc":"2.0","id":7,"result":{"a":nope}})"
      "\n");
  EXPECT_THAT(said(), ElementsAre(AllOf(HasSubstr("lost answer 7: it is not strict JSON: "),
                                        HasSubstr(" at byte "))));
  EXPECT_EQ(instance_->counters().lines_dropped, 2U);
}

TEST_F(OneInstance, TellsOfAnAnswerThatIsTooLongAndOfNothingElseThatIs) {
  tell_started();
  open(knowledge::Era::Legacy);
  say(kGreeting);
  said();
  const std::string padding(1200, 'x');
  const std::string answer = R"({"jsonrpc":"2.0","id":7,"result":{"a":")" + padding + "\"}}";
  say(answer + "\n");
  EXPECT_THAT(
      said(),
      ElementsAre(
          "lost answer 7 (large): it is " + std::to_string(answer.size()) +
          " bytes long, more than the longest allowed line; raise \"line_cap\" in the configuration"));
  say(R"({"jsonrpc":"2.0","id":8,"method":"roots/list","params":{"a":")" + padding + "\"}}\n");
  EXPECT_THAT(said(), IsEmpty()) << "a question is not an answer";
  EXPECT_EQ(instance_->counters().lines_dropped, 2U);
  EXPECT_GT(instance_->counters().bytes_dropped, 2400U);
}

TEST_F(OneInstance, WhoseGreetingCannotBeReadIsRefused) {
  tell_started();
  open(knowledge::Era::Legacy, true);
  say(R"({"jsonrpc":"2.0","id":1,"result":{"a":nope}})"
      "\n");
  EXPECT_THAT(said(), ElementsAre("opened"));
  EXPECT_EQ(instance_->handshake().outcome(), Outcome::Refused);
  EXPECT_THAT(instance_->handshake().error(), HasSubstr("cannot be used: it is not strict JSON"));
}

TEST_F(OneInstance, KeepsTheEndOfItsStderr) {
  tell_started();
  const std::string text = std::string(3000, 'a') + std::string(2048, 'b');
  ASSERT_EQ(write(spawner_.error.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  settle();
  EXPECT_EQ(listener_.errors, text);
  EXPECT_EQ(instance_->error_tail(), std::string(2048, 'b'));
  EXPECT_EQ(instance_->error_output_bytes(), text.size());
}

// ---- its end

TEST_F(OneInstance, TellsHowItEndedAndWhatIsLeft) {
  tell_started();
  open(knowledge::Era::Legacy);
  say(kGreeting);
  said();
  ASSERT_EQ(write(spawner_.error.get(), "last words", 10), 10);
  keeper::Event event{};
  event.kind = keeper::Event::Kind::Ended;
  event.report.server_status_known = true;
  event.report.server_status = 3 << 8;
  event.report.ended_total = 5;
  event.report.survivors = 2;
  event.report.survivor[0].pid = 71;
  event.report.survivor[1].pid = 72;
  tell(event);

  EXPECT_THAT(said(), ElementsAre("lost: exited with code 3", "ended"));
  EXPECT_EQ(instance_->state(), State::Ended);
  EXPECT_EQ(listener_.ending.exit_code, 3);
  EXPECT_FALSE(listener_.ending.proved_empty);
  EXPECT_FALSE(listener_.ending.keeper_lost);
  EXPECT_EQ(listener_.ending.ended_processes, 5U);
  EXPECT_EQ(listener_.ending.error_output, "last words");
  ASSERT_EQ(listener_.ending.survivors.size(), 2U);
  EXPECT_EQ(listener_.ending.survivors[1].pid, 72);
}

TEST_F(OneInstance, WhoseStatusIsNotKnownEnded) {
  tell_started();
  keeper::Event event{};
  event.kind = keeper::Event::Kind::Ended;
  event.report.proved_empty = true;
  event.report.survivors = 1'000'000;
  tell(event);
  EXPECT_THAT(said(), ElementsAre("lost: ended", "ended"));
  EXPECT_TRUE(listener_.ending.proved_empty);
  EXPECT_EQ(listener_.ending.survivors.size(), keeper::kListedSurvivors) << "no more than the keeper lists";
}

TEST_F(OneInstance, HandsOverWhatItSaidLastBeforeItHasEnded) {
  tell_started();
  open(knowledge::Era::Legacy);
  say(kGreeting);
  said();
  const std::string last = R"({"jsonrpc":"2.0","method":"last"})"
                           "\n";
  ASSERT_GT(write(spawner_.output.get(), last.data(), last.size()), 0);
  keeper::Event event{};
  event.kind = keeper::Event::Kind::Ended;
  tell(event);
  EXPECT_THAT(said(), ElementsAre(HasSubstr("last"), "lost: ended", "ended"));
}

TEST_F(OneInstance, ThatIsStoppedPolitelySeesTheEndOfItsInput) {
  tell_started();
  open(knowledge::Era::Legacy);
  say(kGreeting);
  server_heard();
  instance_->stop(Instance::Haste::Polite);
  settle();
  EXPECT_EQ(instance_->state(), State::Ending);
  char byte = 0;
  EXPECT_EQ(read(spawner_.input.get(), &byte, 1), 0);
  pass(seconds(3));
  keeper::Command command{};
  EXPECT_LT(recv(spawner_.keeper.get(), &command, sizeof command, MSG_DONTWAIT), 0)
      << "its keeper is not told";
}

TEST_F(OneInstance, ThatDoesNotReadIsEndedByItsKeeperAfterTwoSeconds) {
  tell_started();
  open(knowledge::Era::Legacy);
  say(kGreeting);
  const std::string large(200'000, 'x');
  instance_->send(large);
  instance_->stop(Instance::Haste::Polite);
  keeper::Command command{};
  const auto told = [&] {
    return recv(spawner_.keeper.get(), &command, sizeof command, MSG_DONTWAIT) > 0 &&
           command.kind == keeper::Command::Kind::Stop;
  };
  pass(milliseconds(1999));
  EXPECT_FALSE(told());
  pass(milliseconds(1));
  EXPECT_TRUE(told());
}

TEST(AnInstance, ThatCannotBeStartedHasTheCodeOfAShell) {
  EXPECT_EQ(exit_code_of({"", Error::Kind::NotFound}), 127);
  EXPECT_EQ(exit_code_of({"", Error::Kind::NotExecutable}), 126);
  EXPECT_EQ(exit_code_of({"", Error::Kind::Failure}), 125);
  Loop loop;
  SilentSpawner spawner;
  spawner.refuses = true;
  Listener listener;
  proc::LaunchSpec spec;
  spec.argv = {"/bin/fake"};
  const auto started = Instance::start(loop, spawner, spec, 1000, listener);
  ASSERT_FALSE(started);
  EXPECT_EQ(exit_code_of(started.error()), 127);
}

}  // namespace
}  // namespace corral::instance
