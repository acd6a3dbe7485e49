// A channel with another framing, in the places where the daemon has a channel: an instance of a server, and
// a client that is connected through a shim.
#include "wire/channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/test_pipe.h"
#include "instance/instance.h"
#include "session/exchange.h"
#include "transport/stdio_client.h"
#include "wire/content_length_channel.h"

namespace corral::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string framed(const std::string& message) { return ContentLengthChannel::framed(message); }

void settle(Loop& loop) {
  for (int turn = 0; turn < 64; ++turn) loop.run_due();
}

void write_all(const UniqueFd& fd, const std::string& bytes) {
  ASSERT_EQ(write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

std::string read_all(const UniqueFd& fd) {
  fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  std::string text(std::size_t{1} << 16, '\0');
  const ssize_t got = read(fd.get(), text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

// ---- the channel alone

class OtherFraming : public testing::Test, protected wire::Channel::Handler {
 protected:
  OtherFraming() {
    Pipe in = make_pipe();
    Pipe out = make_pipe();
    writer_ = std::move(in.write);
    reader_ = std::move(out.read);
    wire::Channel::Handler& handler = *this;
    channel_ = ContentLengthChannel::make(loop_, std::move(in.read), std::move(out.write), 100, handler, "");
  }

  void on_message(const wire::Message& message) override {
    happened_.emplace_back(message.text());
    if (pauses_) channel_->pause();
  }
  void on_oversized(const wire::Oversized& oversized) override {
    happened_.push_back("oversized " + std::to_string(oversized.bytes));
  }
  void on_input_end() override { happened_.emplace_back("end"); }
  void on_output_lost() override { happened_.emplace_back("lost"); }
  void on_output_drained() override { happened_.emplace_back("drained"); }
  void on_output_closed() override { happened_.emplace_back("closed"); }

  std::vector<std::string> happened() { return std::exchange(happened_, {}); }

  Loop loop_;
  UniqueFd writer_;
  UniqueFd reader_;
  bool pauses_ = false;
  std::unique_ptr<wire::Channel> channel_;
  std::vector<std::string> happened_;
};

TEST_F(OtherFraming, IsWrittenByTheSubclassWithTheEdits) {
  const std::string message = R"({"id":1,"method":"ping"})";
  const wire::Span one{6, 7};

  channel_->send({message, nullptr}, {{one, "12345"}});
  channel_->send("{}");
  EXPECT_EQ(read_all(reader_), "") << "before the end of the turn";
  settle(loop_);

  EXPECT_EQ(read_all(reader_), framed(R"({"id":12345,"method":"ping"})") + framed("{}"));
  EXPECT_EQ(channel_->queued(), 0U);
}

TEST_F(OtherFraming, SharesTheLimitsAndTheEndOfTheOutput) {
  const std::string large(std::size_t{2} << 20, 'x');

  channel_->send(large);
  EXPECT_TRUE(channel_->congested());
  for (int i = 0; i < 64 && channel_->congested(); ++i) {
    settle(loop_);
    read_all(reader_);
  }
  EXPECT_THAT(happened(), ElementsAre("drained"));

  channel_->close_output_when_flushed();
  for (int i = 0; i < 64 && channel_->output_open(); ++i) {
    settle(loop_);
    read_all(reader_);
  }
  EXPECT_THAT(happened(), ElementsAre("closed"));
}

TEST_F(OtherFraming, DeliversMessagesThatMayHaveLineEndsOnlyWhileItReads) {
  write_all(writer_, framed("{\n}") + framed(std::string(101, 'x')) + framed("[2]"));
  settle(loop_);
  EXPECT_THAT(happened(), IsEmpty());

  pauses_ = true;
  channel_->resume();
  settle(loop_);
  EXPECT_THAT(happened(), ElementsAre("{\n}"));

  channel_->resume();
  settle(loop_);
  EXPECT_THAT(happened(), ElementsAre("oversized 101", "[2]"));

  writer_.reset();
  channel_->resume();
  settle(loop_);
  EXPECT_THAT(happened(), ElementsAre("end"));
}

TEST_F(OtherFraming, DeliversTheRestOfAPausedInput) {
  write_all(writer_, framed("[1]") + framed("[2]"));

  channel_->read_rest([this] { happened_.emplace_back("done"); });

  EXPECT_THAT(happened(), ElementsAre("[1]", "[2]", "done"));
}

// ---- a server

struct Events final : instance::Instance::Events {
  void on_opened() override { happened.emplace_back("opened"); }
  void on_message(const wire::Message& message) override { happened.emplace_back(message.text()); }
  void on_lost_answer(const instance::LostAnswer& lost) override { happened.push_back("lost " + lost.why); }
  void on_error_output(std::string_view /*bytes*/) override {}
  void on_drained() override {}
  void on_server_lost(const std::string& sentence) override { happened.push_back(sentence); }
  void on_ended(const instance::TreeEnd& /*ending*/) override { happened.emplace_back("ended"); }

  std::vector<std::string> happened;
};

TEST(ChannelOfAnInstance, MayHaveAnotherFraming) {
  HeldClock clock;
  Loop loop;
  FakeSpawner spawner;
  Events events;
  proc::LaunchSpec spec;
  spec.argv = {"/bin/fake"};
  auto started = instance::Instance::start(loop, spawner, spec, 1000, events, {}, ContentLengthChannel::make);
  ASSERT_TRUE(started);
  instance::Instance& instance = **started;
  FakeServer& server = spawner.servers.front();

  instance.open({.expected = knowledge::Era::Legacy, .initialize_params = "{}"});
  settle(loop);
  EXPECT_THAT(server.heard(), ElementsAre(HasSubstr("Content-Length: "), "\r"));
  server.say_raw(framed(R"({"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}})"));
  settle(loop);
  EXPECT_THAT(std::exchange(events.happened, {}), ElementsAre("opened"));

  server.say_raw(framed("{\"jsonrpc\":\"2.0\",\n\"method\":\"first\"}") + framed("no message"));
  server.say_raw(framed(R"({"jsonrpc":"2.0","method":"last"})"));
  server.exit(0);
  settle(loop);
  EXPECT_THAT(events.happened,
              ElementsAre(HasSubstr("first"), HasSubstr("last"), HasSubstr("exited with code 0"), "ended"));
  EXPECT_EQ(instance.counters().lines_dropped, 1U);
}

TEST(ChannelOfASpec, CarriesASessionThroughTheRouter) {
  Exchange exchange(config::Share::Session);
  exchange.spec->make_channel = ContentLengthChannel::make;
  FakeClient& client = exchange.connect();

  client.say(kInitialize);
  settle(exchange.loop);
  FakeServer& server = exchange.server();
  EXPECT_THAT(server.heard(), ElementsAre(HasSubstr("Content-Length: "), "\r"));
  server.say_raw(framed(R"({"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}})"));
  settle(exchange.loop);
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("id":0,"result")")));

  client.say(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"t"}})");
  settle(exchange.loop);
  server.say_raw(framed("{\"jsonrpc\":\"2.0\",\n\"id\":2,\"result\":{\"content\":[]}}"));
  settle(exchange.loop);
  EXPECT_THAT(client.heard(),
              ElementsAre("{\"jsonrpc\":\"2.0\",\n\"id\":\"a\",\"result\":{\"content\":[]}}"));
}

// ---- a client

class QuietLine final : public transport::ShimLine {
 public:
  void accept() override {}
  void refuse(const std::string&, int) override {}
  void run_it(const std::string&) override {}
  void note(const std::string&) override {}
  void error_output(std::string_view) override {}
  void exit(int code, const std::string&) override { exited = code; }
  void when_gone(std::function<void()> /*task*/) override {}

  std::optional<int> exited;
};

TEST(ChannelOfAClient, MayHaveAnotherFraming) {
  Exchange exchange(config::Share::Session);
  exchange.spec->key = knowledge::launch_key(exchange.spec->launch);
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  transport::Arrival arrival;
  arrival.input = std::move(in.read);
  arrival.output = std::move(out.write);
  auto line = std::make_shared<QuietLine>();
  int gone = 0;
  transport::StdioClient client(
      exchange.loop, std::move(arrival), line, 1000, [&](transport::StdioClient&) { ++gone; },
      ContentLengthChannel::make);
  client.begin(SessionId(7), exchange.pool, exchange.spec);

  write_all(in.write, framed(kInitialize));
  settle(exchange.loop);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server()));
  EXPECT_THAT(read_all(out.read), AllOf(HasSubstr("Content-Length: "), HasSubstr(R"("id":0,"result")")));

  write_all(in.write, framed(kInitialized) +
                          framed(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t"}})"));
  settle(exchange.loop);
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("initialized"), HasSubstr("tools/call")));
  exchange.server().say(R"({"jsonrpc":"2.0","id":2,"result":{"content":[]}})");
  settle(exchange.loop);
  EXPECT_EQ(read_all(out.read), framed(R"({"jsonrpc":"2.0","id":5,"result":{"content":[]}})"));

  in.write.reset();
  settle(exchange.loop);
  exchange.server().exit(0);
  settle(exchange.loop);
  EXPECT_EQ(line->exited, 0);
  EXPECT_EQ(gone, 1);
}

}  // namespace
}  // namespace corral::tests
