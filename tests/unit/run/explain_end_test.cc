#include "run/explain_end.h"

#include <gtest/gtest.h>

#include <csignal>

namespace corral::run {
namespace {

TEST(ExplainEnd, ASurvivorIsNamedWithItsUserAndTheWayOut) {
  keeper::Survivor survivor{77, "sudo", 12, keeper::Cause::Permission};
  EXPECT_EQ(explain_survivor(survivor),
            "process 77 (sudo) of user 12 could not be ended: it runs as another user; end it with "
            "`sudo kill -KILL 77`");

  survivor.cause = keeper::Cause::Uninterruptible;
  EXPECT_EQ(explain_survivor(survivor),
            "process 77 (sudo) of user 12 could not be ended: it is blocked in the kernel; it exits when the "
            "device or file system that it waits for responds");

  survivor.cause = keeper::Cause::Unknown;
  EXPECT_EQ(explain_survivor(survivor),
            "process 77 (sudo) of user 12 could not be ended: it did not exit in time; inspect it with "
            "`corral doctor`, or raise --kill-grace");
}

TEST(ExplainEnd, ALimitIsNamedByItsOptionWithWhatWasSeenIfAnythingWas) {
  using keeper::Enforcer;
  using keeper::LimitName;
  EXPECT_EQ(
      explain_limit({LimitName::Memory, Enforcer::Watchdog, true, 1000, 1}),
      "the server reached its limit --memory (1 of 1000): raise the limit, or check what the server does");
  EXPECT_EQ(explain_limit({LimitName::Pids, Enforcer::Cgroup, true, 20, 0}),
            "the server reached its limit --pids: raise the limit, or check what the server does");
}

TEST(ExplainEnd, ATerminatorThatFailedSaysHowAndWhereToLook) {
  using keeper::TerminatorKind;
  const int exited_3 = 3 << 8;
  EXPECT_EQ(explain_terminator({TerminatorKind::OnStop, true, exited_3, {}}),
            "the --on-stop command failed with exit code 3: run it by hand to see why");
  EXPECT_EQ(explain_terminator({TerminatorKind::OnStop, true, SIGSEGV, {}}),
            "the --on-stop command was killed by signal 11: run it by hand to see why");
  EXPECT_EQ(explain_terminator({TerminatorKind::OnStop, false, SIGKILL, {}}),
            "the --on-stop command was killed at its time limit of 10 s: run it by hand to see why");
  EXPECT_EQ(explain_terminator({TerminatorKind::Container, true, exited_3, {}}),
            "the removal of the container failed with exit code 3: look for it with `docker ps` or "
            "`podman ps`, label corral.instance");
}

TEST(ExplainEnd, SaysNothingOfATerminatorThatWorked) {
  EXPECT_EQ(explain_terminator({keeper::TerminatorKind::Container, true, 0, {}}), "");
}

}  // namespace
}  // namespace corral::run
