#include "config/toml_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::config {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

using Keys = std::vector<std::string>;

std::string value_of(const std::string& text, const TomlMember& member) {
  return text.substr(member.place.value, member.place.end - member.place.value);
}

TEST(TomlPlaces, FindsTablesAndMembers) {
  const std::string text =
      "\xEF\xBB\xBF# [no]\nroot = 1 # = 2\n\n [ a . \"b.c\" ] # x\r\n'k \"' = \"v # \\\" \"\r\n"
      "d.e = 1979-05-27 07:32:00 # when\n[[list]]\nlast = [ 1, # ]\n 2 ]";

  const std::vector<TomlTable> tables = find_toml_tables(text);

  ASSERT_THAT(tables, SizeIs(3));
  EXPECT_THAT(tables[0].members, SizeIs(1));
  EXPECT_EQ(value_of(text, tables[0].members[0]), "1");
  EXPECT_THAT(tables[1].key, ElementsAre("a", "b.c"));
  ASSERT_THAT(tables[1].members, SizeIs(2));
  EXPECT_THAT(tables[1].members[0].key, ElementsAre("k \""));
  EXPECT_EQ(value_of(text, tables[1].members[0]), "\"v # \\\" \"");
  EXPECT_THAT(tables[1].members[1].key, ElementsAre("d", "e"));
  EXPECT_EQ(value_of(text, tables[1].members[1]), "1979-05-27 07:32:00");
  EXPECT_TRUE(tables[2].element);
  EXPECT_EQ(value_of(text, tables[2].members[0]), "[ 1, # ]\n 2 ]");
}

TEST(TomlPlaces, FindsTheEndOfEveryString) {
  const auto end = [](const std::string& text) { return skip_toml_value(text + ", x", 0) == text.size(); };
  for (const char* const text :
       {"\"\"", "''", "\"a\\\\\"", "'a\\'", "\"\"\"a\"b\"\"\"", "\"\"\"a\"\"\"\"\"", "''''''", "'''a''b'''",
        "\"\"\"\\\"\"\"\"", "{ a = \"}\" }", "[[1], ['],']]", "true", "-1.5e3"}) {
    EXPECT_TRUE(end(text)) << text;
  }
}

TEST(TomlPlaces, FindsKeysWithEscapes) {
  const std::vector<TomlTable> tables = find_toml_tables("[\"\\u0061\\n\"]\n");
  EXPECT_EQ(tables.back().key, Keys{"a\n"});
}

TEST(TomlPlaces, FindsMembersOfAnInlineTable) {
  const std::string text = "{ a = 1, \"b\" = { c = [1, 2] } , d.e='x' }";
  const std::vector<TomlMember> members = find_inline_members(text, 0);
  ASSERT_THAT(members, SizeIs(3));
  EXPECT_EQ(value_of(text, members[1]), "{ c = [1, 2] }");
  EXPECT_THAT(members[2].key, ElementsAre("d", "e"));
}

TEST(TomlPlaces, FindsElements) {
  const std::string text = "[ # no ]\n 'a' , \"b\",\n]";
  const std::vector<TextRange> elements = find_toml_elements(text, 0);
  ASSERT_THAT(elements, SizeIs(2));
  EXPECT_EQ(text.substr(elements[1].begin, elements[1].end - elements[1].begin), "\"b\"");
  EXPECT_THAT(find_toml_elements("[]", 0), SizeIs(0));
}

}  // namespace
}  // namespace corral::config
