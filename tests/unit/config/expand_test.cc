#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/configuration.h"

namespace corral::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

using Words = std::vector<std::string>;

Server server_of(Words argv) {
  Server server;
  server.name = "files";
  server.argv = std::move(argv);
  return server;
}

std::string expanded(const std::string& word, const Words& environment) {
  const Result<Server> result = expand(server_of({"x", word}), environment);
  return result ? result->argv.at(1) : "error: " + result.error().message;
}

TEST(Expand, ReplacesVariablesInTheCommandTheEnvironmentAndTheDirectory) {
  Server server = server_of({"${BIN}/x", "--root=${HOME}/a", "plain"});
  server.env = {{"KEY", "${TOKEN}"}, {"${HOME}", "name"}};
  server.cwd = "${HOME}/work";

  const Result<Server> result = expand(server, {"BIN=/opt", "HOME=/home/me", "TOKEN=t"});

  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->argv, ElementsAre("/opt/x", "--root=/home/me/a", "plain"));
  EXPECT_THAT(result->env, ElementsAre(Pair("KEY", "t"), Pair("${HOME}", "name")));
  EXPECT_EQ(result->cwd, "/home/me/work");
}

TEST(Expand, TakesTheDefaultForWhatIsUnsetOrEmpty) {
  EXPECT_EQ(expanded("${A:-b c}", {}), "b c");
  EXPECT_EQ(expanded("${A:-b}", {"A="}), "b");
  EXPECT_EQ(expanded("${A:-b}", {"A=a"}), "a");
  EXPECT_EQ(expanded("<${A:-}>", {}), "<>");
  EXPECT_EQ(expanded("<${A}>", {"A="}), "<>");
}

TEST(Expand, DoesNotExpandWhatAVariableHolds) { EXPECT_EQ(expanded("${A}", {"A=${B}", "B=b"}), "${B}"); }

TEST(Expand, TakesWholeNamesOnly) { EXPECT_EQ(expanded("${A}${AB}", {"AB=2", "A=1"}), "12"); }

TEST(Expand, KnowsTheFormsOfOtherClients) {
  EXPECT_EQ(expanded("${env:A}", {"A=1"}), "1");
  EXPECT_EQ(expanded("${userHome}/x", {"HOME=/h"}), "/h/x");
  EXPECT_THAT(expanded("${input:key}", {}), HasSubstr("cannot prompt for values"));
  EXPECT_THAT(expanded("${workspaceFolder}", {}), HasSubstr("${CORRAL_ROOT}"));
}

TEST(Expand, LeavesTextThatIsNotAVariable) {
  for (const char* word : {"$", "$A", "${", "${}", "${1}", "${a b}", "${x%.*}", "${A", "}", "$}{"}) {
    EXPECT_EQ(expanded(word, {"A=1"}), word);
  }
  EXPECT_EQ(expanded("${x ${A}", {"A=1"}), "${x 1");
}

TEST(Expand, LetsTwoDollarsStandForOne) {
  EXPECT_EQ(expanded("$${A} ${A}", {"A=1"}), "${A} 1");
  EXPECT_EQ(expanded("${A}$${A}", {"A=1"}), "1${A}");
}

TEST(Expand, NamesTheVariableTheServerAndThePlaceOfWhatIsMissing) {
  Server server = server_of({"x", "a", "${NOPE}"});
  EXPECT_THAT(expand(server, {"OTHER=hush"}).error().message,
              AllOf(HasSubstr("server 'files'"), HasSubstr("args[1]"), HasSubstr("NOPE"),
                    HasSubstr("not set"), Not(HasSubstr("hush"))));

  server = server_of({"${NOPE}"});
  EXPECT_THAT(expand(server, {}).error().message, HasSubstr("command"));
  server = server_of({"x"});
  server.env = {{"KEY", "${NOPE}"}};
  EXPECT_THAT(expand(server, {}).error().message, HasSubstr("env.KEY"));
  server.env.clear();
  server.cwd = "${NOPE}";
  EXPECT_THAT(expand(server, {}).error().message, HasSubstr("cwd"));
}

TEST(Expand, RefusesAVariableInADefault) {
  EXPECT_THAT(expanded("${A:-${B}}", {"A=1", "B=2"}), HasSubstr("default"));
}

TEST(Expand, RefusesADirectoryThatIsRelativeInTheEnd) {
  Server server = server_of({"x"});
  server.cwd = "${A}/b";

  EXPECT_THAT(expand(server, {"A=a"}).error().message, HasSubstr("absolute"));
}

TEST(Expand, RefusesACommandThatIsEmptyInTheEnd) {
  EXPECT_THAT(expand(server_of({"${A}"}), {"A="}).error().message, HasSubstr("command is empty"));
}

TEST(Expand, RefusesMoreThanAProgramCanBeGiven) {
  const std::string large = "A=" + std::string(100'000, 'a');
  const std::string refusal = "longer than the kernel allows";
  EXPECT_NE(expanded("${A}${A}", {large}).find(refusal), std::string::npos);
  EXPECT_NE(expanded(std::string(200'000, 'x'), {}).find(refusal), std::string::npos);

  Words many(1000, "${A}");
  EXPECT_THAT(expand(server_of(many), {large}).error().message, HasSubstr(refusal));
}

TEST(AllowsTool, TakesNoListAndAStarForAll) {
  Server server;
  EXPECT_TRUE(allows_tool(server, "anything"));
  EXPECT_FALSE(limits_tools(server));
  server.tools = Words{"read", "*"};
  EXPECT_TRUE(allows_tool(server, "anything"));
  EXPECT_TRUE(allows_tool(server, ""));
  EXPECT_FALSE(limits_tools(server));
}

TEST(AllowsTool, TakesAnEmptyListForNone) {
  Server server;
  server.tools = Words{};
  EXPECT_FALSE(allows_tool(server, "anything"));
  EXPECT_FALSE(allows_tool(server, ""));
  EXPECT_TRUE(limits_tools(server));
}

TEST(AllowsTool, DeniesAfterItHasAllowed) {
  Server server;
  server.deny = {"delete_*", "drop"};
  EXPECT_TRUE(limits_tools(server));
  for (const char* tool : {"read", "undelete_x", "dropped"}) EXPECT_TRUE(allows_tool(server, tool)) << tool;
  for (const char* tool : {"delete_", "delete_file", "drop"}) EXPECT_FALSE(allows_tool(server, tool)) << tool;

  server.tools = Words{"delete_file", "read"};
  EXPECT_TRUE(allows_tool(server, "read"));
  EXPECT_FALSE(allows_tool(server, "delete_file")) << "what is denied stays denied";
  EXPECT_FALSE(allows_tool(server, "write"));
  server.deny = {"*"};
  EXPECT_FALSE(allows_tool(server, "read"));
}

TEST(AllowsTool, MatchesNamesAndStars) {
  Server server;
  server.tools = Words{"read_file", "list_*", "*_info", "a*b*c"};
  for (const char* tool : {"read_file", "list_", "list_dirs", "get_info", "abc", "a-b-b-c", "abbcbc"}) {
    EXPECT_TRUE(allows_tool(server, tool)) << tool;
  }
  for (const char* tool : {"read_files", "xread_file", "list", "info", "ac", "abcd", "", "READ_FILE"}) {
    EXPECT_FALSE(allows_tool(server, tool)) << tool;
  }
}

TEST(AllowsTool, IsQuickWithManyStars) {
  Server server;
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  server.tools = Words{pattern + "b"};

  EXPECT_FALSE(allows_tool(server, std::string(5000, 'a')));
}

}  // namespace
}  // namespace corral::config
