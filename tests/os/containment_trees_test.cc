// Every tree that programs grow to get away, at every level, as root and as an ordinary user: nothing
// is left when the client closes stdin or is killed. leak_without_corral_test.cc shows that the same
// trees do stay otherwise.
#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

#include "support/os_test.h"

namespace corral::os_tests {
namespace {

struct Tree {
  const char* kind;
  std::size_t count;
  std::size_t visible = count;  // what one scan of /proc must find: hoppers may outrun it
};

void PrintTo(const Tree& tree, std::ostream* out) { *out << tree.kind << ':' << tree.count; }

enum class End { StdinClosed, ClientKilled };

using TreeCase = std::tuple<Tree, Setting, End>;

std::string case_name(const testing::TestParamInfo<TreeCase>& info) {
  const auto& [tree, setting, end] = info.param;
  std::string kind = tree.kind;
  std::erase(kind, '-');
  return kind + (end == End::StdinClosed ? "_stdin_" : "_killed_") + name(setting);
}

class ContainmentTrees : public OsTest, public testing::WithParamInterface<TreeCase> {};

TEST_P(ContainmentTrees, NothingIsLeftOfATree) {
  const auto& [tree, setting, end] = GetParam();
  if (const auto reason = why_not_here(setting)) GTEST_SKIP() << *reason;
  const std::string grow = std::string("--grow=") + tree.kind + ':' + std::to_string(tree.count);
  Session session(
      through_client({.level = setting.level, .user = setting.user, .server = {grow, alive_lock()}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  ASSERT_GE(processes().size(), tree.visible);
  ASSERT_TRUE(any_alive());

  if (end == End::ClientKilled) {
    ASSERT_TRUE(kill_now(session.pid()));
  } else {
    session.close_stdin();
  }

  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  const Report result = report();
  expect_clean(result);
  EXPECT_GE(result.ended_total, 1);
}

constexpr Tree kAdversaries[] = {
    {"groups", 60}, {"daemons", 60}, {"closed", 60},    {"stopped", 60},
    {"bare", 60},   {"mixed", 120},  {"hoppers", 8, 0}, {"session-hoppers", 8, 0}};
constexpr Tree kPlain[] = {{"flat", 200}, {"tree", 200}, {"chain", 100}};

INSTANTIATE_TEST_SUITE_P(Adversary, ContainmentTrees,
                         testing::Combine(testing::ValuesIn(kAdversaries), testing::ValuesIn(every_setting()),
                                          testing::Values(End::StdinClosed, End::ClientKilled)),
                         case_name);

// A storm: more of them than processors can run.
INSTANTIATE_TEST_SUITE_P(Storm, ContainmentTrees,
                         testing::Combine(testing::Values(Tree{"session-hoppers", 30, 0}),
                                          testing::Values(Setting{Level::Basic, User::Ordinary},
                                                          Setting{Level::Strict, User::Ordinary}),
                                          testing::Values(End::StdinClosed, End::ClientKilled)),
                         case_name);

INSTANTIATE_TEST_SUITE_P(Plain, ContainmentTrees,
                         testing::Combine(testing::ValuesIn(kPlain),
                                          testing::Values(Setting{Level::Auto, User::Ordinary},
                                                          Setting{Level::Strict, User::Ordinary}),
                                          testing::Values(End::StdinClosed, End::ClientKilled)),
                         case_name);

}  // namespace
}  // namespace corral::os_tests
