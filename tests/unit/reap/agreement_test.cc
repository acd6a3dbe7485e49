// The watchdog's judgement: what it says, and where it must stay silent.
#include "reap/agreement.h"

#include <gtest/gtest.h>

namespace corral::reap {
namespace {

using Kind = Disagreement::Kind;
using Repair = Disagreement::Repair;

const std::string kCookie = "0123456789abcdef0123456789abcdef";
const std::string kUnknown = "fedcba9876543210fedcba9876543210";
constexpr pid_t kSelf = 100;

registry::InstanceRecord running() {
  registry::InstanceRecord record;
  record.id = kCookie;
  record.server = "notes";
  record.keeper.pid = 200;
  record.keeper.start_ticks = 20;
  record.process.pid = 201;
  record.process.start_ticks = 21;
  return record;
}

std::vector<Listed> daemon_alone() { return {{1, 0, 1, "init", {}}, {kSelf, 1, 10, "corral", {}}}; }

std::vector<Listed> in_order() {
  std::vector<Listed> processes = daemon_alone();
  processes.push_back({200, kSelf, 20, "corral-keeper", kCookie});
  processes.push_back({201, 200, 21, "node", kCookie});
  processes.push_back({202, 201, 22, "node", kCookie});
  return processes;
}

std::vector<Disagreement> found(const std::vector<Listed>& processes) {
  return disagreements(kSelf, {running()}, processes);
}

TEST(Agreement, NothingIsSaidOfATreeBelowItsKeeper) { EXPECT_TRUE(found(in_order()).empty()); }

TEST(Agreement, NothingIsSaidIfTheListWasNotRead) {
  EXPECT_TRUE(found({}).empty());
  EXPECT_TRUE(found({{1, 0, 1, "init", {}}}).empty()) << "we are not in it";
}

TEST(Agreement, NothingIsSaidOfAnInstanceThatIsStarting) {
  registry::InstanceRecord starting = running();
  starting.keeper = starting.process = {};
  std::vector<Listed> processes = daemon_alone();
  processes.push_back({200, kSelf, 20, "corral-keeper", kCookie});

  EXPECT_TRUE(disagreements(kSelf, {starting}, processes).empty());
}

TEST(Agreement, ALostKeeperIsNoticedAlsoIfItsNumberIsTaken) {
  std::vector<Listed> processes = in_order();
  processes[2] = {200, 1, 99, "bash", {}};  // another process by now
  processes[3].parent = 1;

  const auto all = found(processes);

  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::KeeperGone);
  EXPECT_EQ(all[0].repair, Repair::End);
  EXPECT_EQ(all[0].pid, 201);
}

TEST(Agreement, ALostKeeperIsNoticedThoughTheServerClearedItsEnvironment) {
  std::vector<Listed> processes = daemon_alone();
  processes.push_back({201, 1, 21, "node", {}});

  const auto all = found(processes);

  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::KeeperGone);
}

TEST(Agreement, ARecordWithoutAnyProcessIsOver) {
  const auto all = found(daemon_alone());

  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::NothingLeft);
  EXPECT_EQ(all[0].repair, Repair::Forget);
}

TEST(Agreement, AStrayIsReportedAndNotEnded) {
  std::vector<Listed> processes = in_order();
  processes.push_back({300, 1, 30, "tmux", kCookie});
  processes.push_back({301, kSelf, 31, "sh", kCookie});  // fell to the daemon

  const auto all = found(processes);

  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::Stray);
  EXPECT_EQ(all[0].repair, Repair::None);
  EXPECT_EQ(all[0].pid, 300);
}

TEST(Agreement, TheRestOfAKilledRunIsReportedOnce) {
  std::vector<Listed> processes = in_order();
  processes.push_back({401, 1, 41, "node", kUnknown, true});
  processes.push_back({400, 1, 40, "node", kUnknown, true});

  const auto all = found(processes);

  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::Orphan);
  EXPECT_EQ(all[0].pid, 400);
  EXPECT_EQ(all[0].repair, Repair::None);
}

TEST(Agreement, NothingIsSaidOfACopiedEnvironment) {
  std::vector<Listed> processes = in_order();
  processes.push_back({400, 1, 40, "at-job", kUnknown, false});
  EXPECT_TRUE(found(processes).empty());
  processes.push_back({401, 1, 41, "node", kUnknown, true});
  ASSERT_EQ(found(processes).size(), 1U);
  EXPECT_EQ(found(processes)[0].pid, 401);
}

TEST(Agreement, NothingIsSaidOfALivingRunOrAnotherDaemon) {
  std::vector<Listed> processes = in_order();
  processes.push_back({500, 1, 50, "corral-keeper", kUnknown, true});
  processes.push_back({501, 500, 51, "node", kUnknown, true});

  EXPECT_TRUE(found(processes).empty());
}

TEST(Agreement, ARingOfParentsEnds) {
  std::vector<Listed> processes = in_order();
  processes.push_back({600, 601, 60, "a", kUnknown, true});
  processes.push_back({601, 600, 61, "b", kUnknown, true});

  EXPECT_EQ(found(processes).size(), 1U);
}

TEST(Agreement, OnlyWhatLastsCounts) {
  const std::vector<Disagreement> gone = found(daemon_alone());
  std::vector<Listed> stray = in_order();
  stray.push_back({300, 1, 30, "tmux", kCookie});

  EXPECT_EQ(lasting(gone, found(daemon_alone())), gone);
  EXPECT_TRUE(lasting(gone, found(stray)).empty());
  EXPECT_TRUE(lasting({}, gone).empty());
}

}  // namespace
}  // namespace corral::reap
