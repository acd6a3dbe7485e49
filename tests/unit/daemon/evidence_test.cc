// What is told of instances that have gone.
#include "daemon/evidence.h"

#include <gtest/gtest.h>

#include "daemon/owned_sessions.h"

namespace corral::daemon {
namespace {

pool::InstanceEnd files_gone() {
  pool::InstanceEnd gone;
  gone.server = "files";
  gone.instance = InstanceId("0123abcd");
  gone.pid = 4711;
  gone.cause = pool::Cause::SessionEnded;
  gone.ending.sentence = "exited with code 0";
  gone.ending.proved_empty = true;
  gone.ending.ended_processes = 3;
  gone.took = std::chrono::milliseconds(12);
  return gone;
}

TEST(Evidence, NamesWhatWentAndTheProof) {
  SessionEvidence evidence{"s-1", {files_gone()}, {}, std::chrono::milliseconds(14)};

  EXPECT_EQ(
      to_json(evidence),
      R"({"session":"s-1","survivors":[],"leaked":false,"ended":[{"server":"files","instance":"0123abcd",)"
      R"("pid":4711,"cause":"session-ended","processes":3,"end":"exited with code 0","proved":true,)"
      R"("ms":12}],"kept":[],"ms":14})");
}

TEST(Evidence, WhatIsNotProvedIsALeak) {
  SessionEvidence evidence{"s-1", {files_gone(), files_gone()}, {}, {}};
  EXPECT_FALSE(evidence.leaked());
  evidence.ended[1].ending.proved_empty = false;
  evidence.ended[1].ending.survivors = {{77, "stuck \"one\"", "uninterruptible"}};

  EXPECT_TRUE(evidence.leaked());
  EXPECT_NE(
      to_json(evidence).find(
          R"("survivors":[{"pid":77,"command":"stuck \"one\"","cause":"uninterruptible"}],"leaked":true)"),
      std::string::npos)
      << to_json(evidence);
}

TEST(Evidence, NamesWhatStays) {
  const SessionEvidence evidence{"s-1", {}, {{"memory", InstanceId("ff00"), 2}}, {}};

  EXPECT_NE(to_json(evidence).find(R"("kept":[{"server":"memory","instance":"ff00","sessions":2}])"),
            std::string::npos);
}

TEST(UniqueName, CountsWhereNamesClash) {
  EXPECT_EQ(unique_name("a", {}), "a");
  EXPECT_EQ(unique_name("a", {"b"}), "a");
  EXPECT_EQ(unique_name("a", {"a"}), "a-2");
  EXPECT_EQ(unique_name("a", {"a", "a-2", "a-4"}), "a-3");
}

}  // namespace
}  // namespace corral::daemon
