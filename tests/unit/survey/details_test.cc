#include "survey/details.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "fake_proc.h"

namespace corral::survey {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DetailsOf : public FakeProc {
 protected:
  Details details() const { return read_details(7, root()); }
  Memory memory() const { return read_memory(7, root()); }
};

TEST_F(DetailsOf, AProcessThatIsGoneAreEmpty) {
  EXPECT_FALSE(details().environment_readable);
  EXPECT_EQ(details().cgroup, "");
  EXPECT_EQ(memory().footprint(), 0U);
}

TEST_F(DetailsOf, AProcessHoldItsEnvironment) {
  write("7/environ", std::string("HOME=/srv\0written over\0EMPTY=\0\0\0", 32));

  EXPECT_TRUE(details().environment_readable);
  EXPECT_THAT(details().environment, ElementsAre("HOME=/srv", "EMPTY="));
}

TEST_F(DetailsOf, AnEndlessEnvironmentStopAtAWholeVariable) {
  std::string text = std::string("FIRST=1\0", 8);
  text += "LONG=" + std::string(2 << 20, 'x');
  write("7/environ", text);

  EXPECT_THAT(details().environment, ElementsAre("FIRST=1"));
}

TEST_F(DetailsOf, AnEnvironmentThatMayNotBeReadSaySo) {
  write("7/cgroup", "0::/\n");

  EXPECT_FALSE(details().environment_readable);
  EXPECT_THAT(details().environment, IsEmpty());
}

TEST_F(DetailsOf, AProcessNameTheBestCgroupThereIs) {
  write("7/cgroup", "5:memory:/m\n1:name=systemd:/old\n0::/user.slice/app-cursor.scope\n");
  EXPECT_EQ(details().cgroup, "/user.slice/app-cursor.scope");

  write("7/cgroup", "5:memory:/m\n1:name=systemd:/user.slice\n0::/\n");
  EXPECT_EQ(details().cgroup, "/user.slice");

  write("7/cgroup", "5:memory:/docker/1:2\n4:cpu:/c\n");
  EXPECT_EQ(details().cgroup, "/docker/1:2");

  write("7/cgroup", "nonsense\n::\n");
  EXPECT_EQ(details().cgroup, "");
}

TEST_F(DetailsOf, AProcessNameItsDebugger) {
  write("7/status", "Name:\tTracerPid:\t5\nTracerPid:\t31\nNSpid:\t7\n");

  EXPECT_EQ(details().tracer, 31);
  EXPECT_FALSE(details().in_other_pid_namespace);
}

TEST_F(DetailsOf, AProcessInAContainerTellByItsSecondPid) {
  write("7/status", "NSpid:\t7\t1\n");

  EXPECT_TRUE(details().in_other_pid_namespace);
}

TEST_F(DetailsOf, AProcessInAContainerTellByTheNamespaceLink) {
  link("self/ns/pid", "pid:[1]");
  link("7/ns/pid", "pid:[2]");
  EXPECT_TRUE(details().in_other_pid_namespace);

  std::filesystem::remove(root_ / "7/ns/pid");
  link("7/ns/pid", "pid:[1]");
  EXPECT_FALSE(details().in_other_pid_namespace);
}

TEST_F(DetailsOf, AProcessHaveTheHardLimitOfRealtime) {
  const std::string head = "Limit                     Soft Limit           Hard Limit           Units\n";
  write("7/limits", head + "Max realtime timeout      5                    1000000              us\n");
  EXPECT_EQ(details().rttime_limit, 1000000U);

  write("7/limits", head + "Max realtime timeout      unlimited            unlimited            us\n");
  EXPECT_EQ(details().rttime_limit, ~std::uint64_t{0});

  write("7/limits", head);
  EXPECT_EQ(details().rttime_limit, 0U);
}

TEST_F(DetailsOf, MemoryDivideWhatIsShared) {
  write("7/smaps_rollup",
        "55d0-7ffd ---p 00000000 00:00 0   [rollup]\nRss:  1000 kB\nPss:  300 kB\nPss_Dirty: 9 kB\n"
        "Swap:  80 kB\nSwapPss:  40 kB\n");

  EXPECT_EQ(memory().resident, 1000U * 1024);
  EXPECT_EQ(memory().proportional, 300U * 1024);
  EXPECT_EQ(memory().swapped, 40U * 1024);
  EXPECT_EQ(memory().footprint(), 340U * 1024);
}

TEST_F(DetailsOf, MemoryFallBackToTheResidentSize) {
  write("7/status", "VmRSS:\t    500 kB\nVmSwap:\t     20 kB\n");

  EXPECT_EQ(memory().proportional, 0U);
  EXPECT_EQ(memory().footprint(), 520U * 1024);
}

TEST_F(DetailsOf, MemoryNeverOverflow) {
  write("7/status", "VmRSS:\t18446744073709551615 kB\nVmSwap:\t1 kB\n");

  EXPECT_EQ(memory().footprint(), 1024U);
}

TEST(Variable, IsTheFirstOfExactlyThatName) {
  const std::vector<std::string> environment = {"PATHS=no", "PATH=/bin", "PATH=/usr/bin", "EMPTY="};

  EXPECT_EQ(variable(environment, "PATH"), "/bin");
  EXPECT_EQ(variable(environment, "EMPTY"), "");
  EXPECT_EQ(variable(environment, "PAT"), "");
  EXPECT_EQ(variable(environment, "NONE"), "");
}

}  // namespace
}  // namespace corral::survey
