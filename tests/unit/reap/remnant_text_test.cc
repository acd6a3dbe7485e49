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
            "did not end on SIGTERM and was ended with SIGKILL");
  EXPECT_EQ(told(Kind::Ended, SIGKILL, Killed::AtOnce),
            "came up while the others were killed and was ended with SIGKILL");
  EXPECT_EQ(told(Kind::Ended, SIGKILL, Killed::WithGroup),
            "was found only in the control group of this server and was ended with SIGKILL");
  EXPECT_EQ(told(Kind::AlreadyGone), "ended before it was signalled");
}

TEST(RemnantText, SaysWhyItIsStillThereAndWhatToDo) {
  EXPECT_EQ(told(Kind::NoPermission), "may not be signalled by us: end it as the user that it runs as");
  EXPECT_EQ(
      told(Kind::Uninterruptible, SIGKILL),
      "was sent SIGKILL, but is in a system call that cannot be interrupted: it ends when that returns");
  EXPECT_EQ(told(Kind::StillThere, SIGKILL), "was sent SIGKILL and is still there: see `corral doctor`");
  EXPECT_EQ(told(Kind::NotProved),
            "may be of this server, but that cannot be proved, so it was left alone: look at it, and end it "
            "by hand");
  EXPECT_EQ(told(Kind::OtherUser), "runs as another user by now and was left alone: end it as that user");
  EXPECT_EQ(told(Kind::Debugged), "is being debugged and was left alone: detach the debugger");
  EXPECT_EQ(told(Kind::OwnAncestor),
            "started this daemon, so its tree was left alone: start the daemon from somewhere else");
  EXPECT_EQ(told(Kind::OtherInstance),
            "is of a corral that runs inside this server, whose keeper lives, and was left alone: see "
            "`corral doctor`");
}

TEST(RemnantText, ShowsOnlyPrintableLettersOfTheNames) {
  registry::InstanceRecord instance;
  instance.id = "ab\nd";
  instance.server = "a\x1b[31m\x80~ !";

  EXPECT_EQ(remnant_text(instance, {7, "\x1f\x7f}", Kind::AlreadyGone, 0, Killed::AfterAsking}),
            "left by an earlier daemon: server a?[31m?~ !, instance ab?d: process 7 (??}) ended before it "
            "was signalled");
}

}  // namespace
}  // namespace corral::reap
