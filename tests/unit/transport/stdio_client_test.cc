// A client behind a shim: its pipes, the line to the shim, and the process above both.
#include "transport/stdio_client.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "keeper/kernel.h"
#include "session/exchange.h"

namespace corral::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using transport::StdioClient;

class FakeLine final : public transport::ShimLine {
 public:
  void accept() override { said.emplace_back("accepted"); }
  void refuse(const std::string&, int) override {}
  void run_it(const std::string&) override {}
  void note(const std::string& sentence) override { said.push_back("note " + sentence); }
  void error_output(std::string_view bytes) override { said.push_back("stderr " + std::string(bytes)); }
  void exit(int code, const std::string&) override { said.push_back("exit " + std::to_string(code)); }
  void when_gone(std::function<void()> task) override { gone = std::move(task); }

  std::vector<std::string> said;
  std::function<void()> gone;
};

std::array<UniqueFd, 2> new_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("no pipe");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

class StdioClientTest : public testing::Test {
 protected:
  StdioClientTest() {
    auto [input, typed] = new_pipe();
    auto [shown, output] = new_pipe();
    auto [watched, process] = new_pipe();  // its end is the process's
    typed_ = std::move(typed);
    shown_ = std::move(shown);
    process_ = std::move(process);
    transport::Arrival arrival;
    arrival.hello.client = 41;
    arrival.input = std::move(input);
    arrival.output = std::move(output);
    arrival.client = std::move(watched);
    arrival.shim = 42;
    client_ = std::make_unique<StdioClient>(exchange_.loop, std::move(arrival), line_, std::size_t{1} << 20,
                                            [this](StdioClient&) { ++gone_; });
    exchange_.spec->entry.share = config::Share::Session;
    exchange_.spec->key = knowledge::launch_key(exchange_.spec->launch);
    client_->begin(SessionId(7), exchange_.pool, exchange_.spec);
  }

  void type(const std::string& line) {
    const std::string bytes = line + "\n";
    ASSERT_EQ(write(typed_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    exchange_.settle();
  }
  /// What the client could read since the last call.
  std::string shown() {
    std::string text(1 << 20, '\0');
    const ssize_t got = read(shown_.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  bool output_ended() {
    char byte = 0;
    return read(shown_.get(), &byte, 1) == 0;
  }
  void open() {
    type(kInitialize);
    ASSERT_TRUE(exchange_.answer_handshake(exchange_.server()));
    type(kInitialized);
    exchange_.server().heard();
    shown();
  }
  /// Opens a session whose process then exits; `found_` is to be told which process goes on with it.
  void lose_the_launcher() {
    client_->find_heir_with([this](const StdioClient::Pipes& pipes, std::function<void(UniqueFd)> then) {
      EXPECT_NE(pipes.input, 0U);
      EXPECT_NE(pipes.output, pipes.input);
      found_ = std::move(then);
    });
    open();
    process_.reset();
    exchange_.settle();
  }
  /// The session has ended, and its private server follows.
  void server_ends() {
    exchange_.settle();
    exchange_.server().exit(0);
    exchange_.settle();
  }
  void pass(Clock::duration time) {
    exchange_.clock.pass(time);
    exchange_.settle();
  }
  /// The client has not read for a while: more is owed to it than its pipe holds.
  void owe_a_lot() {
    for (int i = 0; i < 12; ++i) {
      exchange_.server().say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":")" +
                             std::string(30'000, 'd') + R"("}})");
      exchange_.settle();
    }
  }

  Exchange exchange_;
  std::shared_ptr<FakeLine> line_ = std::make_shared<FakeLine>();
  UniqueFd typed_;
  UniqueFd shown_;
  UniqueFd process_;
  int gone_ = 0;
  std::function<void(UniqueFd)> found_;
  std::unique_ptr<StdioClient> client_;
};

// ---- the client's process has exited

TEST_F(StdioClientTest, ASessionGoesOnWithTheProcessThatTookThePipesOver) {
  lose_the_launcher();
  ASSERT_TRUE(found_);
  EXPECT_FALSE(client_->session().ended());

  found_(UniqueFd(keeper::pidfd_open(getpid())));
  exchange_.settle();

  EXPECT_FALSE(client_->session().ended());
  EXPECT_EQ(client_->client_pid(), getpid());
  EXPECT_THAT(line_->said, ElementsAre("accepted")) << "or the shim leaves after a while";
  pass(seconds(6));
  EXPECT_FALSE(client_->session().ended());
}

TEST_F(StdioClientTest, ASearchForSuchAProcessThatTakesTooLongEndsTheSession) {
  lose_the_launcher();
  ASSERT_TRUE(found_);

  pass(seconds(6));

  EXPECT_TRUE(client_->session().ended());
  found_(UniqueFd(keeper::pidfd_open(getpid())));
  exchange_.settle();
  EXPECT_THAT(line_->said, testing::Not(testing::Contains("accepted")));
}

TEST_F(StdioClientTest, WithoutSuchAProcessTheSessionEnds) {
  lose_the_launcher();
  ASSERT_TRUE(found_);

  found_(UniqueFd());

  EXPECT_TRUE(client_->session().ended());
}

TEST_F(StdioClientTest, NobodyIsLookedForWhenTheInputIsOver) {
  int asked = 0;
  client_->find_heir_with(
      [&asked](const StdioClient::Pipes&, const std::function<void(UniqueFd)>&) { ++asked; });
  open();
  process_.reset();
  typed_.reset();
  exchange_.settle();
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(client_->session().ended());
}

TEST_F(StdioClientTest, AnAnswerAfterTheEndChangesNothing) {
  lose_the_launcher();
  ASSERT_TRUE(found_);
  client_.reset();
  found_(UniqueFd(keeper::pidfd_open(getpid())));
}

TEST_F(StdioClientTest, KnowsWhoIsBehindIt) {
  EXPECT_EQ(client_->client_pid(), 41);
  EXPECT_EQ(client_->shim_pid(), 42);
}

TEST_F(StdioClientTest, SpeaksThroughItsPipes) {
  open();
  type(R"({"jsonrpc":"2.0","id":5,"method":"ping"})");
  exchange_.server().say(R"({"jsonrpc":"2.0","id":2,"result":{}})");
  exchange_.settle();
  EXPECT_THAT(shown(), HasSubstr(R"("id":5)"));
}

TEST_F(StdioClientTest, HandsOnWhatItsServerSaysOnStderr) {
  open();
  exchange_.server().complain("oh\n");
  exchange_.settle();
  EXPECT_THAT(line_->said, ElementsAre("stderr oh\n"));
}

TEST_F(StdioClientTest, ALineThatIsTooLargeIsAnsweredWithItsId) {
  open();
  std::string large = R"({"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":")";
  large.append(std::size_t{2} << 20, 'x');
  large += "\"}}\n";
  for (std::size_t at = 0; at < large.size();) {
    const ssize_t put = write(typed_.get(), large.data() + at, large.size() - at);
    if (put > 0) at += static_cast<std::size_t>(put);
    exchange_.settle();
  }
  EXPECT_THAT(shown(), HasSubstr(R"("id":"big","error")"));
}

TEST_F(StdioClientTest, TheEndOfItsInputIsItsEndAndTheShimMayGo) {
  open();
  typed_.reset();
  server_ends();
  EXPECT_TRUE(output_ended());
  EXPECT_THAT(line_->said, ElementsAre("exit 0"));
  EXPECT_EQ(gone_, 1);
  EXPECT_EQ(line_->gone, nullptr) << "what the shim does now is its own business";
}

TEST_F(StdioClientTest, TheEndOfTheShimIsItsEnd) {
  open();
  line_->gone();
  server_ends();
  EXPECT_EQ(gone_, 1);
  EXPECT_TRUE(output_ended());
}

TEST_F(StdioClientTest, TheEndOfTheProcessAboveItIsItsEnd) {
  open();
  process_.reset();
  server_ends();
  EXPECT_EQ(gone_, 1);
}

TEST_F(StdioClientTest, ThatReadsNoMoreHasEnded) {
  open();
  shown_.reset();
  exchange_.server().say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}})");
  server_ends();
  EXPECT_EQ(gone_, 1);
}

TEST_F(StdioClientTest, IsForgottenByTheLineWhenItIsDestroyed) {
  open();
  ASSERT_NE(line_->gone, nullptr);
  client_.reset();
  EXPECT_EQ(line_->gone, nullptr);
  exchange_.settle();
  EXPECT_EQ(gone_, 0);
}

TEST_F(StdioClientTest, GetsAllThatItIsOwedBeforeTheShimGoes) {
  open();
  owe_a_lot();
  typed_.reset();
  server_ends();
  EXPECT_THAT(line_->said, IsEmpty());

  std::size_t got = 0;
  for (int i = 0; i < 20; ++i) {
    got += shown().size();
    exchange_.settle();
  }
  EXPECT_GT(got, 12U * 30'000);
  EXPECT_THAT(line_->said, ElementsAre("exit 0"));
  EXPECT_EQ(gone_, 1);
}

TEST_F(StdioClientTest, ThatTakesNothingOfWhatItIsOwedIsLeftAfterTwoSeconds) {
  open();
  owe_a_lot();
  typed_.reset();
  server_ends();
  pass(seconds(2) - milliseconds(1));
  EXPECT_EQ(gone_, 0);
  pass(milliseconds(1));
  EXPECT_EQ(gone_, 1);
}

TEST_F(StdioClientTest, ThatTakesALittleNowAndThenHasAMinute) {
  open();
  owe_a_lot();
  typed_.reset();
  server_ends();
  int passed = 0;
  for (std::string little(4096, '\0'); gone_ == 0 && passed < 100; ++passed) {
    ASSERT_GT(read(shown_.get(), little.data(), little.size()), 0);
    pass(seconds(1));
  }
  EXPECT_EQ(passed, 60);
}

}  // namespace
}  // namespace corral::tests
