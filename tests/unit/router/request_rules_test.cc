#include "router/request_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/router_parts.h"
#include "wire/error_codes.h"

namespace corral::tests {
namespace {

using testing::HasSubstr;

class RequestRulesTest : public testing::Test {
 protected:
  void limit_tools() {
    options_.allows_tool = [](std::string_view tool) { return tool.starts_with("read"); };
  }
  /// The code of the refusal; 0 = the request may pass.
  int refused(const std::string& line) const {
    const auto refusal = rules_.refuse(wire::Message(line));
    return refusal ? refusal->code : 0;
  }
  int tool(const std::string& params) const { return refused(request("1", "tools/call", params)); }
  bool notification_passes(const std::string& line) const {
    return rules_.allow_notification(wire::Message(line));
  }

  router::RouterOptions options_{.server = "files"};
  router::RouterCounters counters_;
  router::RequestRules rules_{options_, counters_};
};

TEST_F(RequestRulesTest, WithoutALimitEveryToolMayBeCalled) {
  EXPECT_EQ(tool(R"({"name":"write"})"), 0);
  EXPECT_EQ(tool("{}"), 0) << "the server answers that itself";
}

TEST_F(RequestRulesTest, OnlyAllowedToolsMayBeCalled) {
  limit_tools();
  EXPECT_EQ(tool(R"({"name":"read_file"})"), 0);
  EXPECT_EQ(tool(R"({"name":"\u0072ead"})"), 0);
  EXPECT_EQ(tool(R"({"name":"write"})"), wire::kToolNotAllowed);
  EXPECT_EQ(refused(request("1", "prompts/list")), 0);
}

TEST_F(RequestRulesTest, ACallMustHaveOneNameThatEveryParserReadsAlike) {
  limit_tools();
  for (const char* params : {"{}", R"({"name":7})", R"({"name":"read","name":"write"})",
                             R"({"name":"read","Name":"write"})", R"({"name":"read","name\u0000x":"write"})",
                             R"({"name":"read\u0000write"})", R"({"name":"read\n"})"}) {
    EXPECT_EQ(tool(params), wire::kInvalidRequest) << params;
  }
  EXPECT_EQ(tool(R"({"name":"read)" + std::string(1025, 'x') + "\"}"), wire::kInvalidParams);
}

TEST_F(RequestRulesTest, AKeyThatOnlyTheServerMightReadIsRefusedWhereItCouldHarmOthers) {
  const std::string line = R"({"jsonrpc":"2.0","id":1,"ID":2,"method":"prompts/list","params":{}})";
  EXPECT_EQ(refused(line), 0) << "a private server without limits";
  options_.shared = true;
  EXPECT_EQ(refused(line), wire::kInvalidRequest);
  EXPECT_EQ(counters_.misleading, 1U);
  options_.shared = false;
  limit_tools();
  EXPECT_EQ(refused(line), wire::kInvalidRequest);
}

TEST_F(RequestRulesTest, ARequestWithoutAnIdIsNotANotificationWhereToolsAreLimited) {
  const std::string hidden = notification("tools/call", R"({"name":"write"})");
  EXPECT_TRUE(notification_passes(hidden));
  limit_tools();
  EXPECT_FALSE(notification_passes(hidden));
  EXPECT_EQ(counters_.misleading, 1U);
  EXPECT_TRUE(notification_passes(notification("notifications/roots/list_changed")));
}

TEST_F(RequestRulesTest, ARefusalNamesTheServerAndTheSetting) {
  limit_tools();
  const std::string line = request("1", "tools/call", R"({"name":"write"})");
  EXPECT_THAT(rules_.refuse(wire::Message(line))->why,
              HasSubstr("tool write is not allowed by \"tools\" and \"deny\" of server files"));
}

}  // namespace
}  // namespace corral::tests
