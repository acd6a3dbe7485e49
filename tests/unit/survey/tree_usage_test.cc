#include "survey/tree_usage.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "fake_proc.h"

namespace corral::survey {
namespace {

using std::chrono::milliseconds;

class TreeUsageOf : public FakeProc {
 protected:
  /// 110 ticks of processor time, started 4711 ticks after boot: as `stat_line` writes it.
  void add_process(int pid, int parent, const std::string& comm = "server", int resident = 100,
                   int swapped = 0) const {
    write(std::to_string(pid) + "/stat", stat_line(pid, comm, parent));
    write(std::to_string(pid) + "/status", "Name:\t" + std::string("VmRSS: 1 kB") + "\nVmRSS:\t    " +
                                               std::to_string(resident) + " kB\nVmSwap:\t " +
                                               std::to_string(swapped) + " kB\n");
  }

  std::vector<pid_t> pids_below(pid_t root) const {
    const auto trees = measure_trees({root}, root_.string());
    std::vector<pid_t> pids;
    for (const auto& process : trees.at(root).processes) pids.push_back(process.pid);
    return pids;
  }
};

using Pids = std::vector<pid_t>;

TEST_F(TreeUsageOf, EachRootIsWhatIsBelowItAndNothingElse) {
  add_process(1, 0, "init");
  add_process(10, 1, "corral-keeper");
  add_process(11, 10, "npm", 200, 50);
  add_process(12, 11, "node", 1000);
  add_process(20, 1, "corral-keeper");
  add_process(21, 20, "python", 300);
  add_process(30, 1, "stranger", 9999);

  const auto trees = measure_trees({10, 20}, root());

  ASSERT_EQ(trees.size(), 2U);
  const TreeUsage& first = trees.at(10);
  ASSERT_EQ(first.processes.size(), 2U);
  EXPECT_EQ(first.processes[0].pid, 11);
  EXPECT_EQ(first.processes[0].parent, 10);
  EXPECT_EQ(first.processes[0].name, "npm");
  EXPECT_EQ(first.processes[0].state, 'S');
  EXPECT_EQ(first.processes[0].memory, 250U * 1024);
  EXPECT_EQ(first.processes[1].pid, 12);
  EXPECT_EQ(first.memory, 1250U * 1024);
  const milliseconds each(110 * 1000 / sysconf(_SC_CLK_TCK));
  EXPECT_EQ(first.processes[0].cpu, each);
  EXPECT_EQ(first.cpu, 2 * each);
  EXPECT_EQ(trees.at(20).memory, 300U * 1024);
}

TEST_F(TreeUsageOf, AgeCountsFromTheStartOfTheProcess) {
  add_process(10, 1, "corral-keeper");
  add_process(11, 10);
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const milliseconds up(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
  const milliseconds started(4711 * 1000 / sysconf(_SC_CLK_TCK));

  const auto trees = measure_trees({10}, root());

  const milliseconds expected = up > started ? up - started : milliseconds(0);
  EXPECT_GE(trees.at(10).processes.at(0).age, expected);
  EXPECT_LT(trees.at(10).processes.at(0).age, expected + std::chrono::minutes(1));
}

TEST_F(TreeUsageOf, ParentsComeBeforeTheirChildren) {
  add_process(10, 1, "corral-keeper");
  add_process(90, 10);
  add_process(15, 90);
  add_process(14, 90);
  add_process(80, 10);

  EXPECT_EQ(pids_below(10), (Pids{80, 90, 14, 15}));
}

TEST_F(TreeUsageOf, ARootThatIsGoneHasNoEntryAndOneWithoutChildrenAnEmptyOne) {
  add_process(10, 1, "corral-keeper");
  add_process(21, 20);

  const auto trees = measure_trees({10, 20, 20, -5, 0}, root());

  ASSERT_EQ(trees.size(), 1U);
  EXPECT_TRUE(trees.at(10).processes.empty());
}

TEST_F(TreeUsageOf, ANameCannotPretendToBeAnotherProcessOrSteerATerminal) {
  add_process(10, 1, "corral-keeper");
  add_process(11, 10, "a) R 1 2\n\x1b[2J");
  add_process(12, 11, ") S 1 (");

  const auto processes = measure_trees({10}, root()).at(10).processes;

  ASSERT_EQ(processes.size(), 2U);
  EXPECT_EQ(processes[0].name.find('\n'), std::string::npos);
  EXPECT_EQ(processes[0].name.find('\x1b'), std::string::npos);
  EXPECT_EQ(processes[0].parent, 10);
  EXPECT_EQ(processes[1].name, ") S 1 (");
}

TEST_F(TreeUsageOf, ALoopOfParentsEnds) {
  add_process(10, 12, "corral-keeper");
  add_process(11, 10);
  add_process(12, 11);
  add_process(13, 13);

  EXPECT_EQ(pids_below(10), (Pids{11, 12}));
  EXPECT_EQ(pids_below(13), Pids{});
}

TEST_F(TreeUsageOf, WhatVanishesOrCannotBeReadIsLeftOutOrCountsNothing) {
  add_process(10, 1, "corral-keeper");
  std::filesystem::create_directories(root_ / "11");  // gone between the name and its stat
  write("12/stat", "12 (broken");
  write("13/stat", "");
  write("14/stat", stat_line(14, "zombie", 10, 'Z'));  // gone before its status
  write("99999999999999999999/stat", stat_line(15, "long", 10));
  write("self/stat", stat_line(16, "self", 10));
  add_process(17, 10, "odd");
  write("17/status", "VmRSS:\t99999999999999999999999 kB\nVmSwap: -3 kB\n");

  const auto tree = measure_trees({10}, root()).at(10);

  ASSERT_EQ(tree.processes.size(), 2U);
  EXPECT_EQ(tree.processes[0].pid, 14);
  EXPECT_EQ(tree.processes[0].memory, 0U);
  EXPECT_EQ(tree.processes[1].pid, 17);
  EXPECT_EQ(tree.memory, 0U);
}

TEST_F(TreeUsageOf, MemoryDividesWhatProcessesShare) {
  add_process(10, 1, "corral-keeper");
  for (int pid = 11; pid < 13; ++pid) {
    add_process(pid, 10, "node", 1000);
    write(std::to_string(pid) + "/smaps_rollup", "Rss: 1000 kB\nPss: 600 kB\nSwap: 50 kB\nSwapPss: 25 kB\n");
  }

  const auto tree = measure_trees({10}, root()).at(10);

  EXPECT_EQ(tree.processes[0].memory, 625U * 1024);
  EXPECT_EQ(tree.memory, 1250U * 1024);
}

TEST_F(TreeUsageOf, HugeNumbersDoNotOverflowTheSum) {
  add_process(10, 1, "corral-keeper");
  for (int pid = 11; pid < 15; ++pid) {
    write(std::to_string(pid) + "/stat",
          std::to_string(pid) +
              " (x) S 10 1 1 0 -1 0 0 0 0 0 18446744073709551615 0 0 0 0 0 1 0 "
              "18446744073709551615 0 0 0\n");
    write(std::to_string(pid) + "/status", "VmRSS:\t18446744073709551615 kB\n");
  }

  const auto tree = measure_trees({10}, root()).at(10);

  ASSERT_EQ(tree.processes.size(), 4U);
  EXPECT_EQ(tree.memory, 4 * tree.processes[0].memory);
  EXPECT_GT(tree.cpu, tree.processes[0].cpu);
  EXPECT_EQ(tree.processes[0].age, milliseconds(0));
}

TEST_F(TreeUsageOf, WithoutAProcThereAreNoTrees) {
  EXPECT_TRUE(measure_trees({10}, root() + "/nowhere").empty());
  EXPECT_TRUE(measure_trees({}, "/proc").empty());
}

TEST(TreeUsageOfThisMachine, OurOwnParentHasUsBelowIt) {
  const auto trees = measure_trees({getppid()});

  ASSERT_EQ(trees.size(), 1U);
  const auto& processes = trees.begin()->second.processes;
  const auto own = std::find_if(processes.begin(), processes.end(),
                                [](const ProcessUsage& process) { return process.pid == getpid(); });
  ASSERT_NE(own, processes.end());
  EXPECT_GT(own->memory, 100'000U);
}

}  // namespace
}  // namespace corral::survey
