#include "control/control_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>

#include "control/runtime_dir.h"

namespace corral::control {
namespace {

using std::chrono::milliseconds;

const Reply kNote{Reply::Kind::Note, "a word", 0, 0, 0, ""};

class ChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    daemon_ = UniqueFd(ends[1]);
    channel_.emplace(UniqueFd(ends[0]));
  }

  void daemon_says(std::string_view bytes) {
    ASSERT_EQ(::send(daemon_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  /// What has come to the daemon, and how many descriptors beside it.
  std::pair<std::string, std::size_t> daemon_hears() {
    std::string text(std::size_t{64} << 10, '\0');
    iovec bytes{text.data(), text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = recvmsg(daemon_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size <= 0) return {};
    text.resize(static_cast<std::size_t>(size));
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr) return {text, 0};
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      close(fd);
    }
    return {text, count};
  }

  std::optional<ControlSocket> channel_;
  UniqueFd daemon_;
};

TEST_F(ChannelTest, SendsItsHelloWithDescriptorsBesideIt) {
  Hello hello;
  hello.verb = Verb::Reload;
  ASSERT_TRUE(channel_->send(hello));
  EXPECT_EQ(daemon_hears(), std::pair(encode(hello), std::size_t{0}));

  const int fd = daemon_.get();
  ASSERT_TRUE(channel_->send(hello, std::array{fd, fd, fd}));
  EXPECT_EQ(daemon_hears(), std::pair(encode(hello), std::size_t{3}));

  const auto sent = channel_->send(hello, std::array{fd, fd, fd, fd});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message, "too many descriptors");
}

TEST_F(ChannelTest, SendsNoHelloThatTheDaemonWouldNotTake) {
  Hello hello;
  hello.verb = Verb::SessionEnd;
  hello.session = "x";
  const std::size_t rest = encode(hello).size() - 1;
  hello.session.assign(kLongestHello - rest + 1, 'x');

  const auto sent = channel_->send(hello);

  ASSERT_FALSE(sent);
  EXPECT_EQ(
      sent.error().message,
      "the environment and the command line are 4194305 bytes long together, more than the daemon accepts "
      "(4194304)");
  EXPECT_EQ(daemon_hears().first, "");
  daemon_.reset();
  hello.session.pop_back();
  EXPECT_TRUE(channel_->send(hello)) << "the longest; and that nobody is there is found out later";
}

TEST_F(ChannelTest, ReceivesOneReplyAfterTheOther) {
  const Reply error{Reply::Kind::Stderr, "", 0, 3, 0, ""};
  daemon_says(encode(kNote) + encode(error) + "a\nb" + encode(kNote));

  for (const std::string text : {"a word", "a\nb", "a word"}) {
    const auto reply = channel_->receive();
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->text, text);
    EXPECT_FALSE(channel_->timed_out());
  }
}

TEST_F(ChannelTest, KnowsTheEndOfItsPatienceFromTheEndOfTheDaemon) {
  const auto late = channel_->receive(milliseconds(0));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message, "the daemon does not answer");
  EXPECT_NE(late.error().kind, Error::Kind::NotFound);
  EXPECT_TRUE(channel_->timed_out());

  daemon_says(encode(kNote));
  daemon_.reset();
  ASSERT_TRUE(channel_->receive()) << "what it said last is heard";
  EXPECT_FALSE(channel_->timed_out());
  const auto over = channel_->receive();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().message, "the daemon closed the connection");
  EXPECT_EQ(over.error().kind, Error::Kind::NotFound);
  EXPECT_FALSE(channel_->timed_out());
}

TEST_F(ChannelTest, SaysThatAReplyIsNotUnderstood) {
  daemon_says("{}\n");
  const auto reply = channel_->receive();
  ASSERT_FALSE(reply);
  EXPECT_TRUE(reply.error().message.starts_with("the daemon sent an invalid reply: "))
      << reply.error().message;
}

TEST_F(ChannelTest, ReadsWhatIsThereWithoutWaiting) {
  EXPECT_TRUE(channel_->read_some()) << "nothing has come, but it has not ended";
  EXPECT_FALSE(channel_->take());
  daemon_says(encode(kNote));
  EXPECT_TRUE(channel_->read_some());
  const auto reply = channel_->take();
  ASSERT_TRUE(reply && *reply);
  EXPECT_EQ((*reply)->text, "a word");
  daemon_.reset();
  EXPECT_FALSE(channel_->read_some());
}

TEST_F(ChannelTest, StillHearsTheDaemonWhenItWantsNothingMore) {
  channel_->leave();
  char byte = 0;
  EXPECT_EQ(recv(daemon_.get(), &byte, 1, MSG_DONTWAIT), 0);
  daemon_says(encode(kNote));
  EXPECT_TRUE(channel_->receive());
}

TEST(ReplyReader, TakesAMebibyteOfErrorOutputAndNoByteMore) {
  for (const std::size_t more : {0, 1}) {
    ReplyReader reader;
    const std::size_t size = (std::size_t{1} << 20) + more;
    reader.add(encode(Reply{Reply::Kind::Stderr, "", 0, size, 0, ""}));
    if (more == 0) {
      EXPECT_FALSE(reader.take());
    }
    reader.add(std::string(size, 'e'));
    const auto reply = reader.take();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->has_value(), more == 0);
    if (*reply) {
      EXPECT_EQ((*reply)->text.size(), size);
    }
  }
}

TEST(ReplyReader, WaitsForTheEndOf64MebibytesAndNoByteMore) {
  ReplyReader reader;
  reader.add(std::string(std::size_t{64} << 20, ' '));
  EXPECT_FALSE(reader.take());
  reader.add(" ");
  const auto reply = reader.take();
  ASSERT_TRUE(reply);
  ASSERT_FALSE(*reply);
  EXPECT_EQ(reply->error().message, "the daemon's reply is too long");
}

class DaemonPlace : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/corral-socket-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  UniqueFd listen_there() const {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, socket_path(folder_).c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(socket.get(), 4), 0);
    return socket;
  }
  Error failure() const {
    const auto socket = connect_to_daemon(folder_);
    EXPECT_FALSE(socket);
    return socket ? Error{""} : socket.error();
  }

  std::string folder_;
};

TEST_F(DaemonPlace, WhereOneListensIsConnectedTo) {
  const UniqueFd listener = listen_there();
  auto socket = connect_to_daemon(folder_);
  ASSERT_TRUE(socket) << socket.error().message;
  const UniqueFd daemon(accept(listener.get(), nullptr, nullptr));
  ASSERT_TRUE(socket->send(Hello{}));
  char byte = 0;
  EXPECT_EQ(recv(daemon.get(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, '{');
}

TEST_F(DaemonPlace, WhereNobodyListensIsNone) {
  EXPECT_EQ(failure().kind, Error::Kind::NotFound) << "no socket";
  listen_there();
  EXPECT_EQ(failure().kind, Error::Kind::NotFound) << "a socket that was left behind";
}

TEST_F(DaemonPlace, ThatOthersMayEnterIsNotOurs) {
  const UniqueFd listener = listen_there();
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  EXPECT_EQ(failure().kind, Error::Kind::NotFound);
}

TEST_F(DaemonPlace, ThatCannotBeSpokenToIsNamed) {
  std::filesystem::create_directory(folder_ + "/" + std::string(100, 'd'));
  ASSERT_EQ(chmod((folder_ + "/" + std::string(100, 'd')).c_str(), 0700), 0);
  const std::string outer = std::exchange(folder_, folder_ + "/" + std::string(100, 'd'));
  const Error error = failure();
  EXPECT_EQ(error.message, "'" + socket_path(folder_) +
                               "' is too long for a socket (at most 107 bytes): choose a shorter "
                               "--runtime-dir");
  EXPECT_NE(error.kind, Error::Kind::NotFound);
  folder_ = outer;
}

}  // namespace
}  // namespace corral::control
