// What a connection makes of the first line that it gets.
#include "transport/control_connection.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "transport/control_line.h"
#include "version.h"

namespace corral::transport {
namespace {

using control::Hello;
using control::Reply;
using control::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string refused(const std::string& why, int code) {
  return control::encode(Reply{Reply::Kind::Refused, why, code, 0, control::kProtocol, kVersion});
}

ino_t inode_of(int fd) {
  struct stat status {};
  EXPECT_EQ(fstat(fd, &status), 0);
  return status.st_ino;
}

class ControlHello : public ControlLine {
 protected:
  /// Of a shim that names these descriptors and sends those.
  void connect_with(std::vector<std::string> names, std::vector<int> descriptors) {
    let_go();
    Hello hello = hello_for(Verb::Connect);
    hello.server = "files";
    hello.descriptors = std::move(names);
    send(control::encode(hello), descriptors);
  }

  void SetUp() override {
    ControlLine::SetUp();
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    read_ = UniqueFd(ends[0]);
    write_ = UniqueFd(ends[1]);
    self_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
    ASSERT_TRUE(self_.valid());
  }

  UniqueFd read_;
  UniqueFd write_;
  UniqueFd self_;  // a pidfd
};

TEST_F(ControlHello, MustComeWithinTenSeconds) {
  let_go();
  send("{\"proto");
  pass(seconds(10) - milliseconds(1));
  EXPECT_EQ(finished_, 0);
  EXPECT_EQ(context_->counters.bad_hellos, 0U);

  pass(milliseconds(1));

  EXPECT_EQ(finished_, 1);
  EXPECT_EQ(context_->counters.bad_hellos, 1U);
  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(over_);
}

TEST_F(ControlHello, ThatHasComeIsNotLateAnyMore) {
  send(control::encode(hello_for(Verb::Status)));
  pass(seconds(600));

  EXPECT_EQ(finished_, 0) << "the answer takes as long as it takes";
  EXPECT_EQ(context_->counters.bad_hellos, 0U);
}

TEST_F(ControlHello, ThatIsBrokenOffCountsAsABadOne) {
  send("{");
  shim_.reset();
  turn();

  EXPECT_EQ(finished_, 1);
  EXPECT_EQ(context_->counters.bad_hellos, 1U);
}

TEST_F(ControlHello, MayComeByteByByte) {
  let_go();
  for (const char byte : control::encode(hello_for(Verb::Reload))) send({&byte, 1});

  ASSERT_EQ(opener_.questions.size(), 1U);
  EXPECT_EQ(opener_.questions[0].hello.verb, Verb::Reload);
  EXPECT_EQ(opener_.questions[0].peer, kShim);
  EXPECT_EQ(heard(), "");
  const Reply reply{Reply::Kind::Result, "{}", 0, 0, 0, ""};
  opener_.answers[0](reply);
  EXPECT_EQ(heard(), control::encode(reply));
  EXPECT_TRUE(over_);
  EXPECT_EQ(finished_, 1);
  EXPECT_EQ(context_->counters.bad_hellos, 0U);
}

TEST_F(ControlHello, IsAnsweredOnce) {
  let_go();
  send(control::encode(hello_for(Verb::Reload)));
  ASSERT_EQ(opener_.answers.size(), 1U);
  const Reply reply{Reply::Kind::Result, "{}", 0, 0, 0, ""};
  fill_socket();
  opener_.answers[0](reply);
  opener_.answers[0](reply);

  EXPECT_TRUE(heard().ends_with(control::encode(reply)));
  opener_.answers[0](reply);
  EXPECT_EQ(heard(), "");
  EXPECT_EQ(finished_, 1);
}

TEST_F(ControlHello, MayHaveFourMebibytesAndNoByteMore) {
  let_go();
  const std::string too_long = "the first line is longer than 4194304 bytes";
  std::string line(control::kLongestHello, 'x');
  send(line);
  EXPECT_EQ(heard(), "") << "its end may still come";
  send("x");

  EXPECT_EQ(heard(), refused(too_long, 64));
  EXPECT_TRUE(over_);
  EXPECT_EQ(context_->counters.bad_hellos, 1U);
}

TEST_F(ControlHello, ThatIsNotUnderstoodIsRefusedWithAReason) {
  let_go();
  send("{}\nmore of it");

  const std::string answer = heard();
  const auto reply = control::decode_reply(answer.substr(0, answer.find('\n')));
  ASSERT_TRUE(reply) << answer;
  EXPECT_EQ(reply->kind, Reply::Kind::Refused);
  EXPECT_EQ(reply->code, 64);
  EXPECT_TRUE(reply->text.starts_with("the first line is not valid: ")) << reply->text;
  EXPECT_EQ(context_->counters.bad_hellos, 1U);
  EXPECT_EQ(finished_, 1);
}

TEST_F(ControlHello, OfAnOlderProtocolThanAnyIsToldToBeNewer) {
  let_go();
  send("{\"protocol\":" + std::to_string(control::kOldestProtocol - 1) + "}\n");

  EXPECT_EQ(heard(), refused("this daemon (corral " + std::string(kVersion) +
                                 ") speaks protocol 3, not 2: " + "use a newer corral on this side",
                             76));
  EXPECT_EQ(context_->counters.bad_hellos, 1U);
}

TEST_F(ControlHello, OfANewerProtocolNamesTheCommandThatHelps) {
  let_go();
  send("{\"protocol\":" + std::to_string(control::kProtocol + 1) + "}\n");

  EXPECT_EQ(heard(), refused("this daemon (corral " + std::string(kVersion) + ") speaks protocol 3, not 4: " +
                                 "restart it with the newer corral (`corral serve --replace`)",
                             76));
  EXPECT_EQ(context_->counters.bad_hellos, 1U);
}

TEST_F(ControlHello, OfEveryProtocolBetweenIsServed) {
  let_go();
  send("{\"protocol\":" + std::to_string(control::kOldestProtocol) + ",\"verb\":\"status\"}\n");

  EXPECT_EQ(opener_.questions.size(), 1U);
  EXPECT_EQ(context_->counters.bad_hellos, 0U);
}

TEST_F(ControlHello, BringsEveryDescriptorToItsPlace) {
  connect_with({"client", "output", "input"}, {self_.get(), write_.get(), read_.get()});

  ASSERT_EQ(opener_.arrivals.size(), 1U) << heard();
  const Arrival& arrival = opener_.arrivals[0];
  EXPECT_EQ(arrival.hello.server, "files");
  EXPECT_EQ(arrival.shim, kShim);
  EXPECT_EQ(arrival.confinement, "");
  EXPECT_EQ(inode_of(arrival.input.get()), inode_of(read_.get()));
  EXPECT_EQ(fcntl(arrival.input.get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_EQ(fcntl(arrival.output.get(), F_GETFL) & O_ACCMODE, O_WRONLY);
  EXPECT_EQ(inode_of(arrival.client.get()), inode_of(self_.get()));
  EXPECT_NE(fcntl(arrival.input.get(), F_GETFD) & FD_CLOEXEC, 0) << "no server inherits it";
}

TEST_F(ControlHello, DoesWithoutTheClient) {
  connect_with({"input", "output"}, {read_.get(), write_.get()});

  ASSERT_EQ(opener_.arrivals.size(), 1U) << heard();
  EXPECT_FALSE(opener_.arrivals[0].client.valid());
}

struct Sent {
  std::vector<std::string> names;
  std::vector<int> which;  // 0 = read, 1 = write, 2 = pidfd, 3 = a file
  std::string refusal;
};

class ControlDescriptors : public ControlHello, public testing::WithParamInterface<Sent> {};

TEST_P(ControlDescriptors, ThatDoNotFitAreRefused) {
  const UniqueFd file(open("/dev/null", O_RDWR | O_CLOEXEC));
  const std::array<int, 4> all = {read_.get(), write_.get(), self_.get(), file.get()};
  std::vector<int> chosen;
  for (const int which : GetParam().which) chosen.push_back(all.at(static_cast<std::size_t>(which)));
  connect_with(GetParam().names, chosen);

  EXPECT_EQ(heard(), refused(GetParam().refusal, 64));
  EXPECT_TRUE(over_);
  EXPECT_EQ(finished_, 1);
  EXPECT_EQ(opener_.arrivals.size(), 0U);
  EXPECT_EQ(context_->counters.bad_hellos, 1U);
  shim_.reset();
  write_.reset();
  pollfd state{read_.get(), POLLIN, 0};
  EXPECT_EQ(poll(&state, 1, 0), 1) << "nothing of what came is still open";
}

const std::string kNotThose = "the received descriptors do not match 'descriptors'";
INSTANTIATE_TEST_SUITE_P(
    Odd, ControlDescriptors,
    testing::Values(
        Sent{{"input", "output"}, {0}, kNotThose}, Sent{{"input", "output"}, {}, kNotThose},
        Sent{{"input", "output"}, {0, 1, 2}, kNotThose},
        Sent{{"input", "output", "client"}, {0, 1, 2, 2}, kNotThose},
        Sent{{"input", "output"}, {3, 1}, "the descriptor 'input' is neither a pipe nor a stream socket"},
        Sent{{"input", "output"}, {0, 3}, "the descriptor 'output' is neither a pipe nor a stream socket"},
        Sent{{"input", "output", "client"}, {0, 1, 3}, "the descriptor 'client' is not a pidfd"},
        Sent{{"input", "output", "client"}, {0, 1, 1}, "the descriptor 'client' is not a pidfd"}));

TEST_F(ControlHello, OfAShimThatHasGoneOnAloneIsNotServed) {
  let_go();
  Hello hello = hello_for(Verb::Connect);
  hello.server = "files";
  hello.descriptors = {"input", "output"};
  const std::string line = control::encode(hello);
  send(line.substr(0, 10), std::array{read_.get(), write_.get()});
  ASSERT_GT(::send(shim_.get(), line.data() + 10, line.size() - 10, MSG_NOSIGNAL), 0);
  shim_.reset();
  turn();

  EXPECT_EQ(opener_.arrivals.size(), 0U);
  EXPECT_EQ(finished_, 1);
}

TEST_F(ControlHello, SaysInWhatItsSenderIsConfinedIfThatMatters) {
  context_->own.namespaces[1] = "another";
  connect_with({"input", "output"}, {read_.get(), write_.get()});
  ASSERT_EQ(opener_.arrivals.size(), 1U);
  EXPECT_EQ(opener_.arrivals[0].confinement, "its own mount namespace");

  for (const auto& [verb, confinement] :
       {std::pair{Verb::SessionCreate, "its own mount namespace"}, std::pair{Verb::Status, ""}}) {
    connection_->abandon();
    opener_.questions.clear();
    SetUp();
    context_->own.namespaces[1] = "another";
    send(control::encode(hello_for(verb)));
    ASSERT_EQ(opener_.questions.size(), 1U);
    EXPECT_EQ(opener_.questions[0].confinement, confinement);
  }
}

}  // namespace
}  // namespace corral::transport
