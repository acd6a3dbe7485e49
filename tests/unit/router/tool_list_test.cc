#include "router/tool_list.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <vector>

#include "wire/json_text.h"

namespace corral::router {
namespace {

std::vector<std::string> texts(std::string_view array) {
  std::vector<std::string> found;
  const auto elements = wire::array_elements(array, 16);
  if (!elements) return {"no array"};
  for (const wire::Span& element : *elements) found.emplace_back(element.in(array));
  return found;
}

TEST(JsonArray, GivesEveryElementAsItIsWritten) {
  using Texts = std::vector<std::string>;

  EXPECT_EQ(texts("[]"), Texts{});
  EXPECT_EQ(texts(" [ ] "), Texts{});
  EXPECT_EQ(texts("[1]"), Texts{"1"});
  EXPECT_EQ(texts(" [ 1 , \"a,]\" ,[2,3], {\"b\" : [4] } , null ] "),
            (Texts{"1", "\"a,]\"", "[2,3]", "{\"b\" : [4] }", "null"}));
}

TEST(JsonArray, HasNoElementsForTextThatIsNotAnArray) {
  for (const std::string_view text : {"", " ", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "]", "{}", "1",
                                      "null", "[1]x", "[1][2]", "[tru]"}) {
    EXPECT_FALSE(wire::array_elements(text, 16).has_value()) << text;
  }
}

struct Page {
  std::string_view result;
  ToolEffects effects;
};

TEST(ToolList, IsReadOnlyOnlyIfEveryToolSaysSo) {
  const std::vector<Page> pages = {
      {R"({"tools":[{"name":"a","annotations":{"readOnlyHint":true}}]})", ToolEffects::ReadOnly},
      {R"({"tools":[{"annotations":{"readOnlyHint":true,"destructiveHint":false}},
                    {"annotations":{"title":"x","readOnlyHint" : true }}],"_meta":{}})",
       ToolEffects::ReadOnly},
      {R"({"tools":[{"annotations":{"\u0072eadOnlyHint":true}}]})", ToolEffects::ReadOnly},
      {R"({"tools":[{"annotations":{"readOnlyHint":true}},{"name":"b"}]})", ToolEffects::MayChange},
      {R"({"tools":[{"annotations":{"readOnlyHint":false}}]})", ToolEffects::MayChange},
      {R"({"tools":[{"annotations":{"readOnlyHint":"true"}}]})", ToolEffects::MayChange},
      {R"({"tools":[{"annotations":{"readOnlyHint":1}}]})", ToolEffects::MayChange},
      {R"({"tools":[{"annotations":{"readOnlyHint":true,"readOnlyHint":false}}]})", ToolEffects::MayChange},
      {R"({"tools":[{"annotations":{"readOnlyHint":true,"destructiveHint":true}}]})", ToolEffects::MayChange},
      {R"({"tools":[{"annotations":{}}]})", ToolEffects::MayChange},
      {R"({"tools":[{"annotations":true}]})", ToolEffects::MayChange},
      {R"({"tools":[{"readOnlyHint":true}]})", ToolEffects::MayChange},
      {R"({"tools":[{"description":"\"readOnlyHint\":true"}]})", ToolEffects::MayChange},
      {R"({"tools":[7]})", ToolEffects::MayChange},
  };
  for (const Page& page : pages) EXPECT_EQ(effects_of_tools(page.result), page.effects) << page.result;
}

TEST(ToolList, SaysNothingIfItIsNotTheWholeList) {
  const std::vector<std::string_view> results = {
      R"({"tools":[{"annotations":{"readOnlyHint":true}}],"nextCursor":"2"})",
      R"({"tools":[{"annotations":{"readOnlyHint":true}}],"nextCursor":""})",
      R"({"tools":[]})",
      R"({"tools":{}})",
      R"({"tools":null})",
      R"({"tools":[{"annotations":{"readOnlyHint":true}}})",
      R"({"content":[]})",
      R"([])",
      "",
      "{",
  };
  for (const std::string_view result : results) {
    EXPECT_EQ(effects_of_tools(result), std::nullopt) << result;
  }
  EXPECT_EQ(effects_of_tools(R"({"nextCursor":null,"tools":[{"annotations":{"readOnlyHint":true}}]})"),
            ToolEffects::ReadOnly);
}

bool starts_with_a(std::string_view name) { return name.starts_with("a"); }

TEST(ToolList, LosesTheRefusedToolsAndNothingElse) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {R"({"tools":[{"name":"a1"},{"name":"a2"}]})", R"({"tools":[{"name":"a1"},{"name":"a2"}]})"},
      {R"({"tools":[{"name":"b"},{"name":"a"}]})", R"({"tools":[{"name":"a"}]})"},
      {R"({"tools":[{"name":"a"},{"name":"b"}]})", R"({"tools":[{"name":"a"}]})"},
      {R"({"tools":[{"name":"a1"},{"name":"b"},{"name":"a2"}]})",
       R"({"tools":[{"name":"a1"},{"name":"a2"}]})"},
      {R"({"tools":[{"name":"b"},{"name":"c"}]})", R"({"tools":[]})"},
      {R"({"x" : 1.0, "tools" : [ {"name" : "b"} , {"name" : "a", "e" : 1e2} ] , "nextCursor":"n" })",
       R"({"x" : 1.0, "tools" : [ {"name" : "a", "e" : 1e2} ] , "nextCursor":"n" })"},
      {R"({"tools":[{"name":"\u0061"},{"name":"\u0062"}]})", R"({"tools":[{"name":"\u0061"}]})"},
      {R"({"tools":[{"name":"a","name":"b"}]})", R"({"tools":[]})"},
      {R"({"tools":[{"title":"a"},{"name":7},5,{"name":"a"}]})", R"({"tools":[{"name":"a"}]})"},
      {R"({"tools":[]})", R"({"tools":[]})"},
      {R"({"tools":7})", R"({"tools":[]})"},
      {R"({"tools":[{"name":"b"}],"x":1,"tools":[{"name":"a"}]})", R"({"tools":[],"x":1,"tools":[]})"},
      {R"({"tools":[{"name":"a"}],"Tool\u017f":[{"name":"b"}]})", R"({"tools":[],"Tool\u017f":[]})"},
      {R"({"other":[{"name":"b"}]})", R"({"other":[{"name":"b"}]})"},
      {"{", "{"},
      {"", ""},
  };
  for (const auto& [before, after] : cases) EXPECT_EQ(without_tools(before, starts_with_a), after) << before;
}

TEST(ToolList, StaysJsonWhicheverToolsGo) {
  constexpr int kTools = 6;
  std::string result = "{ \"tools\": [ ";
  for (int i = 0; i < kTools; ++i) {
    result += (i == 0 ? "{\"name\":\"" : " , {\"name\":\"") + std::to_string(i) + "\"}";
  }
  result += " ] }";

  for (unsigned mask = 0; mask < 1U << kTools; ++mask) {
    const auto allowed = [mask](std::string_view name) { return (mask >> (name[0] - '0') & 1) != 0; };
    const std::string text = without_tools(result, allowed);

    boost::json::error_code error;
    const boost::json::value value = boost::json::parse(text, error);
    ASSERT_FALSE(error) << text;
    unsigned left = 0;
    for (const boost::json::value& tool : value.at("tools").as_array()) {
      left |= 1U << (tool.at("name").as_string()[0] - '0');
    }
    EXPECT_EQ(left, mask) << text;
  }
}

TEST(WithoutTools, LeavesOutANameThatIsTooLongToCompare) {
  const std::string name(1025, 'x');
  const std::string result = R"({"tools":[{"name":")" + name + R"("},{"name":"b"}]})";
  std::size_t longest = 0;

  const std::string shown = without_tools(result, [&longest](std::string_view tool) {
    longest = std::max(longest, tool.size());
    return true;
  });

  EXPECT_EQ(shown, R"({"tools":[{"name":"b"}]})");
  EXPECT_EQ(longest, 1U);
}

}  // namespace
}  // namespace corral::router
