// Which POSTs are let through, and as what; the order in which the rest is refused.
#include "transport/http_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/http_request.h"

namespace corral::transport {
namespace {

using testing::HasSubstr;
using Kind = Classified::Kind;

/// "modern", "initialize", "in session ID", or "status code id".
std::string verdict(const http::Request& request) {
  const auto said = classify_post(request);
  if (const auto* refused = std::get_if<RefusedPost>(&said)) {
    return std::to_string(refused->refusal.status) + " " + std::to_string(refused->refusal.code) + " " +
           refused->id;
  }
  const auto& taken = std::get<Classified>(said);
  if (taken.kind == Kind::Modern) return "modern";
  return taken.kind == Kind::Initialize ? "initialize" : "in session " + std::string(taken.session);
}

HttpRefusal refusal(const http::Request& request) {
  return std::get<RefusedPost>(classify_post(request)).refusal;
}

const std::string kList = R"({"jsonrpc":"2.0","id":7,"method":"tools/list"})";
const std::string kInitialize =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})";

TEST(HttpRules, WantTheMessageAsJson) {
  const auto typed = [](const std::string& type) {
    return verdict(bare_post(kInitialize, {{"Content-Type", type}}));
  };
  EXPECT_EQ(typed("application/json"), "initialize") << "an Accept that is not there accepts everything";
  EXPECT_EQ(typed("Application/JSON; charset=utf-8"), "initialize");
  EXPECT_EQ(typed("text/plain"), "415 -32000 null");
  EXPECT_EQ(typed("application/jsonx"), "415 -32000 null");
  EXPECT_EQ(verdict(bare_post(kInitialize, {})), "415 -32000 null");
  EXPECT_EQ(
      verdict(bare_post(kInitialize, {{"Content-Type", "application/json"}, {"content-type", "text/plain"}})),
      "415 -32000 null");
}

TEST(HttpRules, WantBothKindsOfAnswersAccepted) {
  const auto accepting = [](const http::Headers& accept) {
    http::Headers headers = {{"Content-Type", "application/json"}};
    headers.insert(headers.end(), accept.begin(), accept.end());
    return verdict(bare_post(kInitialize, headers));
  };
  for (const char* fine : {"application/json, text/event-stream", "*/*", "application/*,text/*;q=0.1",
                           "TEXT/event-stream;q=1.0 , Application/Json;q=.5", "text/html, */*;q=0.8",
                           "application/json;q=banana,text/event-stream;q="}) {
    EXPECT_EQ(accepting({{"Accept", fine}}), "initialize") << fine;
  }
  EXPECT_EQ(accepting({{"Accept", "application/json"}, {"accept", "text/event-stream"}}), "initialize");
  for (const char* wrong : {"application/json", "text/event-stream", "text/html", "",
                            "*/*, text/event-stream;q=0", "application/json;q=0.000, text/event-stream"}) {
    EXPECT_EQ(accepting({{"Accept", wrong}}), "406 -32000 1") << wrong;
  }
}

TEST(HttpRules, RefuseABodyThatIsNotAMessage) {
  EXPECT_EQ(verdict(json_post("")), "400 -32700 null");
  EXPECT_EQ(verdict(json_post("{\"jsonrpc\":")), "400 -32700 null");
  EXPECT_EQ(verdict(json_post(R"({"jsonrpc":"1.0","id":"a","method":"x"})")), "400 -32600 \"a\"");
  EXPECT_EQ(verdict(json_post("17")), "400 -32600 null");
}

TEST(HttpRules, PutAMessageOnOneLine) {
  const auto said =
      classify_post(json_post("{\"jsonrpc\":\"2.0\",\r\n\"id\":1,\n\"method\":\"initialize\"}\n"));
  const auto& posted = std::get<Classified>(said).posted;
  EXPECT_EQ(posted.message.text().find_first_of("\r\n"), std::string::npos);
  EXPECT_EQ(posted.message.method(), "initialize");
}

TEST(HttpRules, TellTheErasApart) {
  const http::Headers old = {{"MCP-Protocol-Version", "2025-06-18"}, {"Mcp-Session-Id", "s1"}};
  EXPECT_EQ(verdict(json_post(kInitialize)), "initialize");
  EXPECT_EQ(verdict(json_post(kInitialize, {{"MCP-Protocol-Version", "2026-07-28"}})), "initialize")
      << "without the key it is of the legacy era, whatever the header says";
  EXPECT_EQ(verdict(json_post(kInitialize, {{"mcp-session-id", "s1"}})), "in session s1");
  EXPECT_EQ(verdict(json_post(kList, old)), "in session s1");
  EXPECT_EQ(verdict(json_post(kList)), "in session ");
  EXPECT_EQ(verdict(json_post(
                R"({"jsonrpc":"2.0","id":7,"method":"x","params":{"_meta":{"progressToken":1}}})", old)),
            "in session s1");
  EXPECT_EQ(verdict(json_post(R"({"jsonrpc":"2.0","id":7,"result":{}})", old)), "in session s1");
  EXPECT_EQ(verdict(modern_post("tools/list")), "modern");
  EXPECT_EQ(verdict(json_post(kList, {{"MCP-Protocol-Version", "2026-07-28"}})), "400 -32602 7")
      << "a malformed modern request, no legacy one";
  EXPECT_EQ(verdict(json_post(modern_message("7", "tools/list"), old)), "400 -32020 7");
}

TEST(HttpRules, RefuseRevisionsThatNeverWere) {
  const auto with = [](const std::string& version) {
    return verdict(json_post(kList, {{"MCP-Protocol-Version", version}, {"Mcp-Session-Id", "s1"}}));
  };
  EXPECT_EQ(with("2025-01-01"), "400 -32000 7");
  EXPECT_EQ(with("nonsense"), "400 -32602 7");
  EXPECT_EQ(verdict(json_post(
                kList, {{"MCP-Protocol-Version", "2025-06-18"}, {"MCP-Protocol-Version", "2025-06-18"}})),
            "400 -32000 7");
  EXPECT_EQ(verdict(json_post(kList, {{"Mcp-Session-Id", "a"}, {"mcp-session-id", "b"}})), "400 -32000 7");
}

TEST(HttpRules, LetBatchesOnlyIntoLegacySessions) {
  const http::Headers session = {{"Mcp-Session-Id", "s1"}};
  EXPECT_EQ(verdict(json_post("[" + kList + "]", session)), "in session s1");
  EXPECT_EQ(verdict(json_post("[" + kInitialize + "]")), "400 -32600 null");
  EXPECT_EQ(verdict(json_post("[" + kList + "]", {{"MCP-Protocol-Version", "2026-07-28"}})),
            "400 -32600 null");
  EXPECT_EQ(verdict(json_post("[" + modern_message("1", "tools/list") + "]", session)), "400 -32600 null");
  EXPECT_EQ(verdict(json_post("[" + std::string(std::size_t{5} << 20, ' ') + "1]", session)),
            "400 -32600 null");
}

struct Validation {
  const char* name;
  http::Request request;
  const char* expected;
};

http::Request with_meta(const std::string& meta, const http::Headers& headers) {
  return json_post(modern_message("7", "tools/list", "", R"("_meta":)" + meta), headers);
}

TEST(HttpRules, CheckModernRequestsInTheirOrder) {
  const http::Headers none;
  const http::Headers version = {{"mcp-protocol-version", "2026-07-28"}};
  const http::Headers both = {{"mcp-protocol-version", "2026-07-28"}, {"MCP-METHOD", "tools/list"}};
  const std::string v = R"("io.modelcontextprotocol/protocolVersion":)";
  const std::string c = R"("io.modelcontextprotocol/clientCapabilities":)";
  const std::string l = R"("io.modelcontextprotocol/logLevel":)";
  const std::string good = v + R"("2026-07-28",)" + c + "{}";
  const Validation cases[] = {
      {"no version in the body", with_meta("{" + c + "{}}", version), "400 -32602 7"},
      {"a version that is a number", with_meta("{" + v + "1," + c + "{}}", none), "400 -32602 7"},
      {"no capabilities, before the missing header", with_meta("{" + v + R"("2026-07-28"})", none),
       "400 -32602 7"},
      {"capabilities that are a list", with_meta("{" + v + R"("2026-07-28",)" + c + "[]}", both),
       "400 -32602 7"},
      {"an unknown log level", with_meta("{" + good + "," + l + R"("loud"})", both), "400 -32602 7"},
      {"a known log level", with_meta("{" + good + "," + l + R"("info"})", both), "modern"},
      {"no version header", with_meta("{" + good + "}", none), "400 -32020 7"},
      {"another version in the header", with_meta("{" + good + "}", {{"MCP-Protocol-Version", "2025-11-25"}}),
       "400 -32020 7"},
      {"an unknown version in the body alone", with_meta("{" + v + R"("v9",)" + c + "{}}", both),
       "400 -32020 7"},
      {"an unknown version in both",
       with_meta("{" + v + R"("v9",)" + c + "{}}", {{"MCP-Protocol-Version", "v9"}}), "400 -32022 7"},
      {"a legacy version in both",
       with_meta("{" + v + R"("2025-11-25",)" + c + "{}}", {{"MCP-Protocol-Version", "2025-11-25"}}),
       "400 -32022 7"},
      {"no method header", with_meta("{" + good + "}", version), "400 -32020 7"},
      {"another method", with_meta("{" + good + "}", {version[0], {"Mcp-Method", "prompts/list"}}),
       "400 -32020 7"},
      {"a method in capitals", with_meta("{" + good + "}", {version[0], {"Mcp-Method", "TOOLS/LIST"}}),
       "400 -32020 7"},
      {"two methods", with_meta("{" + good + "}", {both[0], both[1], both[1]}), "400 -32020 7"},
      {"two versions", with_meta("{" + good + "}", {both[0], both[0], both[1]}), "400 -32020 7"},
      {"a control byte", with_meta("{" + good + "}", {version[0], {"Mcp-Method", "tools/list\x01"}}),
       "400 -32020 7"},
      {"everything in place, and a session id that means nothing",
       with_meta("{" + good + "}", {both[0], both[1], {"Mcp-Session-Id", "s1"}}), "modern"},
  };
  for (const Validation& one : cases) EXPECT_EQ(verdict(one.request), one.expected) << one.name;
}

TEST(HttpRules, NameTheVersionsThatTheySupport) {
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"v9","io.modelcontextprotocol/clientCapabilities":{}})";
  const HttpRefusal said =
      refusal(json_post(modern_message("7", "tools/list", "", meta), {{"MCP-Protocol-Version", "v9"}}));
  EXPECT_EQ(said.data, R"({"supported":["2026-07-28"],"requested":"v9"})");
}

TEST(HttpRules, CompareTheNameWhereOneIsRequired) {
  const auto named = [](const std::string& method, const std::string& params, const http::Headers& headers) {
    return verdict(modern_post(method, params, headers));
  };
  const std::string tool = R"(,"name":"echo")";
  EXPECT_EQ(named("tools/call", tool, {{"Mcp-Name", "echo"}}), "modern");
  EXPECT_EQ(named("tools/call", tool, {{"Mcp-Name", "=?base64?ZWNobw==?="}}), "modern");
  EXPECT_EQ(named("tools/call", R"(,"name":"Gr\u00fc\u00dfe")", {{"mcp-name", "=?base64?R3LDvMOfZQ==?="}}),
            "modern");
  EXPECT_EQ(named("prompts/get", tool, {{"Mcp-Name", "echo"}}), "modern");
  EXPECT_EQ(named("resources/read", R"(,"uri":"file:///a")", {{"Mcp-Name", "file:///a"}}), "modern");
  EXPECT_EQ(named("tools/list", "", {}), "modern");
  for (const char* wrong : {"Echo", "", "=?base64?ZWNobw?=", "=?base64?ZWNo!w==?=", "=?BASE64?ZWNobw==?=",
                            "=?base64?ZWNobx==?=", "ech\xC3\xB6"}) {
    EXPECT_EQ(named("tools/call", tool, {{"Mcp-Name", wrong}}), "400 -32020 7") << wrong;
  }
  EXPECT_EQ(named("tools/call", tool, {}), "400 -32020 7");
  EXPECT_EQ(named("tools/call", tool, {{"Mcp-Name", "echo"}, {"Mcp-Name", "echo"}}), "400 -32020 7");
  EXPECT_EQ(named("tools/call", "", {{"Mcp-Name", "echo"}}), "400 -32020 7");
}

TEST(HttpRules, KnowWhatTheModernEraHasRemoved) {
  for (const char* method :
       {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}) {
    EXPECT_EQ(verdict(modern_post(method)), "404 -32601 7") << method;
  }
  EXPECT_EQ(verdict(modern_post("vendor/thing")), "modern") << "its server may know it";
}

TEST(HttpRules, TakeModernNotificationsAndNoResponses) {
  const http::Headers version = {{"MCP-Protocol-Version", "2026-07-28"}};
  const std::string note = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})";
  EXPECT_EQ(verdict(json_post(note, version)), "modern");
  EXPECT_EQ(verdict(json_post(note, {{"MCP-Protocol-Version", "v9"}})), "400 -32022 null");
  EXPECT_EQ(verdict(json_post(R"({"jsonrpc":"2.0","id":3,"result":{}})", version)), "400 -32600 null");
}

TEST(HttpRules, GiveErrorsOfTheServerTheirStatus) {
  const auto status = [](const std::string& code) {
    const std::string text = R"({"jsonrpc":"2.0","id":1,"error":{"code":)" + code + R"(,"message":"m"}})";
    return modern_status(wire::Message(text));
  };
  EXPECT_EQ(status("-32601"), 404);
  EXPECT_EQ(status("-32020"), 400);
  EXPECT_EQ(status("-32021"), 400);
  EXPECT_EQ(status("-32022"), 400);
  EXPECT_EQ(status("-32602"), 200);
  EXPECT_EQ(status("-31001"), 200);
  const std::string result = R"({"jsonrpc":"2.0","id":1,"result":{"code":-32601}})";
  EXPECT_EQ(modern_status(wire::Message(result)), 200);
}

TEST(HttpRules, GetAndDeleteNeedASession) {
  const auto status = [](const auto& check, const http::Headers& headers) {
    const auto said = check(bare_post("", headers));
    return said ? std::to_string(said->status) + " " + said->allow : "fine";
  };
  const http::Header session{"Mcp-Session-Id", "s1"};
  const http::Header stream{"Accept", "text/event-stream"};
  EXPECT_EQ(status(check_get, {session, stream}), "fine");
  EXPECT_EQ(status(check_get, {stream}), "405 POST");
  EXPECT_EQ(status(check_get, {session, stream, {"MCP-Protocol-Version", "2026-07-28"}}), "405 POST");
  EXPECT_EQ(status(check_get, {session, stream, {"MCP-Protocol-Version", "1999-01-01"}}), "400 ");
  EXPECT_EQ(status(check_get, {session}), "406 ");
  EXPECT_EQ(status(check_get, {session, {"Accept", "application/json"}}), "406 ");
  EXPECT_EQ(status(check_delete, {session}), "fine");
  EXPECT_EQ(status(check_delete, {}), "405 POST");
  EXPECT_EQ(status(check_delete, {session, {"MCP-Protocol-Version", "2026-07-28"}}), "405 POST");
}

// The server has chosen the id of what it asked: the client may have a call of the same id open.
TEST(HttpRules, AnswerAResponseWithoutItsId) {
  const auto answer_id = [](const char* text) {
    const Posted posted{wire::Message(text).owned()};
    return std::string(posted.answer_id());
  };
  EXPECT_EQ(answer_id(R"({"jsonrpc":"2.0","id":7,"method":"ping"})"), "7");
  EXPECT_EQ(answer_id(R"({"jsonrpc":"2.0","id":7,"result":{}})"), "null");
  EXPECT_EQ(answer_id(R"({"jsonrpc":"2.0","method":"notifications/x"})"), "null");
  EXPECT_EQ(answer_id(R"({"id":7,"method":"ping"})"), "7");
}

}  // namespace
}  // namespace corral::transport
