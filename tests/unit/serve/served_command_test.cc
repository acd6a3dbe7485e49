// The way of a command from the first life of `corral serve -- COMMAND` to the second.
#include "serve/served_command.h"

#include <gtest/gtest.h>

namespace corral::serve {
namespace {

TEST(ServedCommand, ArrivesAsItWas) {
  ServeOptions sent;
  sent.command = {"sh", "-c", "echo \"two\nlines\"", ""};
  sent.cwd = "/srv/a b";
  sent.environment = {"A=1", "EMPTY="};

  ServeOptions got;
  ASSERT_TRUE(parse_served_command(served_command_text(sent), got));

  EXPECT_EQ(got.command, sent.command);
  EXPECT_EQ(got.cwd, sent.cwd);
  EXPECT_EQ(got.environment, sent.environment);
}

TEST(ServedCommand, IsNotTakenFromAnythingElse) {
  ServeOptions options;
  options.command = {"x", "y"};
  const std::string whole = served_command_text(options);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse_served_command(whole.substr(0, length), options)) << length;
  }
  using namespace std::string_literals;
  for (const std::string& text : {"0\0/\0"s, "-1\0/\0"s, "x\0/\0a\0"s, "99999999999999999999\0/\0a\0"s}) {
    EXPECT_FALSE(parse_served_command(text, options)) << text;
  }
}

TEST(JanitorsWords, AreToldFromACommand) {
  EXPECT_TRUE(is_from_janitor({"@janitor", "5", "6"}));
  EXPECT_TRUE(is_from_janitor({"@command", "7", "@janitor", "5", "6"}));
  EXPECT_FALSE(is_from_janitor({}));
  EXPECT_FALSE(is_from_janitor({"npx", "@janitor", "5", "6"}));
  EXPECT_FALSE(is_from_janitor({"npx", "-y", "@janitor", "5", "6"}));
  EXPECT_FALSE(is_from_janitor({"@command", "7", "server"}));
}

}  // namespace
}  // namespace corral::serve
