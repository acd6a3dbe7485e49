// What a client reads that gets no session: the reason, as the answer to its first request.
#include "shim/refusal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <string>

#include "base/unique_fd.h"
#include "wire/error_codes.h"

namespace corral::shim {
namespace {

using std::chrono::milliseconds;

class Refused : public testing::Test {
 protected:
  struct Ends {
    UniqueFd read;
    UniqueFd write;
  };
  static Ends pipe_ends() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
  }
  void say(const std::string& text) const {
    ASSERT_EQ(write(to_us_.write.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  bool answer(milliseconds patience = milliseconds(15'000), int stop = -1) const {
    return answer_refused({to_us_.read.get(), from_us_.write.get(), stop, patience},
                          "server \"x\" is disabled");
  }
  std::string heard() const {
    fcntl(from_us_.read.get(), F_SETFL, O_NONBLOCK);
    std::string text(65536, '\0');
    const ssize_t size = read(from_us_.read.get(), text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

  Ends to_us_ = pipe_ends();
  Ends from_us_ = pipe_ends();
};

TEST_F(Refused, HearsTheReasonAsTheAnswerToItsFirstRequest) {
  say("not JSON\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
  say(R"({"jsonrpc":"2.0","id":"a","method":"initialize","params":{}})"
      "\n");
  say(R"({"jsonrpc":"2.0","id":"b","method":"ping"})"
      "\n");

  EXPECT_TRUE(answer());

  const std::string text = heard();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  const boost::json::value said = boost::json::parse(text);
  EXPECT_EQ(said.at("id"), "a");
  EXPECT_EQ(said.at("error").at("code"), wire::kServerLost);
  EXPECT_EQ(said.at("error").at("message"), "server \"x\" is disabled");
}

TEST_F(Refused, IsNotAnsweredWithoutARequest) {
  say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n{\"jsonrpc\"");
  EXPECT_FALSE(answer(milliseconds(1))) << "it may send one later, but nobody waits for long";

  to_us_.write.reset();
  EXPECT_FALSE(answer()) << "it is gone";
  EXPECT_EQ(heard(), "");
}

TEST_F(Refused, IsNotWaitedForIfTheProgramMustLeave) {
  const Ends stop = pipe_ends();
  ASSERT_EQ(write(stop.write.get(), "x", 1), 1);

  EXPECT_FALSE(answer(milliseconds(15'000), stop.read.get()));
}

TEST_F(Refused, IsNotWaitedForIfItReadsNoAnswers) {
  fcntl(from_us_.write.get(), F_SETFL, O_NONBLOCK);
  const std::string much(65536, 'x');
  while (write(from_us_.write.get(), much.data(), much.size()) > 0) continue;
  say(R"({"jsonrpc":"2.0","id":1,"method":"initialize"})"
      "\n");

  EXPECT_FALSE(answer(milliseconds(50)));
}

}  // namespace
}  // namespace corral::shim
