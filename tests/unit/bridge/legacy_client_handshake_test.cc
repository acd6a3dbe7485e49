#include "bridge/legacy_exchange.h"

namespace corral::bridge {
namespace {

std::string discovered(const std::string& capabilities, const std::string& more = "") {
  return R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":)" + capabilities +
         more + "}";
}

std::string capabilities_of(const std::string& version, const std::string& declared) {
  const std::string params = R"({"protocolVersion":")" + version + R"(","capabilities":)" + declared + "}";
  return at("{" + modern_meta(params, "") + "}", {"io.modelcontextprotocol/clientCapabilities"});
}

TEST(LegacyClientInitialize, TellsTheVersionThatWasAgreedOnAndWhoTheServerIs) {
  EXPECT_EQ(initialize_result(kDiscovered, "2025-06-18", "srv"),
            R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"logging":{},)"
            R"("resources":{"listChanged":true,"subscribe":true}},"serverInfo":{"name":"m","version":"1"}})");
}

TEST(LegacyClientInitialize, NamesTheServerAsConfiguredIfItDoesNotSayWhoItIs) {
  const std::string expected = R"({"name":"my \"srv\"","version":"0"})";

  EXPECT_EQ(at(initialize_result(discovered("{}"), "2025-11-25", "my \"srv\""), {"serverInfo"}), expected);
  const std::string nameless =
      discovered("{}", R"(,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":7}})");
  EXPECT_EQ(at(initialize_result(nameless, "2025-11-25", "my \"srv\""), {"serverInfo"}), expected);
}

TEST(LegacyClientInitialize, PassesInstructionsOnAsTheyAreWritten) {
  const std::string result =
      initialize_result(discovered("{}", R"(,"instructions":"r\u00e9ad \"me\"")"), "2025-11-25", "s");

  EXPECT_EQ(at(result, {"instructions"}), R"("r\u00e9ad \"me\"")");
}

TEST(LegacyClientInitialize, DropsExtensionsForRevisionsThatDoNotHaveThem) {
  const std::string server = discovered(R"({"extensions":{"com.example/x":{}}})");

  EXPECT_EQ(at(initialize_result(server, "2025-06-18", "s"), {"capabilities"}), "{}");
  EXPECT_EQ(at(initialize_result(server, "2025-11-25", "s"), {"capabilities"}),
            R"({"extensions":{"com.example/x":{}}})");
}

TEST(LegacyClientInitialize, NeverOffersTasks) {
  const std::string server = discovered(
      R"({"tasks":{"list":{}},"completions":{},"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}}})");

  EXPECT_EQ(at(initialize_result(server, "2025-11-25", "s"), {"capabilities"}),
            R"({"completions":{},"extensions":{"a/b":{}}})");
}

TEST(LegacyClientInitialize, PromisesChangedListsWhereThereAreLists) {
  const std::string server =
      discovered(R"({"tools":{"listChanged":false,"x":1},"prompts":{},"experimental":{"e":{}}})");

  EXPECT_EQ(at(initialize_result(server, "2024-11-05", "s"), {"capabilities"}),
            R"({"tools":{"listChanged":true,"x":1},"prompts":{"listChanged":true},)"
            R"("experimental":{"e":{}}})");
}

TEST(LegacyClientInitialize, OffersNoListsThatTheServerDoesNotDeclareAsAnObject) {
  for (const std::string odd : {"null", "true", "[]", "7"}) {
    const std::string server =
        discovered(R"({"tools":)" + odd + R"(,"prompts":)" + odd + R"(,"resources":)" + odd + "}");
    EXPECT_EQ(at(initialize_result(server, "2025-11-25", "s"), {"capabilities"}), "{}") << odd;
  }
}

TEST(LegacyClientInitialize, MakesSomethingOfADiscoverResultThatIsNone) {
  for (const std::string odd :
       {"null", "[]", "{}", R"({"capabilities":[1],"_meta":"x","instructions":{}})"}) {
    EXPECT_EQ(
        initialize_result(odd, "2025-11-25", "s"),
        R"({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"0"}})");
  }
}

TEST(LegacyClientMeta, TellsTheServerWhoTheClientIsAndWhatItWantsToHear) {
  const std::string params =
      R"({"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"2"}})";

  EXPECT_EQ(modern_meta(params, "warning"),
            R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
            R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"2"},)"
            R"("io.modelcontextprotocol/clientCapabilities":{"sampling":{}},)"
            R"("io.modelcontextprotocol/logLevel":"warning")");
}

TEST(LegacyClientMeta, SaysOfRootsOnlyThatTheyAreThere) {
  EXPECT_EQ(capabilities_of("2025-11-25", R"({"roots":{"listChanged":true},"tasks":{"list":{}}})"),
            R"({"roots":{}})");
}

TEST(LegacyClientMeta, KeepsAnEmptyElicitationWhichMeansForms) {
  EXPECT_EQ(capabilities_of("2025-06-18", R"({"elicitation":{}})"), R"({"elicitation":{}})");
}

TEST(LegacyClientMeta, OffersElicitationByUrlOnlyForTheRevisionThatHasIt) {
  const std::string both = R"({"elicitation":{"form":{},"url":{}}})";

  EXPECT_EQ(capabilities_of("2025-11-25", both), both);
  EXPECT_EQ(capabilities_of("2025-06-18", both), R"({"elicitation":{"form":{}}})");
}

TEST(LegacyClientMeta, LeavesOutWhatAModernServerCouldNotRead) {
  EXPECT_EQ(capabilities_of("2025-11-25",
                            R"({"sampling":true,"roots":1,"elicitation":[],"experimental":{"e":{}}})"),
            R"({"experimental":{"e":{}}})");
  EXPECT_EQ(capabilities_of("2025-11-25", R"({"extensions":{"io.modelcontextprotocol/tasks":{},"a/b":{}}})"),
            R"({"extensions":{"a/b":{}}})");
}

TEST(LegacyClientMeta, LeavesOutCapabilitiesThatAreTooDeepForAMessage) {
  const std::string deep = std::string(508, '[') + std::string(508, ']');

  EXPECT_EQ(capabilities_of("2025-11-25", R"({"x":)" + deep + "}"), R"({"x":)" + deep + "}");
  EXPECT_EQ(capabilities_of("2025-11-25", R"({"x":[)" + deep + "]}"), "{}");
}

TEST(LegacyClientMeta, LeavesOutWhatIsTooLongToGoWithEveryRequest) {
  const std::string limit = R"({"x":")" + std::string((64 << 10) - 8, 'x') + "\"}";
  const std::string longer = R"({"x":")" + std::string((64 << 10) - 7, 'x') + "\"}";
  const auto meta_of = [](const std::string& info, const std::string& capabilities) {
    return "{" +
           modern_meta(R"({"protocolVersion":"2025-11-25","capabilities":)" + capabilities +
                           R"(,"clientInfo":)" + info + "}",
                       "") +
           "}";
  };

  EXPECT_EQ(at(meta_of(limit, limit), {"io.modelcontextprotocol/clientInfo"}), limit);
  EXPECT_EQ(at(meta_of(limit, limit), {"io.modelcontextprotocol/clientCapabilities"}), limit);
  EXPECT_EQ(at(meta_of(longer, longer), {"io.modelcontextprotocol/clientInfo"}), "");
  EXPECT_EQ(at(meta_of(longer, longer), {"io.modelcontextprotocol/clientCapabilities"}), "{}");
}

}  // namespace
}  // namespace corral::bridge
