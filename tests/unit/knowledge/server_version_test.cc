#include "knowledge/server_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::knowledge {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kLegacy =
    R"({"protocolVersion":"2025-11-25","serverInfo":{"name":"files","version":"1.4.2"}})";

TEST(ServerVersion, IsReadInEitherEra) {
  EXPECT_EQ(version_in(kLegacy), "1.4.2");
  EXPECT_EQ(version_in(R"({"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x","version":"2.0"}}})"),
            "2.0");
  EXPECT_EQ(version_in(R"({"serverInfo":{"name":"x"}})"), "");
  EXPECT_EQ(version_in("nonsense"), "");
}

TEST(ServerVersion, IsRefusedOnlyIfItIsOlderOrNobodyCanKnow) {
  EXPECT_EQ(objection_to_version("files", kLegacy, ""), "");
  EXPECT_EQ(objection_to_version("files", kLegacy, "1.4.2"), "");
  EXPECT_EQ(objection_to_version("files", kLegacy, "1.4"), "");
  EXPECT_THAT(objection_to_version("files", kLegacy, "1.5"),
              AllOf(HasSubstr("server files is version 1.4.2"), HasSubstr("1.5 or later"),
                    HasSubstr("update the server")));
  EXPECT_THAT(objection_to_version("files", "{}", "1.0"), HasSubstr("does not say its version"));
  EXPECT_THAT(objection_to_version("files", R"({"serverInfo":{"version":"nightly"}})", "1.0"),
              HasSubstr("cannot be compared, nightly"));
}

}  // namespace
}  // namespace corral::knowledge
