#include "reap/remnant_text.h"

#include <gtest/gtest.h>

#include <csignal>

namespace corral::reap {
namespace {

using Kind = Outcome::Kind;
using Killed = Outcome::Killed;

/// What is said of process 42 behind "process 42 (node) ".
std::string told(Kind kind, int signal = 0, Killed killed = Killed::AfterAsking) {
  registry::InstanceRecord instance;
  instance.id = "0123456789abcdef0123456789abcdef";
  instance.server = "notes";
  const std::string text = remnant_text(instance, {42, "node", kind, signal, killed});
  const std::string start = "left by an earlier daemon: server notes, instance 01234567: process 42 (node) ";
  EXPECT_TRUE(text.starts_with(start)) << text;
  return text.substr(start.size());
}

TEST(RemnantText, SaysWhichSignalEndedIt) {
  EXPECT_EQ(told(Kind::Ended, SIGTERM), "was ended with SIGTERM");
  EXPECT_EQ(told(Kind::Ended, SIGKILL, Killed::AfterAsking),
            "did not exit after SIGTERM and was killed with SIGKILL");
  EXPECT_EQ(told(Kind::Ended, SIGKILL, Killed::AtOnce),
            "appeared while the others were being killed and was killed with SIGKILL");
  EXPECT_EQ(told(Kind::Ended, SIGKILL, Killed::WithGroup),
            "was found only in the cgroup of this server and was killed with SIGKILL");
  EXPECT_EQ(told(Kind::AlreadyGone), "exited before it was signalled");
}

TEST(RemnantText, SaysWhyItIsStillThereAndWhatToDo) {
  EXPECT_EQ(told(Kind::NoPermission), "cannot be signalled by this user: end it as the user that it runs as");
  EXPECT_EQ(told(Kind::Uninterruptible, SIGKILL),
            "was sent SIGKILL, but is blocked in a system call: it ends when the call returns");
  EXPECT_EQ(told(Kind::StillThere, SIGKILL), "was sent SIGKILL and is still running: see `corral doctor`");
  EXPECT_EQ(
      told(Kind::NotProved),
      "may belong to this server, but that cannot be proved, so it was left alone: inspect it, and end it "
      "by hand");
  EXPECT_EQ(told(Kind::OtherUser), "now runs as another user and was left alone: end it as that user");
  EXPECT_EQ(told(Kind::Debugged), "is being debugged and was left alone: detach the debugger");
  EXPECT_EQ(told(Kind::OwnAncestor),
            "started this daemon, so its tree was left alone: start the daemon from somewhere else");
  EXPECT_EQ(told(Kind::OtherInstance),
            "belongs to a corral inside this server whose keeper is running, so it was left alone: see "
            "`corral doctor`");
}

TEST(RemnantText, ShowsOnlyPrintableLettersOfTheNames) {
  registry::InstanceRecord instance;
  instance.id = "ab\nd";
  instance.server = "a\x1b[31m\x80~ !";

  EXPECT_EQ(remnant_text(instance, {7, "\x1f\x7f}", Kind::AlreadyGone, 0, Killed::AfterAsking}),
            "left by an earlier daemon: server a\uFFFD[31m\uFFFD~ !, instance ab\uFFFDd: process 7 "
            "(\uFFFD\uFFFD}) exited before it was signalled");
}

}  // namespace
}  // namespace corral::reap
