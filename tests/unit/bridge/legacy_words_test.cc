#include "bridge/legacy_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bridge/legacy_client.h"
#include "wire/message.h"

namespace corral::bridge {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string to_modern(const std::string& line, std::string_view more = {}) {
  return modern_request(wire::Message(line), UpId(9), R"("m":1)", more);
}

TEST(LegacyRequest, GetsTheMetaOfItsClientAndKeepsItsOwnWords) {
  EXPECT_EQ(to_modern(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"),
            R"({"jsonrpc":"2.0","id":9,"params":{"_meta":{"m":1}},"method":"tools/list"})");
  EXPECT_EQ(
      to_modern(R"({"jsonrpc":"2.0","id":"a","method":"x","params":{"a":1,"task":{},"inputResponses":{},)"
                R"("requestState":"s","_meta":{"progressToken":"p","own":2,)"
                R"("io.modelcontextprotocol/protocolVersion":"x"},"b":2}})"),
      R"({"jsonrpc":"2.0","id":9,"method":"x","params":{"_meta":{"m":1,"progressToken":9,"own":2},)"
      R"("a":1,"b":2}})");
  EXPECT_EQ(to_modern(R"({"params":{"a":1},"jsonrpc":"2.0","method":"x","id":5})", R"("requestState":"t")"),
            R"({"params":{"_meta":{"m":1},"a":1,"requestState":"t"},"jsonrpc":"2.0","method":"x","id":9})");
}

std::string legacy_error(std::string_view method, const std::string& error) {
  return changed(error, error_changes(method, error));
}

TEST(LegacyError, HasNoCodeOfTheModernEra) {
  for (const char* code : {"-32020", "-32021", "-32022"}) {
    EXPECT_EQ(legacy_error("tools/call", R"({"code":)" + std::string(code) + "}"), R"({"code":-32603})")
        << code;
  }
  for (const char* code : {"-32019", "-32023", "-32601", "7"}) {
    const std::string error = R"({"code":)" + std::string(code) + "}";
    EXPECT_EQ(legacy_error("tools/call", error), error);
  }
}

TEST(LegacyError, OfAResourceThatIsNotThereHasACodeOfItsOwn) {
  EXPECT_EQ(legacy_error("resources/read", R"({"code":-32602,"data":{"uri":"u"}})"),
            R"({"code":-32002,"data":{"uri":"u"}})");
  for (const char* kept :
       {R"({"code":-32602,"data":{}})", R"({"code":-32602})", R"({"code":-32601,"data":{"uri":1}})"}) {
    EXPECT_EQ(legacy_error("resources/read", kept), kept);
  }
  EXPECT_EQ(legacy_error("prompts/get", R"({"code":-32602,"data":{"uri":"u"}})"),
            R"({"code":-32602,"data":{"uri":"u"}})");
}

TEST(MissingCapability, IsNamedAsTheServerDoes) {
  const auto missing = [](const std::string& required) {
    return missing_capability(R"({"code":-32021,"data":{"requiredCapabilities":)" + required + "}}");
  };
  EXPECT_EQ(missing(R"({"roots":{}})"), "roots");
  EXPECT_EQ(missing(R"({"roots":{},"sampling":{}})"), "roots, sampling");
  EXPECT_EQ(missing("{}"), "which it does not name");
  EXPECT_EQ(missing_capability(R"({"code":-32021})"), "which it does not name");
  EXPECT_EQ(missing_capability(R"({"code":-32022,"data":{"requiredCapabilities":{"roots":{}}}})"),
            std::nullopt);
}

TEST(MissingCapability, IsNotAsLongAsAServerLikes) {
  std::string required;
  for (int i = 0; i < 100; ++i) required += (i == 0 ? "\"" : ",\"") + std::string(99, 'x') + R"(":1)";
  const auto names =
      missing_capability(R"({"code":-32021,"data":{"requiredCapabilities":{)" + required + "}}}");
  ASSERT_TRUE(names);
  EXPECT_EQ(names->size(), 99U + 9 * 101) << "ten of them";
}

TEST(OwnMessages, AreWholeAndEscaped) {
  EXPECT_EQ(tool_error("no \"x\""), R"({"content":[{"type":"text","text":"no \"x\""}],"isError":true})");
  EXPECT_EQ(cancelled_message("7"),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  EXPECT_EQ(
      cancelled_message("7", R"("why")"),
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"why"}})");
}

// ---- the client

TEST(SpokenVersion, IsOneThatWeKnowOrTheNewest) {
  for (const char* version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    EXPECT_EQ(spoken_version(R"({"protocolVersion":")" + std::string(version) + "\"}"), version);
  }
  for (const char* params : {"{}", R"({"protocolVersion":"2026-07-28"})", R"({"protocolVersion":7})"}) {
    EXPECT_EQ(spoken_version(params), "2025-11-25") << params;
  }
}

std::string capabilities_of(const std::string& declared, const std::string& version = "2025-11-25") {
  return modern_capabilities(R"({"protocolVersion":")" + version + R"(","capabilities":)" + declared + "}");
}

TEST(ModernCapabilities, AreThoseOfTheClientWithoutTheOnesThatWereRemoved) {
  EXPECT_EQ(capabilities_of(R"({"roots":{"listChanged":true},"sampling":{"tools":{}},"tasks":{},"x":1})"),
            R"({"roots":{},"sampling":{"tools":{}},"x":1})");
  EXPECT_EQ(capabilities_of(R"({"roots":true,"sampling":true,"elicitation":true})"), "{}");
  EXPECT_EQ(capabilities_of(R"({"extensions":{"io.modelcontextprotocol/tasks":{},"x":{}}})"),
            R"({"extensions":{"x":{}}})");
  EXPECT_EQ(capabilities_of(R"({"elicitation":{"form":{},"url":{}}})"),
            R"({"elicitation":{"form":{},"url":{}}})");
  EXPECT_EQ(capabilities_of(R"({"elicitation":{"form":{},"url":{}}})", "2025-06-18"),
            R"({"elicitation":{"form":{}}})");
}

TEST(ModernCapabilities, ThatAreTooLargeOrTooDeepAreNone) {
  const auto of_size = [](std::size_t size) {
    const std::string around = R"({"x":""})";
    return capabilities_of(R"({"x":")" + std::string(size - around.size(), 'x') + "\"}");
  };
  EXPECT_EQ(of_size(65536).size(), 65536U);
  EXPECT_EQ(of_size(65537), "{}");
  EXPECT_EQ(capabilities_of(R"({"x":)" + std::string(5000, '[') + std::string(5000, ']') + "}"), "{}");
}

TEST(ModernMeta, SaysWhoTheClientIsAndWhatItWantsToHear) {
  const std::string params = R"({"capabilities":{"sampling":{}},"clientInfo":{"name":"c"}})";
  EXPECT_EQ(modern_meta(params, ""), R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                                     R"("io.modelcontextprotocol/clientInfo":{"name":"c"},)"
                                     R"("io.modelcontextprotocol/clientCapabilities":{"sampling":{}})");
  EXPECT_THAT(modern_meta(params, "info"), HasSubstr(R"(,"io.modelcontextprotocol/logLevel":"info")"));
  EXPECT_THAT(modern_meta(R"({"clientInfo":"c"})", ""), Not(HasSubstr("clientInfo")));
  EXPECT_THAT(modern_meta(R"({"clientInfo":{"name":")" + std::string(70'000, 'c') + "\"}}", ""),
              Not(HasSubstr("clientInfo")));
}

// ---- the server

TEST(InitializeResult, IsWhatAModernServerSaysInLegacyWords) {
  const std::string discovered =
      R"({"capabilities":{"tools":{},"prompts":{"listChanged":false},"resources":true,"tasks":{},)"
      R"("logging":{},)"
      R"("extensions":{"io.modelcontextprotocol/tasks":{},"x":{}}},"instructions":"do",)"
      R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}})";
  EXPECT_EQ(initialize_result(discovered, "2025-11-25", "files"),
            R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},)"
            R"("prompts":{"listChanged":true},"logging":{},"extensions":{"x":{}}},)"
            R"("serverInfo":{"name":"s","version":"1"},"instructions":"do"})");
  EXPECT_THAT(initialize_result(discovered, "2025-06-18", "files"), Not(HasSubstr("extensions")));
}

TEST(InitializeResult, NamesAServerThatDoesNot) {
  for (const char* info : {"{}", R"({"name":"s"})", R"({"version":"1"})", "7"}) {
    const std::string discovered = R"({"capabilities":{},"instructions":7,"_meta":{)"
                                   R"("io.modelcontextprotocol/serverInfo":)" +
                                   std::string(info) + "}}";
    EXPECT_EQ(
        initialize_result(discovered, "2025-11-25", "files"),
        R"({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"files","version":"0"}})")
        << info;
  }
}

TEST(ListChanges, AreDeclaredOfEveryListThatTheServerHas) {
  EXPECT_EQ(
      with_list_changes(R"({"a":1,"capabilities":{"tools":{},"x":{},"prompts":{"listChanged":false,"y":1},)"
                        R"("resources":{"listChanged":true}},"b":2})"),
      R"({"a":1,"capabilities":{"tools":{"listChanged":true},"x":{},"prompts":{"listChanged":true,"y":1},)"
      R"("resources":{"listChanged":true}},"b":2})");
  for (const char* kept : {R"({"a":1})", R"({"capabilities":{}})", R"({"capabilities":{"tools":7},"b":2})"}) {
    EXPECT_EQ(with_list_changes(kept), kept);
  }
}

}  // namespace
}  // namespace corral::bridge
