// The test program itself is the process that is looked at.
#include "guard/process_view.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace corral::guard {
namespace {

constexpr pid_t kNobody = 4'194'304;  // the kernel gives out smaller ones only

std::string own_file(const char* name) {
  std::ifstream file(std::string("/proc/self/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t own_start() {
  const std::string text = own_file("stat");
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  return std::stoull(field);
}

TEST(ProcessView, HasParentStateAndStart) {
  const std::optional<ProcessView> view = look_at(getpid());

  ASSERT_TRUE(view);
  EXPECT_EQ(view->pid, getpid());
  EXPECT_EQ(view->parent, getppid());
  EXPECT_EQ(view->state, 'R');
  EXPECT_EQ(view->start_ticks, own_start());
}

TEST(ProcessView, IsNotFooledByANameWithParentheses) {
  char before[16];
  prctl(PR_GET_NAME, before);
  prctl(PR_SET_NAME, "a) Z 1 1 (b) c");
  const std::optional<ProcessView> view = look_at(getpid());
  prctl(PR_SET_NAME, before);

  ASSERT_TRUE(view);
  EXPECT_EQ(view->parent, getppid());
  EXPECT_EQ(view->start_ticks, own_start());
}

TEST(ProcessView, OfNobodyIsNone) {
  EXPECT_FALSE(look_at(kNobody));
  EXPECT_TRUE(command_line(kNobody).empty());
}

TEST(CommandLine, HasEveryWord) {
  const std::vector<std::string> words = command_line(getpid());

  ASSERT_FALSE(words.empty());
  std::string joined;
  for (const std::string& word : words) joined += word + '\0';
  EXPECT_EQ(joined, own_file("cmdline"));
}

TEST(Described, ALivingProcessHasAgeMemoryAndCommand) {
  const ProcessView view = *look_at(getpid());
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const long started = static_cast<long>(view.start_ticks) / sysconf(_SC_CLK_TCK);

  const Description description = describe(view);

  EXPECT_GE(description.age.count(), now.tv_sec - started);
  EXPECT_LE(description.age.count(), now.tv_sec - started + 60);
  EXPECT_GT(description.memory, 256U * 1024);
  EXPECT_NE(description.command.find("unit_tests"), std::string::npos);
  EXPECT_LE(description.command.size(), 203U);
}

TEST(Described, AProcessOfTheFutureIsNotYoungerThanNothing) {
  ProcessView view = *look_at(getpid());
  view.start_ticks = 1ULL << 60;

  EXPECT_EQ(describe(view).age.count(), 0);
}

TEST(Described, OfNobodyTheNameIsAQuestionMark) {
  const Description description = describe({kNobody, 1, 'S', 1});

  EXPECT_EQ(description.command, "?");
  EXPECT_EQ(description.memory, 0U);
}

}  // namespace
}  // namespace corral::guard
