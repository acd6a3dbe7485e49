// What a modern client hears of a legacy server's results and errors.
#include <gtest/gtest.h>

#include "bridge/modern_exchange.h"

namespace corral::bridge::tests {
namespace {

TEST(ModernClient, ServerDiscoverIsAnsweredFromInitialize) {
  const std::string initialized =
      R"({"protocolVersion":"2025-06-18","capabilities":{"logging":{}},"instructions":"Be \"kind\".",)"
      R"("serverInfo":{"name":"s","version":"1","title":"S"}})";

  EXPECT_EQ(json(discover_result(initialized)), json(R"({"resultType":"complete",
    "supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],
    "capabilities":{"logging":{}},"instructions":"Be \"kind\".","ttlMs":0,"cacheScope":"private",
    "_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1","title":"S"}}})"));
  EXPECT_EQ(json(discover_result("{}")).at("capabilities"), json("{}"));
}

TEST(ModernClient, CapabilitiesAreCopiedWithoutTasksAndSayListChanged) {
  const std::string initialized =
      R"({"capabilities":{"tasks":{"list":{}},"tools":{"listChanged":false},"prompts":{},)"
      R"("resources":{"subscribe":true,"x":1},"completions":{},"experimental":{"e":{}},"extensions":{"a/b":{}}}})";

  EXPECT_EQ(json(discover_result(initialized)).at("capabilities"), json(R"({
    "tools":{"listChanged":true},"prompts":{"listChanged":true},
    "resources":{"subscribe":true,"x":1,"listChanged":true},
    "completions":{},"experimental":{"e":{}},"extensions":{"a/b":{}}})"));
}

TEST(ModernClient, InitializeTellsWhatMetaSays) {
  const std::string said =
      R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":)"
      R"({"roots":{"listChanged":true},"tasks":{},"sampling":{}},)"
      R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"2"}})";

  EXPECT_EQ(json(initialize_params(said)), json(R"({"protocolVersion":"2025-11-25",
    "capabilities":{"roots":{},"sampling":{}},"clientInfo":{"name":"c","version":"2"}})"));
  EXPECT_EQ(json(initialize_params("{}")), json(R"({"protocolVersion":"2025-11-25","capabilities":{},
    "clientInfo":{"name":"unknown","version":"0"}})"));
}

TEST(ModernClient, ResultsSayThatTheyAreCompleteAndWhoseTheyAre) {
  ModernExchange x;
  x.client(call("\"a\""));
  x.server(result("1", R"({"content":[],"isError":false})"));

  EXPECT_EQ(x.client_heard_one(),
            json(result("\"a\"", R"({"resultType":"complete","content":[],"isError":false,)" + kInfo + "}")));
}

TEST(ModernClient, ResultsKeepTheirOwnMeta) {
  ModernExchange x;
  x.client(call("1"));
  x.server(R"({"result":{"_meta":{"v/k":1.50},"resultType":"odd","content":[]},"id":1,"jsonrpc":"2.0"})");

  EXPECT_EQ(x.client_heard_one().at("result"), json(R"({"resultType":"complete","content":[],
    "_meta":{"v/k":1.50,"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}})"));
}

TEST(ModernClient, ListsAndReadsGetCacheHintsAndOthersDoNot) {
  for (const char* method :
       {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}) {
    EXPECT_EQ(json(modern_result(method, R"({"x":[]})", "{}")),
              json(R"({"x":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"})"))
        << method;
  }
  EXPECT_EQ(modern_result("tools/call", "{ }", "{}"), R"({"resultType":"complete" })");
}

TEST(ModernClient, CacheHintsThatAreThereStayUnlessTheyAreNone) {
  EXPECT_EQ(json(modern_result("tools/list", R"({"ttlMs":5,"cacheScope":"public"})", "{}")),
            json(R"({"resultType":"complete","ttlMs":5,"cacheScope":"public"})"));
  EXPECT_EQ(json(modern_result("tools/list", R"({"ttlMs":"x","cacheScope":7,"_meta":3})", "{}")),
            json(R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{}})"));
}

TEST(ModernClient, ToolsListShowsNothingOfTasks) {
  const std::string listed =
      R"({"tools":[{"name":"a","execution":{"taskSupport":"optional"}},{"name":"b","execution":{"taskSupport":)"
      R"("required"}},{"execution":{"taskSupport":"forbidden","k":1},"name":"c"},{"name":"d"}],"nextCursor":"n"})";
  ModernExchange x;
  x.client(request("1", "tools/list", meta()));
  x.server(result("1", listed));

  const std::string shown = R"({"resultType":"complete","ttlMs":0,"cacheScope":"private",)" + kInfo +
                            R"(,"tools":[{"name":"a"},{"execution":{"k":1},"name":"c"},{"name":"d"}],)"
                            R"("nextCursor":"n"})";
  EXPECT_EQ(x.client_heard_one(), json(result("1", shown)));
  EXPECT_EQ(json(modern_result("tools/list", listed, kInitialized)), json(shown));
}

TEST(ModernClient, ALargeResultIsEditedWhereItStands) {
  ModernExchange x;
  x.client(call("1"));
  const auto line = std::make_shared<const std::string>(
      result("1", R"({"content":[{"type":"text","text":")" + std::string(1'000'000, 'x') + R"("}]})"));
  x.server(line);

  EXPECT_EQ(x.last_owner, line);
  EXPECT_EQ(x.client_heard_one().at("result").at("resultType"), "complete");
}

TEST(ModernClient, AServerInfoTooLargeForEveryResultIsToldByDiscoverOnly) {
  const std::string initialized =
      R"({"capabilities":{},"serverInfo":{"name":")" + std::string(5000, 'n') + "\"}}";
  ModernExchange x(initialized);
  x.client(call("1"));
  x.server(result("1", "{}"));

  EXPECT_EQ(x.client_heard_one(), json(result("1", R"({"resultType":"complete"})")));
  EXPECT_TRUE(json(discover_result(initialized)).as_object().contains("_meta"));
}

TEST(ModernClient, AResultThatIsNotAnObjectIsAnInternalError) {
  ModernExchange x;
  x.client(call("1"));
  x.server(result("1", "[]"));

  EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32603);
}

TEST(ModernClient, ResourceNotFoundBecomesInvalidParamsWithTheUri) {
  const auto translated = [](const std::string& data) {
    ModernExchange x;
    x.client(request("\"q\"", "resources/read", R"("uri":"f:///a",)" + meta()));
    x.server(error("1", -32002, data));
    return x.client_heard_one();
  };

  EXPECT_EQ(translated(""), json(error("\"q\"", -32602, R"(,"data":{"uri":"f:///a"})")));
  EXPECT_EQ(translated(R"(,"data":{})"), json(error("\"q\"", -32602, R"(,"data":{"uri":"f:///a"})")));
  EXPECT_EQ(translated(R"(,"data":{"k":1})"),
            json(error("\"q\"", -32602, R"(,"data":{"k":1,"uri":"f:///a"})")));
  EXPECT_EQ(translated(R"(,"data":{"uri":"u"})"), json(error("\"q\"", -32602, R"(,"data":{"uri":"u"})")));
  EXPECT_EQ(translated(R"(,"data":"f:///a")"), json(error("\"q\"", -32602, R"(,"data":{"uri":"f:///a"})")));
}

TEST(ModernClient, CodesOfTheModernSpecificationDoNotLeakFromALegacyServer) {
  for (const auto& [said, heard] : std::initializer_list<std::pair<int, int>>{{-32020, -32603},
                                                                              {-32021, -32603},
                                                                              {-32022, -32603},
                                                                              {-32099, -32603},
                                                                              {-32019, -32019},
                                                                              {-32100, -32100},
                                                                              {-32601, -32601},
                                                                              {-31001, -31001},
                                                                              {7, 7}}) {
    ModernExchange x;
    x.client(call("1"));
    x.server(error("1", said, R"(,"data":{"d":1})"));
    EXPECT_EQ(x.client_heard_one(), json(error("1", heard, R"(,"data":{"d":1})"))) << said;
  }
}

}  // namespace
}  // namespace corral::bridge::tests
