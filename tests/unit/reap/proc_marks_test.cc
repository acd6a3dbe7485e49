// What is read of a /proc that is made for the purpose.
#include "reap/proc_marks.h"

#include <unistd.h>

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

TEST(ProcMarksWithoutProc, SaysThatNothingCanBeSeen) {
  ProcMarks marks("/nonexistent");
  MarkSearch search(marks, {Claim{kCookie, kTag, 0, geteuid()}}, geteuid());

  EXPECT_FALSE(search.next([](const MarkSearch::Hit&) {}).readable);
}

}  // namespace
}  // namespace corral::reap
