// More processes that change their pid at full speed than there are processors: the dead come faster than
// anybody can reap them. The session must end all the same, long before they would end by themselves.
//
// All of it runs in a PID namespace with a pid_max of its own, so that the machine's process table stays as
// it is whatever happens.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "support/eventually.h"
#include "support/os_test.h"
#include "support/small_namespace.h"

namespace corral::os_tests {
namespace {

constexpr long kMostNumbers = 12'000;

enum Answer { AsWished = 0, NoNumbers = 2, NotUp = 3, NotEnded = 4, SomebodyLeft = 5, BadReport = 6 };

// Before Linux 6.14 the number is that of the whole machine.
bool namespaces_have_a_pid_max() {
  utsname name{};
  if (uname(&name) != 0) return false;
  char* after = nullptr;
  const long major = std::strtol(name.release, &after, 10);
  const long minor = *after == '.' ? std::strtol(after + 1, nullptr, 10) : 0;
  return major > 6 || (major == 6 && minor >= 14);
}

class Storm : public OsTest, public testing::WithParamInterface<Level> {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root to give a PID namespace a pid_max of its own";
    if (!namespaces_have_a_pid_max()) GTEST_SKIP() << "this kernel has one pid_max for the whole machine";
    if (const auto reason = why_no_pid_namespace(User::Root)) GTEST_SKIP() << *reason;
  }

  // However many the machine has: the keeper gets its share and no more.
  static void share_one_processor() {
    const int here = sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here < 0 ? 0 : here, &one);
    sched_setaffinity(0, sizeof one, &one);
  }

  // In the namespace: process 1 is the client.
  int run_session(int rushers) const {
    std::ofstream("/proc/sys/kernel/pid_max") << kMostNumbers << std::flush;
    long most = 0;
    std::ifstream("/proc/sys/kernel/pid_max") >> most;
    if (most != kMostNumbers) return NoNumbers;
    const std::string storm = "--grow=rushers:" + std::to_string(rushers);
    Launch launch =
        corral({.level = GetParam(), .user = User::Root, .server = {alive_lock(), storm, "--life=40"}});
    launch.before_exec = share_one_processor;
    Session session(launch);
    if (session.ask("echo", "ready") != "ready") return NotUp;
    session.close_stdin();
    if (!session.wait()) return NotEnded;
    if (!all_gone()) return SomebodyLeft;
    const Report result = report();
    return result.proof == "echild" && !result.leaked ? AsWished : BadReport;
  }
};

INSTANTIATE_TEST_SUITE_P(At, Storm, testing::Values(Level::Auto, Level::Basic, Level::Strict),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST_P(Storm, OfProcessesAtFullSpeedEndsWithTheSession) {
  EXPECT_EQ(in_small_namespace(User::Root, [this] { return run_session(24); }), AsWished) << errors();
}

}  // namespace
}  // namespace corral::os_tests
