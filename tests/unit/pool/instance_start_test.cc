// What an instance is told when it is started.
#include "pool/instance_start.h"

#include <gtest/gtest.h>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using knowledge::Era;
using pool::opening_for;

constexpr const char* kClient = R"({"clientInfo":{"name":"tester","version":"1"}})";

TEST(OpeningFor, APrivateInstanceHasTheWordsOfItsClient) {
  const auto spec = files_spec(config::Share::Session);
  const instance::Opening opening = opening_for(*spec, private_decision(), Era::Modern, kClient);
  EXPECT_EQ(opening.initialize_params, kClient);
  EXPECT_FALSE(opening.announce) << "its client does that";
  EXPECT_EQ(opening.expected, Era::Modern);
  EXPECT_TRUE(opening.pinned);
}

TEST(OpeningFor, ASharedInstanceNamesNoClient) {
  const auto spec = files_spec(config::Share::Shared);
  spec->entry.modern.reset();
  const instance::Opening opening = opening_for(*spec, shared_decision(), std::nullopt, kClient);
  EXPECT_EQ(opening.initialize_params, instance::plain_initialize_params());
  EXPECT_TRUE(opening.announce);
  EXPECT_FALSE(opening.expected);
  EXPECT_FALSE(opening.pinned);
}

TEST(OpeningFor, AnInstanceWithoutAClientNamesNone) {
  const auto spec = files_spec(config::Share::Session);
  EXPECT_EQ(opening_for(*spec, private_decision(), Era::Legacy, "").initialize_params,
            instance::plain_initialize_params());
}

}  // namespace
}  // namespace corral::tests
