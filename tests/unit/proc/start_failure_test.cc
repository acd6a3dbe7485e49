#include "proc/start_failure.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "proc/levels.h"
#include "version.h"

namespace corral::proc {
namespace {

using keeper::Stage;

std::string told(Stage stage, int error) {
  const auto event = std::make_unique<keeper::Event>();  // too large for a stack
  event->kind = keeper::Event::Kind::Failed;
  event->stage = stage;
  event->error = error;
  strcpy(event->helper_build, "0.1 of Monday");
  return explain_start_failure(*event, "/opt/nothing", "/srv").message;
}

TEST(StartFailure, NamesTheStepThatFailedAndTheWayOut) {
  EXPECT_EQ(told(Stage::Execute, E2BIG),
            "command '/opt/nothing' cannot start: its arguments and environment are too long; shorten them");
  EXPECT_EQ(told(Stage::Cgroup, EBUSY),
            "the server cannot enter its cgroup: Device or resource busy; use --containment basic");
  EXPECT_EQ(told(Stage::ChangeDirectory, EACCES),
            "cannot enter the working directory '/srv': Permission denied; correct --cwd");
  EXPECT_EQ(told(Stage::MountProc, EPERM),
            "strict containment is not available here: cannot mount a new /proc (Operation not permitted); "
            "the container may mask parts of /proc: run it unmasked, or use --containment auto");
}

// Whatever step it was, a machine without room for another process is the cause.
TEST(StartFailure, OfAnExhaustedMachineIsAboutThat) {
  for (const int error : {EAGAIN, ENOMEM}) {
    for (const Stage stage : {Stage::Fork, Stage::Execute, Stage::Namespace}) {
      EXPECT_EQ(told(stage, error), std::string("cannot start the server: ") + strerror(error) +
                                        "; the process limit is reached (see `ulimit -u`, or the pids limit "
                                        "of this session): end some processes, or raise the limit");
    }
  }
}

TEST(StartFailure, OfAHelperOfAnotherBuildNamesBoth) {
  for (const Stage stage : {Stage::Plan, Stage::None}) {
    EXPECT_EQ(
        told(stage, 0),
        std::string(
            "the helper corral-keeper and this program come from different builds (0.1 of Monday and ") +
            kVersion + " of " + kBuildDate + "): reinstall corral, so that both come from one build");
  }
}

TEST(WhyNoNamespace, SaysWhoRefusedIt) {
  EXPECT_EQ(why_no_namespace(Stage::Namespace, ENOSPC),
            "the kernel refuses to create a PID namespace (No space left on device); raise "
            "user.max_user_namespaces and user.max_pid_namespaces");
  EXPECT_EQ(
      why_no_namespace(Stage::Namespace, EPERM),
      "the kernel refuses to create a PID namespace (Operation not permitted); allow user namespaces (a "
      "sysctl, an AppArmor profile or a seccomp filter may forbid them)");
  EXPECT_EQ(why_no_namespace(Stage::IdMap, EACCES),
            "cannot map the uid in a user namespace (Permission denied); an AppArmor rule may forbid it: "
            "allow user namespaces for corral");
}

}  // namespace
}  // namespace corral::proc
