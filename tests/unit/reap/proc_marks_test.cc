// What is read of a /proc that is made for the purpose.
#include "reap/proc_marks.h"

#include <unistd.h>

#include <algorithm>

#include "survey/fake_proc.h"

namespace corral::reap {
namespace {

const std::string kCookie = "0123456789abcdef0123456789abcdef";
constexpr std::uint64_t kTag = (1ULL << 61) + 4711;

class ProcMarksTest : public survey::FakeProc {
 protected:
  void add_process(int pid, std::uint64_t start, const std::string& environment,
                   const std::string& hard_limit, const std::string& comm = "server") const {
    const std::string folder = std::to_string(pid);
    write(folder + "/stat", folder + " (" + comm + ") S 1 20 21 34816 -1 0 1 2 3 4 50 60 7 8 20 0 1 0 " +
                                std::to_string(start) + " 1000 100\n");
    write(folder + "/environ", environment);
    write(folder + "/limits",
          "Limit                     Soft Limit           Hard Limit           Units     \n"
          "Max realtime priority     0                    0                    \n"
          "Max realtime timeout      unlimited            " +
              hard_limit + "            us        \n");
  }

  std::vector<pid_t> found(std::uint64_t tag = kTag) const {
    ProcMarks marks(root());
    MarkSearch search(marks, {Claim{kCookie, tag, 5000, geteuid()}}, geteuid());
    return pids_of(search);
  }

  static std::vector<pid_t> pids_of(MarkSearch& search) {
    std::vector<pid_t> pids;
    EXPECT_TRUE(search.next([&](const MarkSearch::Hit& hit) { pids.push_back(hit.pid); }).readable);
    return pids;
  }

  static std::string variables(const std::string& before, const std::string& after = "") {
    return before + "CORRAL_INSTANCE=" + kCookie + '\0' + after;
  }
};

TEST_F(ProcMarksTest, FindsBothMarksAndTheNewestFirst) {
  add_process(30, 6000, variables(""), "unlimited");
  add_process(20, 7000, std::string("A=1\0", 4), std::to_string(kTag), "odd) name (");
  add_process(10, 8000, std::string("A=1\0", 4), "unlimited");

  EXPECT_EQ(found(), (std::vector<pid_t>{30, 20}));
}

TEST_F(ProcMarksTest, ReadsOnlyAWholeVariable) {
  add_process(10, 6000, variables("X_"), "unlimited");
  add_process(11, 6000, variables("NOTE="), "unlimited");
  add_process(12, 6000, "CORRAL_INSTANCE=" + kCookie + "00" + '\0', "unlimited");
  add_process(13, 6000, "CORRAL_INSTANCE=" + kCookie.substr(1) + '\0', "unlimited");

  EXPECT_EQ(found(), std::vector<pid_t>{});
}

TEST_F(ProcMarksTest, FindsACookieBehindALongEnvironment) {
  for (int shift = 0; shift < 50; ++shift) {  // wherever a piece ends
    const std::string filler =
        "A=" + std::string(128 * 1024 - 50 + static_cast<std::size_t>(shift), 'x') + '\0';
    add_process(100 + shift, 6000, variables(filler), "unlimited");
  }

  EXPECT_EQ(found().size(), 50U);
}

TEST_F(ProcMarksTest, LooksAtEveryNumberThatWasHandedOutSince) {
  ProcMarks marks(root());
  MarkSearch search(marks, {Claim{kCookie, kTag, 5000, geteuid()}}, geteuid());
  std::vector<pid_t> pids;
  const auto found = [&](const MarkSearch::Hit& hit) { pids.push_back(hit.pid); };
  write("loadavg", "0.00 0.00 0.00 1/100 400\n");
  add_process(400, 6000, variables(""), "unlimited");
  ASSERT_EQ(search.look_at_newborn(400, found), 400);
  EXPECT_EQ(pids, std::vector<pid_t>{});

  write("loadavg", "0.00 0.00 0.00 1/100 401\n");  // exactly the next one
  add_process(401, 6000, variables(""), "unlimited");
  ASSERT_EQ(search.look_at_newborn(400, found), 401);
  EXPECT_EQ(pids, std::vector<pid_t>{401});

  write("loadavg", "0.00 0.00 0.00 1/100 301\n");  // after the last number comes 300
  add_process(300, 6000, variables(""), "unlimited");
  add_process(301, 6000, variables(""), "unlimited");
  add_process(302, 6000, variables(""), "unlimited");  // older than all of that
  add_process(32767, 6000, variables(""), "unlimited");
  ASSERT_EQ(search.look_at_newborn(401, found), 301);
  EXPECT_EQ(pids, (std::vector<pid_t>{401, 32767, 300, 301}));
}

TEST_F(ProcMarksTest, LeavesOutWhatIsOlderThanTheDaemon) {
  add_process(10, 4999, variables(""), std::to_string(kTag));

  EXPECT_EQ(found(), std::vector<pid_t>{});
}

TEST_F(ProcMarksTest, NoTagIsNotTheTagOfEverybody) {
  add_process(10, 6000, std::string("A=1\0", 4), "unlimited");
  add_process(11, 6000, std::string("A=1\0", 4), "0");

  EXPECT_EQ(found(0), std::vector<pid_t>{});
}

TEST_F(ProcMarksTest, ASecondSearchFindsWhoCameSince) {
  add_process(10, 6000, std::string("A=1\0", 4), "unlimited");
  add_process(12, 6000, "", "unlimited");  // is executing a program
  ProcMarks marks(root());
  MarkSearch search(marks, {Claim{kCookie, 0, 5000, geteuid()}}, geteuid());
  ASSERT_TRUE(pids_of(search).empty());

  add_process(11, 6001, variables(""), "unlimited");
  write("12/environ", variables(""));

  EXPECT_EQ(pids_of(search), (std::vector<pid_t>{12, 11}));
}

TEST_F(ProcMarksTest, SurvivesFilesThatMakeNoSense) {
  std::filesystem::create_directories(root_ / "9");
  write("10/stat", "");
  write("11/stat", "11 (x");
  write("12/stat", "12 (x) S");
  write("13/stat", "13 (x) S one two three\n");
  write("14/environ", variables(""));
  write("99999999999999/stat", "x");
  add_process(15, 6000, "CORRAL_INSTANCE=", "");

  EXPECT_EQ(found(), std::vector<pid_t>{});
}

// Root owns the files of a process that hides its memory, so its tag is looked at, which anybody may read.
TEST_F(ProcMarksTest, OfAnotherOwnerOnlyRootsProcessesAreLookedAtAndOnlyForTheTag) {
  add_process(10, 6000, variables(""), "unlimited");
  add_process(11, 6000, "", std::to_string(kTag));
  const uid_t somebody = geteuid() + 1;
  ProcMarks marks(root());
  MarkSearch search(marks, {Claim{kCookie, kTag, 5000, somebody}}, somebody);

  EXPECT_EQ(pids_of(search), geteuid() == 0 ? std::vector<pid_t>{11} : std::vector<pid_t>{});
}

TEST_F(ProcMarksTest, AfterTheLastNumberTheKernelBeginsAtThreeHundred) {
  for (const int pid : {299, 300, 350}) add_process(pid, 6000, variables(""), "unlimited");
  write("loadavg", "0.00 0.00 0.00 1/100 350\n");
  ProcMarks marks(root());
  MarkSearch search(marks, {Claim{kCookie, kTag, 5000, geteuid()}}, geteuid());
  std::vector<pid_t> pids;

  search.look_at_newborn(1000, [&](const MarkSearch::Hit& hit) { pids.push_back(hit.pid); });

  EXPECT_EQ(pids, (std::vector<pid_t>{300, 350}));
}

TEST(ProcMarksWithoutProc, SaysThatNothingCanBeSeen) {
  ProcMarks marks("/nonexistent");
  MarkSearch search(marks, {Claim{kCookie, kTag, 0, geteuid()}}, geteuid());

  EXPECT_FALSE(search.next([](const MarkSearch::Hit&) {}).readable);
}

TEST_F(ProcMarksTest, ReadsALineWithItsOwner) {
  add_process(10, 6000, "", "unlimited", "a) S 3 (b");
  ProcMarks marks(root());

  const std::optional<ProcMarks::Line> line = marks.line(10);

  ASSERT_TRUE(line);
  EXPECT_EQ(line->pid, 10);
  EXPECT_EQ(line->parent, 1);
  EXPECT_EQ(line->state, 'S');
  EXPECT_EQ(line->start_ticks, 6000U);
  EXPECT_EQ(line->comm, "a) S 3 (b");
  EXPECT_EQ(line->owner, geteuid());
}

TEST_F(ProcMarksTest, RefusesLinesThatAreNone) {
  const std::string rest = " 20 21 34816 -1 0 1 2 3 4 50 60 7 8 20 0 1 0 6000";
  ProcMarks marks(root());
  write("10/stat", "10 (x) S 1" + rest);
  EXPECT_TRUE(marks.line(10)) << "without anything behind it";
  for (const std::string& text :
       {"10 x) S 1" + rest, "10 )x( S 1" + rest, "10 (x S 1" + rest, "10 (x) S 1x" + rest, "10 (x) S " + rest,
        "10 (x) S 1" + rest + "x", "10 (x) S 1" + rest.substr(0, rest.size() - 5), std::string("10 (x) "),
        std::string("10 (x)"), std::string("10 (x) S"), "10 (x) S 99999999999" + rest}) {
    write("10/stat", text);
    EXPECT_FALSE(marks.line(10)) << text;
  }
}

TEST_F(ProcMarksTest, ListsOnlyNumbers) {
  for (const char* name : {"1", "10", "0", "-5", "12x", "self", "x12"}) {
    std::filesystem::create_directories(root_ / name);
  }
  ProcMarks marks(root());

  for (int i = 0; i < 2; ++i) {
    std::vector<pid_t> pids = marks.pids();
    std::sort(pids.begin(), pids.end());
    EXPECT_EQ(pids, (std::vector<pid_t>{1, 10})) << "each time the same";
  }
}

TEST_F(ProcMarksTest, LeavesNoDescriptorOpenBehindAList) {
  ProcMarks marks(root());
  marks.pids();
  const int free = dup(STDIN_FILENO);
  close(free);
  for (int i = 0; i < 3; ++i) marks.pids();

  const int still_free = dup(STDIN_FILENO);
  EXPECT_EQ(still_free, free);
  close(still_free);
}

TEST_F(ProcMarksTest, KnowsTheNewestNumberIfTheKernelTells) {
  ProcMarks marks(root());
  EXPECT_EQ(marks.newest(), 0);
  for (const auto& [text, number] : std::vector<std::pair<const char*, pid_t>>{
           {"0.00 0.01 0.05 1/100 400\n", 400}, {"401", 401}, {"", 0}, {"0.00 x\n", 0}, {"\n\n", 0}}) {
    write("loadavg", text);
    EXPECT_EQ(marks.newest(), number) << text;
  }
}

TEST_F(ProcMarksTest, TheTagIsTheHardLimit) {
  ProcMarks marks(root());
  EXPECT_EQ(marks.rlimit_tag(10), 0U) << "there is no such process";
  for (const auto& [text, tag] : std::vector<std::pair<std::string, std::uint64_t>>{
           {"Max realtime timeout      5                    7                    us        \n", 7},
           {"Max realtime timeout      5                    unlimited            us        \n", 0},
           {"Max realtime timeout      unlimited            7                    us        \n", 7},
           {"Max realtime timeout      5\n7 8 9\n", 0},
           {"Max realtime timeout      5 7", 7},
           {"Max realtime timeout      5 7x", 0},
           {"Max realtime timeout", 0},
           {"12345678901234567890 7 8 us\n", 0},
           {"", 0}}) {
    write("10/limits", text);
    EXPECT_EQ(marks.rlimit_tag(10), tag) << text;
  }
}

TEST_F(ProcMarksTest, TellsWhetherAnEnvironmentCouldBeSeen) {
  write("10/environ", "A");
  write("11/environ", "");
  ProcMarks marks(root());

  EXPECT_TRUE(marks.cookie(10).seen);
  EXPECT_FALSE(marks.cookie(11).seen);
  EXPECT_FALSE(marks.cookie(12).seen);
}

TEST_F(ProcMarksTest, TheFirstVariableOfThatNameCounts) {
  const std::string other = "CORRAL_INSTANCE=" + std::string(32, 'f') + '\0';
  ProcMarks marks(root());
  write("10/environ", "X" + other + variables(""));
  EXPECT_EQ(marks.cookie(10).instance, kCookie);
  write("10/environ", other + variables(""));
  EXPECT_EQ(marks.cookie(10).instance, std::string(32, 'f'));
  write("10/environ", std::string("CORRAL_INSTANCE=\0", 17) + variables(""));
  EXPECT_EQ(marks.cookie(10).instance, "");
  write("10/environ", "CORRAL_INSTANCE=" + kCookie);
  EXPECT_EQ(marks.cookie(10).instance, "") << "cut off";
}

// What another variable's value shows at the beginning of a later piece is not a variable.
TEST_F(ProcMarksTest, APieceThatBeginsInAValueBeginsNoVariable) {
  const std::string text = "CORRAL_INSTANCE=" + kCookie + '\0';
  const std::string before = "A=" + std::string(128 * 1024 - 256 - 2, 'x');
  write("10/environ", before + text + "B=" + std::string(4096, 'y') + '\0');
  ProcMarks marks(root());

  EXPECT_EQ(marks.cookie(10).instance, "");
}

TEST_F(ProcMarksTest, CountsWhoVanishesAndLooksAtThemAgain) {
  std::filesystem::create_directories(root_ / "9");
  std::filesystem::create_directories(root_ / "8");
  add_process(10, 6000, std::string("A=1\0", 4), "unlimited");
  ProcMarks marks(root());
  MarkSearch search(marks, {Claim{kCookie, kTag, 5000, geteuid()}}, geteuid());
  const auto nobody = [](const MarkSearch::Hit& hit) { ADD_FAILURE() << hit.pid; };

  EXPECT_EQ(search.next(nobody).missed, 2U);
  EXPECT_EQ(search.next(nobody).missed, 2U);
  add_process(9, 6000, variables(""), "unlimited");
  EXPECT_EQ(pids_of(search), std::vector<pid_t>{9});
}

TEST_F(ProcMarksTest, DoesNotReadAgainWhoHadNoMark) {
  add_process(10, 6000, std::string("A=1\0", 4), "unlimited");
  ProcMarks marks(root());
  MarkSearch search(marks, {Claim{kCookie, kTag, 5000, geteuid()}}, geteuid());
  ASSERT_TRUE(pids_of(search).empty());

  write("10/environ", variables(""));  // a mark is inherited at birth

  EXPECT_TRUE(pids_of(search).empty());
  std::filesystem::remove_all(root_ / "10");
  ASSERT_FALSE(search.next([](const MarkSearch::Hit&) {}).readable) << "an empty list is none";
  add_process(10, 7000, variables(""), "unlimited");
  EXPECT_EQ(pids_of(search), std::vector<pid_t>{10}) << "another one of that number";
}

TEST_F(ProcMarksTest, TellsWhichClaimItIsAndWhenItStarted) {
  const std::string other(32, 'f');
  add_process(10, 5000, variables(""), "unlimited");
  add_process(11, 6001, "CORRAL_INSTANCE=" + other + '\0', "unlimited");
  ProcMarks marks(root());
  MarkSearch search(marks, {Claim{other, 0, 6000, geteuid()}, Claim{kCookie, kTag, 5000, geteuid()}},
                    geteuid());

  const auto first = search.look(10);
  const auto second = search.look(11);

  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->claim, 1U);
  EXPECT_EQ(first->start_ticks, 5000U) << "as old as the daemon";
  EXPECT_EQ(second->claim, 0U);
  EXPECT_EQ(second->pid, 11);
  EXPECT_FALSE(search.look(12));
}

}  // namespace
}  // namespace corral::reap
