#include "bridge/to_modern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bridge/modern_client.h"
#include "bridge/modern_request.h"
#include "wire/message.h"

namespace corral::bridge {
namespace {

using testing::HasSubstr;

const std::string kInfo = R"("io.modelcontextprotocol/serverInfo":{"name":"s"})";

std::string completed(const std::string& result, std::string_view method, const std::string& info = {}) {
  Edits edits;
  return complete_result(result, {0, result.size()}, method, info, edits) ? edits.applied(result)
                                                                          : "no object";
}

TEST(ModernResult, IsCompleteAndSaysWhoseItIs) {
  EXPECT_EQ(completed("{}", "tools/call"), R"({"resultType":"complete"})");
  EXPECT_EQ(completed(R"({"a":1})", "tools/call", kInfo),
            R"({"resultType":"complete","_meta":{)" + kInfo + R"(},"a":1})");
  EXPECT_EQ(completed(R"({"resultType":"odd"})", "tools/call"), R"({"resultType":"complete"})");
  EXPECT_EQ(completed("[]", "tools/call"), "no object");
  EXPECT_EQ(completed("", "tools/call"), "no object");
}

TEST(ModernResult, KeepsTheMetaThatItHas) {
  EXPECT_EQ(completed(R"({"resultType":"complete","_meta":{"x":1}})", "tools/call", kInfo),
            R"({"resultType":"complete","_meta":{)" + kInfo + R"(,"x":1}})");
  const std::string own = R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{}}})";
  EXPECT_EQ(completed(own, "tools/call", kInfo), own);
  EXPECT_EQ(completed(R"({"resultType":"complete","_meta":{"x":1}})", "tools/call"),
            R"({"resultType":"complete","_meta":{"x":1}})");
  EXPECT_EQ(completed(R"({"resultType":"complete","_meta":7})", "tools/call", kInfo),
            R"({"resultType":"complete","_meta":{)" + kInfo + "}}");
}

TEST(ModernResult, OfWhatCanBeCachedSaysForHowLongAndForWhom) {
  for (const char* method :
       {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}) {
    EXPECT_EQ(completed("{}", method), R"({"resultType":"complete","ttlMs":0,"cacheScope":"private"})")
        << method;
  }
  for (const char* kept : {R"({"resultType":"complete","ttlMs":0,"cacheScope":"private"})",
                           R"({"resultType":"complete","ttlMs":9000,"cacheScope":"public"})"}) {
    EXPECT_EQ(completed(kept, "tools/list"), kept);
  }
  for (const char* odd : {"-1", "null", "\"1\""}) {
    EXPECT_EQ(completed(R"({"ttlMs":)" + std::string(odd) + R"(,"cacheScope":"all","resultType":"complete"})",
                        "tools/list"),
              R"({"ttlMs":0,"cacheScope":"private","resultType":"complete"})")
        << odd;
  }
  EXPECT_EQ(completed(R"({"ttlMs":-1})", "prompts/get"), R"({"resultType":"complete","ttlMs":-1})");
}

TEST(ModernResult, OfAToolListHasNoTasks) {
  const auto shown = [](const std::string& tools) {
    return without_tasks(R"({"a":1,"tools":)" + tools + R"(,"b":2})");
  };
  EXPECT_EQ(shown(R"([{"name":"x"}])"), std::nullopt);
  EXPECT_EQ(shown(R"([{"name":"taskSupport"}])"), std::nullopt);
  EXPECT_EQ(shown(R"([{"name":"x","execution":{"taskSupport":"required"}}])"), R"({"a":1,"tools":[],"b":2})");
  EXPECT_EQ(shown(R"([{"name":"x","execution":{"taskSupport":"optional"}},{"name":"y"}])"),
            R"({"a":1,"tools":[{"name":"x"},{"name":"y"}],"b":2})");
  EXPECT_EQ(shown(R"([{"execution":{"taskSupport":"forbidden","more":1},"name":"x"}])"),
            R"({"a":1,"tools":[{"execution":{"more":1},"name":"x"}],"b":2})");
  EXPECT_EQ(shown(R"({"taskSupport":1})"), std::nullopt);
}

TEST(ModernResult, IsMadeOfOneFromTheManifestToo) {
  const std::string greeting = R"({"serverInfo":{"name":"s"}})";
  EXPECT_EQ(
      modern_result("tools/list", R"({"tools":[{"execution":{"taskSupport":"required"}}]})", greeting),
      R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{)" + kInfo + R"(},"tools":[]})");
  EXPECT_EQ(modern_result("tools/call", "7", greeting), "7");
  EXPECT_THAT(modern_result("prompts/list", R"({"taskSupport":1})", greeting), HasSubstr("taskSupport"));
}

TEST(LegacyServer, HasWhatItDeclaresAsObjects) {
  const LegacyServer all =
      read_server(R"({"capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true},"logging":{}},)"
                  R"("serverInfo":{"name":"s"}})");
  EXPECT_TRUE(all.tools && all.prompts && all.resources && all.subscribe && all.logging);
  EXPECT_EQ(all.info, kInfo);

  const LegacyServer none = read_server(
      R"({"capabilities":{"tools":true,"prompts":1,"resources":[],"logging":""},"serverInfo":"s"})");
  EXPECT_FALSE(none.tools || none.prompts || none.resources || none.subscribe || none.logging);
  EXPECT_EQ(none.info, "");
  EXPECT_FALSE(read_server(R"({"capabilities":{"resources":{"subscribe":false}}})").subscribe);
}

TEST(LegacyServer, IsNotNamedWithEveryResultIfThatIsLong) {
  const std::string around = R"("io.modelcontextprotocol/serverInfo":{"name":""})";
  const auto info_of = [&](std::size_t size) {
    return read_server(R"({"serverInfo":{"name":")" + std::string(size - around.size(), 'n') + R"("}})").info;
  };
  EXPECT_EQ(info_of(4096).size(), 4096U);
  EXPECT_EQ(info_of(4097), "");
}

// ---- errors

std::string modern_words(const std::string& error, std::string_view uri = {}) {
  Edits edits;
  modern_error(error, {0, error.size()}, uri, edits);
  return edits.applied(error);
}

TEST(ModernError, HasNoCodeThatMeansSomethingElseNow) {
  for (const int code : {-32020, -32021, -32042, -32099}) {
    EXPECT_EQ(modern_words(R"({"code":)" + std::to_string(code) + "}"), R"({"code":-32603})") << code;
  }
  for (const int code : {-32019, -32100, -32601, -1, 0, 7}) {
    const std::string error = R"({"code":)" + std::to_string(code) + "}";
    EXPECT_EQ(modern_words(error), error);
  }
  for (const char* odd : {R"({"code":"-32020"})", R"({"code":-32020.5})", "{}"})
    EXPECT_EQ(modern_words(odd), odd);
}

TEST(ModernError, OfAResourceThatIsNotThereNamesIt) {
  EXPECT_EQ(modern_words(R"({"code":-32002})"), R"({"code":-32602})");
  EXPECT_EQ(modern_words(R"({"code":-32002})", "\"u\""), R"({"data":{"uri":"u"},"code":-32602})");
  EXPECT_EQ(modern_words(R"({"code":-32002,"data":"x"})", "\"u\""), R"({"code":-32602,"data":{"uri":"u"}})");
  EXPECT_EQ(modern_words(R"({"code":-32002,"data":{"x":1}})", "\"u\""),
            R"({"code":-32602,"data":{"uri":"u","x":1}})");
  EXPECT_EQ(modern_words(R"({"code":-32002,"data":{"uri":"mine"}})", "\"u\""),
            R"({"code":-32602,"data":{"uri":"mine"}})");
}

TEST(ErrorCode, IsAWholeNumberOrNone) {
  EXPECT_EQ(error_code(R"({"code":-5})"), -5);
  for (const char* odd : {"{}", R"({"code":"5"})", R"({"code":5.5})", R"({"code":99999999999})"}) {
    EXPECT_EQ(error_code(odd), std::nullopt) << odd;
  }
}

// ---- the handshake

TEST(DiscoverResult, SaysWhatTheServerSaidInModernWords) {
  EXPECT_EQ(
      discover_result(
          R"({"capabilities":{"tasks":{},"tools":{},"prompts":{"x":1},"resources":7,"logging":{}},)"
          R"("instructions":"do","serverInfo":{"name":"s"}})"),
      R"({"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26",)"
      R"("2024-11-05"],"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true,"x":1},)"
      R"("logging":{}},"instructions":"do","ttlMs":0,"cacheScope":"private","_meta":{)" +
          kInfo + "}}");
  EXPECT_EQ(discover_result(R"({"instructions":7})"),
            R"({"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18",)"
            R"("2025-03-26","2024-11-05"],"capabilities":{},"ttlMs":0,"cacheScope":"private"})");
}

TEST(InitializeParams, AreWhatAModernClientSaysOfItself) {
  EXPECT_EQ(initialize_params(R"({"io.modelcontextprotocol/clientCapabilities":{"tasks":{},)"
                              R"("roots":{"listChanged":true,"x":1},"sampling":{}},)"
                              R"("io.modelcontextprotocol/clientInfo":{"name":"c"}})"),
            R"({"protocolVersion":"2025-11-25","capabilities":{"roots":{"x":1},"sampling":{}},)"
            R"("clientInfo":{"name":"c"}})");
  EXPECT_EQ(
      initialize_params(R"({"io.modelcontextprotocol/clientCapabilities":{},)"
                        R"("io.modelcontextprotocol/clientInfo":7})"),
      R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"unknown","version":"0"}})");
}

// ---- requests

std::string to_legacy(const std::string& line) { return legacy_request(wire::Message(line), UpId(9)); }

TEST(ModernRequest, IsAskedOfALegacyServerInItsWords) {
  EXPECT_EQ(
      to_legacy(
          R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","task":{},)"
          R"("inputResponses":{},"requestState":"s","_meta":{"io.modelcontextprotocol/logLevel":"info",)"
          R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":"p","x":1,)"
          R"("io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{}}}})"),
      R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x",)"
      R"("_meta":{"progressToken":9,"x":1}}})");
  EXPECT_EQ(to_legacy(R"({"params":{"_meta":{"io.modelcontextprotocol/clientInfo":{}},"task":1},)"
                      R"("method":"prompts/get","id":1,"jsonrpc":"2.0"})"),
            R"({"params":{"task":1},"method":"prompts/get","id":9,"jsonrpc":"2.0"})");
}

TEST(ModernRequest, IsReadWithItsWishesAndItsFaults) {
  const auto with_meta = [](const std::string& more) {
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"requestState":"s",)"
           R"("inputResponses":{"k":1},)"
           R"("_meta":{)" +
           more + "}}}";
  };
  const std::string good = with_meta(R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}},)"
                                     R"("io.modelcontextprotocol/logLevel":"notice")");
  const wire::Message message(good);
  const ModernRequest request = read_request(message);
  EXPECT_EQ(request.method, "tools/call");
  EXPECT_EQ(request.state, R"("s")");
  EXPECT_EQ(request.responses, R"({"k":1})");
  EXPECT_TRUE(request.abilities.can(Ask::Roots));
  EXPECT_EQ(request.level, wire::LogLevel::Notice);
  EXPECT_EQ(request.fault, "");

  const auto fault = [](const std::string& line) { return read_request(wire::Message(line)).fault; };
  EXPECT_THAT(fault(with_meta("")), HasSubstr("clientCapabilities\"] is required and must be an object"));
  EXPECT_THAT(fault(with_meta(R"("io.modelcontextprotocol/clientCapabilities":{},)"
                              R"("io.modelcontextprotocol/logLevel":"loud")")),
              HasSubstr("logLevel\"] must be one of debug"));
}

TEST(ModernRequest, IsTheSameWhateverTheOrderTheSpaceAndTheMeta) {
  EXPECT_TRUE(same_params(R"({"a":1,"b":{"c": 2}})", R"({"b":{"c":2},"_meta":{},"requestState":"s","a":1})"));
  EXPECT_TRUE(same_params(R"({"a":1,"inputResponses":{}})", R"({"a":1})"));
  EXPECT_FALSE(same_params(R"({"a":1})", R"({"a":2})"));
  EXPECT_FALSE(same_params(R"({"a":1})", R"({"a":1,"b":2})"));
  EXPECT_FALSE(same_params(R"({"a":"x y"})", R"({"a":"xy"})"));
}

}  // namespace
}  // namespace corral::bridge
