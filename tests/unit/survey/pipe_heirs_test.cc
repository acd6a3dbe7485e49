// Which process goes on with a session whose starter has exited.
#include "survey/pipe_heirs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace corral::survey {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uid_t kUser = 1000;
constexpr PipeEnds kEnds{10, 11};

class PipeHeirs : public testing::Test {
 protected:
  void process(pid_t pid, const std::string& program, uid_t uid = kUser) {
    Process process;
    process.pid = pid;
    process.parent = 1;
    process.state = 'S';
    process.uid = uid;
    process.argv = {program};
    process.executable = "/usr/bin/" + program;
    process.directory = "/";
    processes_.push_back(process);
  }
  void has_pipe(pid_t pid, std::uint64_t inode, bool reads, bool writes) {
    holdings_.push_back({inode, pid, 5, false, reads, writes});
  }
  void has_both(pid_t pid) {
    has_pipe(pid, 10, false, true);
    has_pipe(pid, 11, true, false);
  }
  void has_socket(pid_t pid, std::uint64_t inode) { holdings_.push_back({inode, pid, 5, true, true, true}); }
  std::vector<pid_t> clients() const {
    return clients_at(ProcessTable(processes_, holdings_, 0, 100), kEnds, &sockets_, kUser);
  }

  UnixSockets sockets_;

 private:
  std::vector<Process> processes_;
  std::vector<Holding> holdings_;
};

TEST_F(PipeHeirs, AKnownClientWithBothEndsGoesOn) {
  process(50, "gemini");
  has_both(50);
  EXPECT_THAT(clients(), ElementsAre(50));
}

TEST_F(PipeHeirs, AProgramThatIsNotAClientDoesNot) {
  process(50, "some-server");
  has_both(50);
  EXPECT_THAT(clients(), IsEmpty());
}

TEST_F(PipeHeirs, OneEndIsNotEnough) {
  process(50, "gemini");
  has_pipe(50, 10, false, true);
  EXPECT_THAT(clients(), IsEmpty());
}

TEST_F(PipeHeirs, OurOwnEndsAreNotTheOtherOnes) {
  process(50, "gemini");
  has_pipe(50, 10, true, false);
  has_pipe(50, 11, false, true);
  EXPECT_THAT(clients(), IsEmpty());
}

TEST_F(PipeHeirs, AClientOfAnotherUserDoesNot) {
  process(50, "gemini", kUser + 1);
  has_both(50);
  EXPECT_THAT(clients(), IsEmpty());
}

TEST_F(PipeHeirs, SocketsAreFollowedToTheirPeers) {
  process(50, "gemini");
  sockets_[10].peer = 20;
  sockets_[11].peer = 21;
  has_socket(50, 20);
  has_socket(50, 21);
  EXPECT_THAT(clients(), ElementsAre(50));
  sockets_[11].peer = 0;
  EXPECT_THAT(clients(), IsEmpty());
}

TEST_F(PipeHeirs, AllOfThemAreNamed) {
  for (const pid_t pid : {51, 50}) {
    process(pid, "gemini");
    has_both(pid);
  }
  EXPECT_THAT(clients(), ElementsAre(50, 51));
}

TEST(FindHeirs, NobodyHoldsPipesThatAreNotThere) {
  const std::vector<UniqueFd> heirs = find_heirs({{1, 2}, {0, 0}});
  ASSERT_EQ(heirs.size(), 2U);
  EXPECT_FALSE(heirs[0].valid());
  EXPECT_FALSE(heirs[1].valid());
}

}  // namespace
}  // namespace corral::survey
