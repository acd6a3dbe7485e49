#include "knowledge/introduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::knowledge {
namespace {

std::string modern(const std::string& capabilities) {
  return profile_of(Era::Modern, R"({"protocolVersion":"2026-07-28","capabilities":)" + capabilities + "}");
}

std::string legacy(const std::string& version, const std::string& capabilities = "{}") {
  return profile_of(Era::Legacy,
                    R"({"protocolVersion":)" + version + R"(,"capabilities":)" + capabilities + "}");
}

TEST(Profile, WithoutCapabilitiesIsPlain) {
  EXPECT_EQ(modern("{}"), "plain");
  EXPECT_EQ(modern(R"({"experimental":{"x":{}},"extensions":{}})"), "plain");
  EXPECT_EQ(profile_of(Era::Modern, "{}"), "plain");
  EXPECT_EQ(profile_of(Era::Legacy, "{}"), "plain");
}

TEST(Profile, NamesWhatAServerMayAskFor) {
  EXPECT_EQ(modern(R"({"sampling":{}})"), "sampling");
  EXPECT_EQ(modern(R"({"sampling":{"tools":{},"context":{}}})"), "sampling+sampling.tools");
  EXPECT_EQ(modern(R"({"roots":{}})"), "roots");
  EXPECT_EQ(modern(R"({"elicitation":{"form":{},"url":{}}})"), "elicitation.form+elicitation.url");
  EXPECT_EQ(modern(R"({"elicitation":{"url":{}}})"), "elicitation.url");
  EXPECT_EQ(modern(R"({"extensions":{"io.example/b":{},"io.example/a":{"x":1}}})"),
            R"(ext:"io.example/a"+ext:"io.example/b")");
}

TEST(Profile, AnEmptyElicitationMeansForms) {
  EXPECT_EQ(modern(R"({"elicitation":{}})"), modern(R"({"elicitation":{"form":{}}})"));
}

TEST(Profile, IsTheSameHoweverItIsWritten) {
  EXPECT_EQ(modern(R"({"roots":{"listChanged":true},"sampling":{}})"),
            modern(R"({ "sampling" : { } , "\u0072oots":{} })"));
}

TEST(Profile, OfALegacyServerHasTheRevisionToo) {
  EXPECT_EQ(legacy(R"("2025-06-18")"), "plain 2025-06-18");
  EXPECT_EQ(legacy(R"("2025-11-25")", R"({"roots":{}})"), "roots 2025-11-25");
  EXPECT_NE(legacy(R"("2025-06-18")"), legacy(R"("2025-11-25")"));
}

TEST(Profile, AStrangeRevisionIsNotTakenForAnotherProfile) {
  EXPECT_EQ(legacy(R"("x+roots")"), R"(plain "x+roots")");
  EXPECT_EQ(legacy("7"), "plain");
}

TEST(Profile, AMemberThatIsNotAnObjectIsNotACapability) {
  EXPECT_EQ(modern(R"({"sampling":true,"roots":null,"elicitation":[],"extensions":["a"]})"), "plain");
  EXPECT_EQ(modern("[]"), "plain");
  EXPECT_EQ(profile_of(Era::Modern, "not JSON"), "plain");
}

TEST(Profile, NamesOfExtensionsCannotPoseAsCapabilities) {
  EXPECT_NE(modern(R"({"extensions":{"a\"+roots":{}}})"), modern(R"({"extensions":{"a":{}},"roots":{}})"));
  EXPECT_NE(modern(R"({"extensions":{"a":{},"b":{}}})"), modern(R"({"extensions":{"a\"+ext:\"b":{}}})"));
}

TEST(Profile, StaysShortWhateverTheClientSays) {
  const std::string name(4000, 'x');
  std::string many;
  for (int i = 0; i < 1000; ++i) many += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":{}";
  const std::string wide = modern(R"({"extensions":{")" + name + R"(":{}}})");
  const std::string long_list = modern(R"({"extensions":{)" + many + "}}");
  const std::string version = legacy("\"" + name + "\"");

  for (const std::string& profile : {wide, long_list, version}) EXPECT_LE(profile.size(), 512U);
  EXPECT_NE(wide, modern(R"({"extensions":{")" + name + R"(y":{}}})"));
  EXPECT_NE(long_list, modern(R"({"extensions":{)" + many + R"(,"more":{}}})"));
  EXPECT_NE(version, legacy("\"" + name + "y\""));
  EXPECT_EQ(version, legacy("\"" + name + "\""));
}

TEST(ClientName, IsTheOneThatItGives) {
  EXPECT_EQ(client_name(R"({"clientInfo":{"name":"ed\u0069tor","version":"1"}})"), "editor");
  for (const char* params : {"{}", R"({"clientInfo":{}})", R"({"clientInfo":{"name":7}})",
                             R"({"clientInfo":"editor"})", "[]", ""}) {
    EXPECT_EQ(client_name(params), "") << params;
  }
}

// ---- the version of a server

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
  EXPECT_THAT(objection_to_version("files", "{}", "1.0"), HasSubstr("does not report its version"));
  EXPECT_THAT(objection_to_version("files", R"({"serverInfo":{"version":"nightly"}})", "1.0"),
              HasSubstr("cannot be compared, nightly"));
}

}  // namespace
}  // namespace corral::knowledge
