// SIGKILL to the daemon, its janitor and its keepers, in every combination and at every step of the journal.
// Then the next start: nothing of it may be left, and nobody else may be hit.
#include <gtest/gtest.h>

#include <deque>

#include "support/crashed_daemon.h"
#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

constexpr int kCalls = 6;

struct Case {
  const char* victims;
  const char* level;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.victims << " " << one.level; }

class CrashMatrix : public OsTest, public testing::WithParamInterface<Case> {};

INSTANTIATE_TEST_SUITE_P(Of, CrashMatrix,
                         testing::Values(Case{"d", "auto"}, Case{"j", "auto"}, Case{"k", "auto"},
                                         Case{"dj", "auto"}, Case{"dk", "auto"}, Case{"jk", "auto"},
                                         Case{"djk", "auto"}, Case{"djk", "basic"}),
                         [](const auto& test) {
                           return std::string(test.param.victims) + "_" + test.param.level;
                         });

TEST_P(CrashMatrix, TheNextStartEndsCorralsProcessesAndNotTheOneThatLooksTheSame) {
  const auto [victims, level] = GetParam();
  TagGuard other;
  Launch like_it;  // the same program with the same arguments, and a cookie of its own
  like_it.argv = {programs().adversary, "--tag=" + other.tag()};
  like_it.env = {"CORRAL_INSTANCE=0123456789abcdef0123456789abcdef"};
  Session neighbour(like_it);
  ASSERT_TRUE(neighbour.ask("pid"));
  const std::size_t neighbours = tagged(other.tag()).size();
  std::deque<CrashedDaemon> daemons;  // all at once: each is a neighbour of the others
  for (int call = 1; call <= kCalls; ++call) {
    for (const bool before : {true, false}) {
      daemons.emplace_back(path("records" + std::to_string(daemons.size())), tag(), level,
                           CrashedDaemon::Blow{call, before, victims},
                           std::vector<std::string>{programs().adversary, "--tag=" + tag(),
                                                    "--grow=daemons:1", "--grow=bare:1"});
    }
  }
  for (CrashedDaemon& daemon : daemons) ASSERT_TRUE(daemon.wait_for_janitor());
  const bool everybody = std::string(victims) == "djk";
  EXPECT_TRUE(!everybody || processes().size() >= 4) << "nothing is left that could be ended";

  for (std::size_t i = 0; i < daemons.size(); ++i) {
    EXPECT_TRUE(eventually([&] { return daemons[i].reconcile(); })) << "case " << i;
  }

  // Where a janitor or a daemon was spared, it may still be at its own work.
  EXPECT_TRUE(everybody ? survivors(tag()).empty() : all_gone());
  EXPECT_EQ(tagged(other.tag()).size(), neighbours);
}

}  // namespace
}  // namespace corral::os_tests
