// Mcp-Param-* against the arguments of a call.
#include <gtest/gtest.h>

#include "transport/http_request.h"
#include "transport/http_rules.h"

namespace corral::transport {
namespace {

const std::string kTools =
    R"({"tools":[{"name":"other","inputSchema":{"properties":{"region":{"type":"string","x-mcp-header":"Other"}}}},)"
    R"({"name":"sql","inputSchema":{"type":"object","properties":{)"
    R"("region":{"type":"string","x-mcp-header":"Region"},)"
    R"("limit":{"type":"integer","x-mcp-header":"Limit"},)"
    R"("dry":{"type":"boolean","x-mcp-header":"Dry-Run"},)"
    R"("deep":{"type":"object","properties":{"er":{"type":"string","x-mcp-header":"Deep"}}},)"
    R"("list":{"type":"array","items":{"type":"string","x-mcp-header":"Item"}},)"
    R"("query":{"type":"string"}}}}]})";

/// 0 if it is let through, else the code.
int checked(const std::string& arguments, const http::Headers& headers, const std::string& tools = kTools,
            const std::string& tool = "sql") {
  const std::string params = R"(,"name":")" + tool + R"(","arguments":)" + arguments;
  http::Headers all = headers;
  all.push_back({"Mcp-Name", tool});
  const http::Request request = modern_post("tools/call", params, all);
  const auto said = classify_post(request);
  const auto refusal = check_param_headers(request, std::get<Classified>(said).posted, tools);
  EXPECT_EQ(refusal ? refusal->status : 400, 400);
  return refusal ? refusal->code : 0;
}

struct ParamCase {
  const char* arguments;
  http::Headers headers;
  bool fine;
};

TEST(ParamHeaders, MustSayWhatTheArgumentsSay) {
  const ParamCase cases[] = {
      {R"({"region":"us-west1","query":"x"})", {{"Mcp-Param-Region", "us-west1"}}, true},
      {R"({"region":"us-west1"})", {{"mcp-param-REGION", "us-west1"}}, true},
      {R"({"region":"us-west1"})", {{"Mcp-Param-Region", "US-west1"}}, false},
      {R"({"region":"us-west1"})", {}, false},
      {R"({"region":"us-west1"})",
       {{"Mcp-Param-Region", "us-west1"}, {"Mcp-Param-Region", "us-west1"}},
       false},
      {R"({"region":"Hello"})", {{"Mcp-Param-Region", "=?base64?SGVsbG8=?="}}, true},
      {R"({"region":"Hello"})", {{"Mcp-Param-Region", "=?base64?SGVsbG8?="}}, false},
      {R"({"region":"Hello"})", {{"Mcp-Param-Region", "=?base64?SGVs!!!bG8=?="}}, false},
      {R"({"region":"SGVsbG8="})", {{"Mcp-Param-Region", "SGVsbG8="}}, true},
      {R"({"region":"=?base64?SGVsbG8="})", {{"Mcp-Param-Region", "=?base64?SGVsbG8="}}, true},
      {R"({"region":"a\nb"})", {{"Mcp-Param-Region", "=?base64?YQpi?="}}, true},
      {R"({"region":"\u00fc"})", {{"Mcp-Param-Region", "\xC3\xBC"}}, false},
      {R"({"region":null})", {}, true},
      {R"({"region":null})", {{"Mcp-Param-Region", "us-west1"}}, false},
      {R"({})", {{"Mcp-Param-Region", "us-west1"}}, false},
      {R"({"region":["a"]})", {}, true},
      {R"({"region":["a"]})", {{"Mcp-Param-Region", "a"}}, false},
      {R"({"limit":42})", {{"Mcp-Param-Limit", "42"}}, true},
      {R"({"limit":42.0})", {{"Mcp-Param-Limit", "42"}}, true},
      {R"({"limit":42})", {{"Mcp-Param-Limit", "42.0"}}, true},
      {R"({"limit":4.2e1})", {{"Mcp-Param-Limit", "42"}}, true},
      {R"({"limit":-0})", {{"Mcp-Param-Limit", "0"}}, true},
      {R"({"limit":9007199254740993})", {{"Mcp-Param-Limit", "9007199254740992"}}, false},
      {R"({"limit":42})", {{"Mcp-Param-Limit", "042"}}, false},
      {R"({"limit":42})", {{"Mcp-Param-Limit", "42 "}}, false},
      {R"({"limit":9})", {{"Mcp-Param-Limit", "09"}}, false},
      {R"({"limit":0})", {{"Mcp-Param-Limit", "00"}}, false},
      {R"({"limit":0.5})", {{"Mcp-Param-Limit", "5e-1"}}, true},
      {R"({"limit":500})", {{"Mcp-Param-Limit", "5E+2"}}, true},
      {R"({"limit":5})", {{"Mcp-Param-Limit", "5e"}}, false},
      {R"({"limit":5})", {{"Mcp-Param-Limit", "5."}}, false},
      {R"({"limit":5})", {{"Mcp-Param-Limit", ".5"}}, false},
      {R"({"limit":5})", {{"Mcp-Param-Limit", "-"}}, false},
      {R"({"limit":5})", {{"Mcp-Param-Limit", "5e0x"}}, false},
      {R"({"limit":-7})", {{"Mcp-Param-Limit", "7"}}, false},
      {R"({"limit":1e999999999999})", {{"Mcp-Param-Limit", "1"}}, false},
      {R"({"dry":true})", {{"Mcp-Param-Dry-Run", "true"}}, true},
      {R"({"dry":true})", {{"Mcp-Param-Dry-Run", "True"}}, false},
      {R"({"deep":{"er":"x"}})", {{"Mcp-Param-Deep", "x"}}, true},
      {R"({"deep":{"er":"x"}})", {{"Mcp-Param-Deep", "y"}}, false},
      {R"({"deep":{"er":"x"}})", {}, false},
      {R"({"list":["x"]})", {}, true},
      {R"({"query":"x"})", {{"Mcp-Param-Other", "anything"}, {"Mcp-Param-Unknown", "\x01"}}, true},
  };
  for (const ParamCase& one : cases) {
    const std::string header = one.headers.empty() ? "none" : one.headers[0].value;
    EXPECT_EQ(checked(one.arguments, one.headers), one.fine ? 0 : -32020) << one.arguments << " " << header;
  }
}

TEST(ParamHeaders, AreNotCheckedWithoutAProperMark) {
  const auto marked = [](const std::string& properties) {
    return R"({"tools":[{"name":"sql","inputSchema":{"properties":{)" + properties + "}}}]}";
  };
  const std::string arguments = R"({"a":"x","b":"y"})";
  EXPECT_EQ(checked(arguments, {}, marked(R"("a":{"type":"string","x-mcp-header":"A"})")), -32020);
  for (const char* broken :
       {R"("a":{"type":"string","x-mcp-header":""})", R"("a":{"type":"string","x-mcp-header":"A b"})",
        R"("a":{"type":"string","x-mcp-header":"A\r"})", R"("a":{"type":"string","x-mcp-header":1})",
        R"("a":{"type":"number","x-mcp-header":"A"})", R"("a":{"x-mcp-header":"A"})",
        R"("a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"})"}) {
    EXPECT_EQ(checked(arguments, {}, marked(broken)), 0) << broken;
  }
  EXPECT_EQ(checked(arguments, {}, ""), 0);
  EXPECT_EQ(checked(arguments, {}, R"({"tools":"x-mcp-header"})"), 0);
  EXPECT_EQ(checked(R"({"region":"x"})", {}, kTools, "unknown"), 0);
  EXPECT_EQ(checked("17", {}), 0);
}

}  // namespace
}  // namespace corral::transport
