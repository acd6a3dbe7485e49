#include <gtest/gtest.h>

#include "observe/snapshot.h"
#include "observe/views.h"

namespace corral::observe {
namespace {

Snapshot with_copies(std::size_t number) {
  Snapshot snapshot;
  for (std::size_t i = 0; i < number; ++i) {
    snapshot.instances.push_back(some_instance("files", static_cast<pid_t>(100 + i)));
  }
  return snapshot;
}

TEST(Health, NineCopiesOfOneServerAreFineAndATenthIsNot) {
  EXPECT_TRUE(health_of(with_copies(9)).healthy);

  const Health health = health_of(with_copies(10));

  EXPECT_FALSE(health.healthy);
  ASSERT_EQ(health.reasons.size(), 1U);
  EXPECT_NE(health.reasons[0].find("server files has 10 processes, more than 9"), std::string::npos);
}

TEST(Health, TenServersWithOneProcessEachAreFine) {
  Snapshot snapshot;
  for (int i = 0; i < 10; ++i) snapshot.instances.push_back(some_instance("s" + std::to_string(i), 100 + i));

  const Health health = health_of(snapshot);

  EXPECT_TRUE(health.healthy);
  EXPECT_TRUE(health.reasons.empty());
}

TEST(Health, CountsAgainstTheConfiguredNumberAndNeverMindsASingleProcess) {
  Snapshot snapshot = with_copies(3);
  snapshot.daemon.keep = 2;
  EXPECT_FALSE(health_of(snapshot).healthy);

  snapshot = with_copies(1);
  snapshot.daemon.keep = 0;
  EXPECT_TRUE(health_of(snapshot).healthy);
}

TEST(Health, AnInstanceWithoutAProcessIsNotACopy) {
  Snapshot snapshot = with_copies(10);
  snapshot.instances[3].pid = 0;

  EXPECT_TRUE(health_of(snapshot).healthy);
}

TEST(Health, ACrashLoopOfAServerThatIsInNoConfigurationIsTold) {
  Snapshot snapshot;
  snapshot.servers = {{"memory", false, false, "5 crashes in 60 s", ""}};
  snapshot.crash_loops = {{"memory", "it died 5 times in a row"},
                          {"a", "it died 6 times in a row"},
                          {"b", "it died; `corral logs b` shows its stderr"}};

  const Health health = health_of(snapshot);

  ASSERT_EQ(health.reasons.size(), 3U) << "each once";
  EXPECT_EQ(health.reasons[1],
            "server a is in a crash loop: it died 6 times in a row; `corral logs a` shows why");
  EXPECT_EQ(health.reasons[2], "server b is in a crash loop: it died; `corral logs b` shows its stderr");
}

TEST(Health, WhatADamagedRegistryHasCostIsTold) {
  Snapshot snapshot;
  snapshot.daemon.lost = "the registry was damaged";

  EXPECT_EQ(health_of(snapshot).reasons, std::vector<std::string>{"the registry was damaged"});
}

TEST(Health, NamesEveryReason) {
  Snapshot snapshot = with_copies(10);
  snapshot.servers = {{"memory", false, false, "5 crashes in 60 s", ""}};
  snapshot.unkillable = {"process 12 (cat) of files waits for a disk"};
  snapshot.daemon.degraded = "the disk is full: make room";

  const Health health = health_of(snapshot);

  ASSERT_EQ(health.reasons.size(), 4U);
  EXPECT_NE(health.reasons[1].find("memory is in a crash loop: 5 crashes in 60 s"), std::string::npos);
  EXPECT_NE(health.reasons[2].find("process 12 (cat) of files waits for a disk"), std::string::npos);
  EXPECT_NE(health.reasons[3].find("the registry is degraded: the disk is full"), std::string::npos);
}

}  // namespace
}  // namespace corral::observe
