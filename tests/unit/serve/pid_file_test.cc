#include "serve/pid_file.h"
#include "base/utc_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace corral::serve {
namespace {

using testing::HasSubstr;

const PidRecord kRecord{4711, "0.1.0", "2026-11-15T11:22:52Z"};

class PidFile : public testing::Test {
 protected:
  PidFile() {
    char name[] = "/tmp/corral-pid-XXXXXX";
    if (mkdtemp(name) != nullptr) root_ = name;
  }
  ~PidFile() override { std::filesystem::remove_all(root_); }

  std::string path() const { return root_ + "/corral.pid"; }
  void write(const std::string& text) const { std::ofstream(path()) << text; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(root_), {}));
  }

 private:
  std::string root_;
};

TEST(PidRecord, IsThreeLines) {
  EXPECT_EQ(encode(kRecord), "4711\n0.1.0\n2026-11-15T11:22:52Z\n");
  EXPECT_EQ(decode_pid_record(encode(kRecord)), kRecord);
}

TEST(PidRecord, IsNothingElse) {
  for (const char* text : {
           "",
           "\n\n\n",
           "4711",
           "4711\n0.1.0\n2026-11-15T11:22:52Z",            // no end
           "4711\n0.1.0\n2026-11-15T11:22:52Z\nmore\n",    // four lines
           "0\n0.1.0\n2026-11-15T11:22:52Z\n",             // kill(0) would hit ourselves
           "-1\n0.1.0\n2026-11-15T11:22:52Z\n",            // and this one everybody
           "99999999999\n0.1.0\n2026-11-15T11:22:52Z\n",   //
           " 4711\n0.1.0\n2026-11-15T11:22:52Z\n",         //
           "4711x\n0.1.0\n2026-11-15T11:22:52Z\n",         //
           "4711\n\x1b[31m0.1.0\n2026-11-15T11:22:52Z\n",  // steers a terminal
           "4711\n\n2026-11-15T11:22:52Z\n",
       }) {
    EXPECT_EQ(decode_pid_record(text), std::nullopt) << text;
  }
}

TEST(PidRecord, TellsTimeInUtc) {
  setenv("TZ", "America/New_York", 1);

  EXPECT_EQ(show_utc_seconds(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(show_utc_seconds(1794741772), "2026-11-15T11:22:52Z");

  unsetenv("TZ");
}

TEST_F(PidFile, IsReplacedAsAWhole) {
  write("something older and longer than what comes now, so that a rest of it would show\n");

  ASSERT_TRUE(write_pid_file(path(), kRecord));

  EXPECT_EQ(read_pid_file(path()), kRecord);
  EXPECT_EQ(files(), 1U) << "nothing is left beside it";
}

TEST_F(PidFile, IsRemovedOnlyIfItIsStillOurs) {
  PidRecord successor = kRecord;
  successor.started = "2026-11-15T11:22:53Z";
  ASSERT_TRUE(write_pid_file(path(), successor));

  remove_pid_file(path(), kRecord);
  EXPECT_EQ(read_pid_file(path()), successor);

  remove_pid_file(path(), successor);
  EXPECT_EQ(files(), 0U);
}

TEST_F(PidFile, ThatIsStaleIsDescribed) {
  EXPECT_EQ(describe_stale(path()), "");

  write("garbage");
  EXPECT_THAT(describe_stale(path()), HasSubstr("not a pid file of corral"));

  PidRecord ours = kRecord;
  ours.pid = getpid();
  ASSERT_TRUE(write_pid_file(path(), ours));
  EXPECT_THAT(describe_stale(path()), HasSubstr("belongs to another process"));

  ours.pid = 2147483647;  // beyond every pid_max
  ASSERT_TRUE(write_pid_file(path(), ours));
  EXPECT_THAT(describe_stale(path()), HasSubstr("pid 2147483647 (version 0.1.0, started 2026-11-15T"));
  EXPECT_THAT(describe_stale(path()), HasSubstr("has ended without removing the file"));
}

TEST_F(PidFile, OneThatNobodyHasWaitedForIsGone) {
  PidRecord record = kRecord;
  record.pid = fork();
  if (record.pid == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(record.pid), &info, WEXITED | WNOWAIT), 0);
  ASSERT_TRUE(write_pid_file(path(), record));

  EXPECT_THAT(describe_stale(path()), HasSubstr("has ended without removing the file"));
  waitpid(record.pid, nullptr, 0);
}

TEST_F(PidFile, ThatIsAPipeOrEndlessIsNotRead) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(read_pid_file(path()), std::nullopt);
  unlink(path().c_str());

  write(encode(kRecord) + std::string(5000, 'x'));
  EXPECT_EQ(read_pid_file(path()), std::nullopt);
  unlink(path().c_str());

  ASSERT_EQ(symlink("/proc/self/status", path().c_str()), 0);
  EXPECT_EQ(read_pid_file(path()), std::nullopt);
}

TEST_F(PidFile, ThatCannotBeWrittenIsAnErrorThatNamesIt) {
  const Result<void> written = write_pid_file(path() + "/no/such/folder", kRecord);

  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("/no/such/folder"));
  EXPECT_THAT(written.error().message, HasSubstr("--pid-file"));
}

}  // namespace
}  // namespace corral::serve
