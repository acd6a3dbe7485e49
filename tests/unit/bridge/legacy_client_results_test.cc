#include "bridge/legacy_exchange.h"

namespace corral::bridge {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using LegacyClientResults = LegacyClientTest;

TEST(LegacyResult, LosesResultTypeAndCacheHintsWhereverTheyStand) {
  const std::string expected = R"({"tools":[],"_meta":{"k":1}})";

  EXPECT_EQ(legacy_result(
                "tools/list",
                R"({"resultType":"complete","ttlMs":1,"tools":[],"cacheScope":"private","_meta":{"k":1}})",
                "2025-11-25"),
            expected);
  EXPECT_EQ(legacy_result(
                "tools/list",
                R"({"tools":[],"_meta":{"k":1},"cacheScope":"private","ttlMs":1,"resultType":"complete"})",
                "2025-11-25"),
            expected);
}

TEST(LegacyResult, IsEmptyIfNothingElseWasThere) {
  EXPECT_EQ(legacy_result("ping", R"({"ttlMs":1,"resultType":"complete"})", "2025-11-25"), "{}");
  EXPECT_EQ(legacy_result("ping", R"({ "resultType" : "complete" , "ttlMs" : 1 })", "2025-11-25"), "{  }");
}

TEST(LegacyResult, LosesAMemberThatStandsThereTwiceOrWithEscapes) {
  EXPECT_EQ(legacy_result("x", R"({"ttlMs":1,"a":1,"ttl\u004ds":2,"b":2,"ttlMs":3})", "2025-11-25"),
            R"({"a":1,"b":2})");
}

TEST(LegacyResult, KeepsThoseNamesDeeperInside) {
  const std::string result =
      R"({"content":[{"type":"text","text":"t","_meta":{"ttlMs":1}}],"structuredContent":{"resultType":1}})";

  EXPECT_EQ(legacy_result("tools/call", result, "2025-11-25"), result);
}

TEST(LegacyResult, HasStructuredContentOnlyIfItIsAnObject) {
  EXPECT_EQ(legacy_result("tools/call", R"({"content":[],"structuredContent":[1]})", "2025-11-25"),
            R"({"content":[]})");
  EXPECT_EQ(legacy_result("tools/list",
                          R"({"tools":[{"name":"a","outputSchema":{"type":"array"}},)"
                          R"({"name":"b","outputSchema":{"type":"object"}}]})",
                          "2025-11-25"),
            R"({"tools":[{"name":"a"},{"name":"b","outputSchema":{"type":"object"}}]})");
}

TEST(LegacyResult, IsInTheWordsOfAnOlderRevision) {
  EXPECT_EQ(legacy_result("tools/call", R"({"resultType":"complete","content":[],"structuredContent":{}})",
                          "2025-03-26"),
            R"({"content":[]})");
}

TEST_F(LegacyClientResults, AreThoseOfTheClientsRevision) {
  begin("2024-11-05", "{}");
  const std::string id = call();

  server_answers(id,
                 R"({"resultType":"complete","content":[{"type":"audio","data":"","mimeType":"audio/wav"},)"
                 R"({"type":"resource_link","uri":"file:///x"}],"structuredContent":{},"ttlMs":0})");

  const std::string content = at(one_to_client(), {"result"});
  EXPECT_EQ(
      content,
      R"({"content":[{"type":"text","text":"[Audio (audio/wav) left out: this client's version of MCP has no )"
      R"(audio content.]"},{"type":"text","text":"Resource: file:///x"}]})");
}

TEST_F(LegacyClientResults, WithoutATypeAreComplete) {
  server_answers(call(), R"({"content":[]})");

  EXPECT_EQ(one_to_client(), R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})");
}

TEST_F(LegacyClientResults, MayStandBeforeTheId) {
  server_says(R"({"result":{"ttlMs":0,"content":[],"resultType":"complete"},"id":)" + call(R"("q")") +
              R"(,"jsonrpc":"2.0"})");

  EXPECT_EQ(one_to_client(), R"({"result":{"content":[]},"id":"q","jsonrpc":"2.0"})");
}

TEST_F(LegacyClientResults, OfATypeThatNobodyAskedForAreErrors) {
  for (const std::string type : {R"("task")", "null", "{}"}) {
    server_answers(call(), R"({"resultType":)" + type + R"(,"taskId":"x"})");
    const std::string answer = one_to_client();
    EXPECT_EQ(at(answer, {"error", "code"}), "-32603") << answer;
    EXPECT_THAT(text_at(answer, {"error", "message"}), HasSubstr("srv"));
  }
}

TEST_F(LegacyClientResults, ForNobodyAreDropped) {
  const std::string id = call();
  server_answers(id, "{}");
  to_client();

  server_answers(id, "{}");
  server_answers("77", "{}");
  server_answers(R"("1")", "{}");
  server_says(R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}})");
  EXPECT_THAT(client, IsEmpty());
}

TEST_F(LegacyClientResults, ErrorsPassAsTheyAre) {
  server_fails(call(), R"({"code":-32601,"message":"no","data":{"x":1}})");

  EXPECT_EQ(one_to_client(),
            R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":{"x":1}}})");
}

TEST_F(LegacyClientResults, ModernErrorCodesBecomeInternalErrorWithTheMessage) {
  for (const std::string code : {"-32020", "-32021", "-32022"}) {
    server_fails(call("1", "prompts/get"), R"({"code":)" + code + R"(,"message":"why"})");
    EXPECT_EQ(one_to_client(), R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"why"}})");
  }
}

TEST_F(LegacyClientResults, AToolThatMissesACapabilitySaysWhichOne) {
  server_fails(call(),
               R"({"code":-32021,"message":"cannot ask","data":{"requiredCapabilities":{"sampling":{}}}})");

  const std::string answer = one_to_client();
  EXPECT_EQ(at(answer, {"result", "isError"}), "true");
  EXPECT_THAT(answer, HasSubstr("lacks: sampling (cannot ask)"));
}

TEST_F(LegacyClientResults, AResourceThatIsNotThereHasTheLegacyCode) {
  server_fails(call("1", "resources/read"), R"({"code":-32602,"message":"none","data":{"uri":"u"}})");
  EXPECT_EQ(one_to_client(),
            R"({"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"none","data":{"uri":"u"}}})");

  server_fails(call("1", "resources/read"), R"({"code":-32602,"message":"bad"})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32602");
  server_fails(call("1", "prompts/get"), R"({"code":-32602,"message":"bad","data":{"uri":"u"}})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32602");
}

TEST_F(LegacyClientResults, ARequestOfTheServerIsRefused) {
  server_says(R"({"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{}})");

  const std::string answer = one_to_server();
  EXPECT_EQ(at(answer, {"id"}), R"("s1")");
  EXPECT_EQ(at(answer, {"error", "code"}), "-32601");
  EXPECT_THAT(client, IsEmpty());
}

}  // namespace
}  // namespace corral::bridge
