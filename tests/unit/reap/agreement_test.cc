// The watchdog's judgement: what it says, and where it must stay silent.
#include "reap/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "survey/fake_proc.h"

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

TEST(Agreement, WhatIsFoundOnlyInPartAgainDoesNotLast) {
  const Disagreement stray{Kind::Stray, Repair::None, "notes", kCookie, 300, "before"};
  Disagreement later = stray;
  later.text = "in other words";
  EXPECT_EQ(lasting({stray}, {later}), std::vector{later});

  Disagreement kind = stray;
  kind.kind = Kind::Orphan;
  Disagreement instance = stray;
  instance.instance = kUnknown;
  Disagreement pid = stray;
  pid.pid = 301;
  for (const Disagreement& other : {kind, instance, pid}) EXPECT_TRUE(lasting({stray}, {other}).empty());
}

TEST(Agreement, IsSaidInWordsWithWhatIsDoneAboutIt) {
  EXPECT_EQ(found(daemon_alone())[0],
            (Disagreement{Kind::NothingLeft, Repair::Forget, "notes", kCookie, 0,
                          "instance 01234567 of server notes is recorded as running, but none of its "
                          "processes exists: its end was missed and is recorded now"}));

  std::vector<Listed> lost = daemon_alone();
  lost.push_back({201, 1, 21, "node", {}});
  EXPECT_EQ(found(lost)[0],
            (Disagreement{Kind::KeeperGone, Repair::End, "notes", kCookie, 201,
                          "instance 01234567 of server notes has lost its keeper (pid 200), but its process "
                          "201 is still running: corral ends the processes that provably belong to it"}));

  std::vector<Listed> stray = in_order();
  stray.push_back({300, 1, 30, "tmux", kCookie});
  EXPECT_EQ(
      found(stray)[0],
      (Disagreement{Kind::Stray, Repair::None, "notes", kCookie, 300,
                    "process 300 carries the mark of instance 01234567 of server notes, but is not below "
                    "its keeper (pid 200): its environment was probably copied; inspect the process, and end "
                    "it by hand if it is not needed"}));

  std::vector<Listed> orphan = in_order();
  orphan.push_back({400, 1, 40, "node", kUnknown, true});
  EXPECT_EQ(found(orphan)[0],
            (Disagreement{Kind::Orphan, Repair::None, "", kUnknown, 400,
                          "process 400 carries the mark of a corral that is gone (instance fedcba98, 1 "
                          "process): use `corral reap` to show and end it"}));
  orphan.push_back({401, 400, 41, "node", kUnknown, true});
  EXPECT_NE(found(orphan)[0].text.find("(instance fedcba98, 2 processes)"), std::string::npos);
}

TEST(Agreement, SixteenStraysOfAnInstanceAreEnough) {
  std::vector<Listed> processes = in_order();
  for (int i = 0; i < 17; ++i) {
    processes.push_back({300 + i, 1, static_cast<std::uint64_t>(30 + i), "tmux", kCookie});
  }

  const auto all = found(processes);

  ASSERT_EQ(all.size(), 16U);
  EXPECT_EQ(all.front().pid, 300);
  EXPECT_EQ(all.back().pid, 315);
}

TEST(Agreement, OfTwoThatStartedTogetherTheSmallerNumberIsTheOldest) {
  std::vector<Listed> processes = in_order();
  processes.push_back({401, 1, 40, "node", kUnknown, true});
  processes.push_back({400, 1, 40, "node", kUnknown, true});

  EXPECT_EQ(found(processes)[0].pid, 400);
}

TEST(Agreement, NothingIsSaidOfTheServerThatThisDaemonRunsIn) {
  std::vector<Listed> processes = in_order();
  processes[1].parent = 90;
  processes.push_back({90, 1, 5, "sh", kUnknown, true});
  processes[1].comm = "daemon";  // or its own name would be reason enough

  EXPECT_TRUE(found(processes).empty());
}

TEST(Agreement, TwoHundredAndFiftySixGenerationsAreLookedThrough) {
  for (const bool near : {true, false}) {
    std::vector<Listed> processes = in_order();
    const int length = near ? 256 : 257;  // with the process itself
    for (int i = 1; i < length; ++i) {
      processes.push_back({1000 + i, 1000 + i - 1, 50, "sh", {}});
    }
    processes.push_back({1000, 1, 50, "corral", {}});
    processes.back().start_ticks = 1;
    processes[processes.size() - 2].cookie = kUnknown;
    processes[processes.size() - 2].tagged = true;

    EXPECT_EQ(found(processes).empty(), near);
  }
}

TEST(Agreement, ALostKeeperIsNotReportedAsARunThatWasKilled) {
  std::vector<Listed> processes = daemon_alone();
  processes.push_back({201, 1, 21, "node", kCookie, true});

  const auto all = found(processes);

  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, Kind::KeeperGone);
}

TEST(Agreement, HasAWordForEveryKind) {
  EXPECT_STREQ(name_of(Kind::KeeperGone), "keeper-gone");
  EXPECT_STREQ(name_of(Kind::NothingLeft), "nothing-left");
  EXPECT_STREQ(name_of(Kind::Stray), "stray");
  EXPECT_STREQ(name_of(Kind::Orphan), "orphan");
}

class ListedProcesses : public survey::FakeProc {
 protected:
  void add_process(int pid, char state, const std::string& cookie, const std::string& limit) const {
    const std::string folder = std::to_string(pid);
    write(folder + "/stat", stat_line(pid, "node", 7, state));
    write(folder + "/environ", cookie.empty() ? "" : "CORRAL_INSTANCE=" + cookie + '\0');
    write(folder + "/limits", "Max realtime timeout      unlimited            " + limit + "            us\n");
  }
};

TEST_F(ListedProcesses, HaveTheirMarksAndNoZombieIsAmongThem) {
  const std::string tag = std::to_string((1ULL << 61) + 4711);
  add_process(10, 'S', kCookie, tag);
  add_process(11, 'S', kCookie, "unlimited");
  add_process(12, 'S', "", tag);
  add_process(13, 'Z', kCookie, tag);
  write("14/stat", "no line");

  std::vector<Listed> all = list_processes(root());
  std::sort(all.begin(), all.end(), [](const Listed& a, const Listed& b) { return a.pid < b.pid; });

  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].pid, 10);
  EXPECT_EQ(all[0].parent, 7);
  EXPECT_EQ(all[0].start_ticks, 4711U);
  EXPECT_EQ(all[0].comm, "node");
  EXPECT_EQ(all[0].cookie, kCookie);
  EXPECT_TRUE(all[0].tagged);
  EXPECT_EQ(all[1].cookie, kCookie);
  EXPECT_FALSE(all[1].tagged);
  EXPECT_EQ(all[2].cookie, "");
  EXPECT_FALSE(all[2].tagged) << "without a cookie nobody asks";
}

}  // namespace
}  // namespace corral::reap
