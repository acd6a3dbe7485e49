#include "serve/welcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "version.h"

namespace corral::serve {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kFirst =
    std::string("corral ") + kVersion + " serves, as process 4711. Ctrl+C ends it and all its servers.\n";

Welcome with_servers(std::vector<std::string> servers) {
  return {4711, "/home/you/.config/corral/config.json", true, std::move(servers), "", ""};
}

TEST(Welcome, SaysWhatIsServedAndHowToConnect) {
  Welcome daemon = with_servers({"files", "memory"});
  daemon.url = "http://127.0.0.1:8765";

  EXPECT_EQ(welcome_text(daemon), kFirst + R"(  servers   files, memory
  from      /home/you/.config/corral/config.json
  clients   start `corral connect files`
  try it    `corral tools files`
  by URL    http://127.0.0.1:8765/mcp/NAME
  look      `corral ps`, `corral top`
)");
}

TEST(Welcome, SaysWhatToDoWithoutServersOrWithoutAConfiguration) {
  EXPECT_THAT(welcome_text(with_servers({})), HasSubstr("`corral add NAME -- COMMAND` adds one"));
  Welcome nothing = with_servers({});
  nothing.config_found = false;
  EXPECT_THAT(welcome_text(nothing),
              HasSubstr("none configured: there is no file\n            /home/you/.config"));
  EXPECT_THAT(welcome_text(nothing), HasSubstr("corral connect -- COMMAND"));
  EXPECT_THAT(welcome_text(nothing), HasSubstr("not without `corral serve --port 8765`"));
}

TEST(Welcome, NamesTheOnlyServerAndItsUrl) {
  Welcome daemon = with_servers({"files"});
  daemon.command = "some-server";
  daemon.url = "http://127.0.0.1:8765";

  EXPECT_EQ(welcome_text(daemon), kFirst + R"(  server    some-server
  by URL    http://127.0.0.1:8765/mcp
            http://127.0.0.1:8765/sse     for old clients
  clients   add it, as in
  claude mcp add --transport http some-server http://127.0.0.1:8765/mcp
)");
}

TEST(Welcome, IsShortAndDoesNotSteerTheTerminal) {
  const std::string text =
      welcome_text(with_servers({"one\x1b[2J", "two\n", "three", "four", "five", "six", "seven"}));

  EXPECT_THAT(text, HasSubstr("three, four, five and 2 more"));
  EXPECT_THAT(text, Not(HasSubstr("six")));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7);
}

TEST(Welcome, HasNoLineThatIsWiderThanATerminal) {
  const std::string long_name(40, 'n');

  std::istringstream lines(welcome_text(with_servers({long_name, long_name, "short"})));

  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;

  Welcome one = with_servers({});
  one.command = "server-everything";
  one.url = "http://127.0.0.1:8765";
  std::istringstream more(welcome_text(one));
  for (std::string line; std::getline(more, line);) EXPECT_LE(line.size(), 80U) << line;
}

}  // namespace
}  // namespace corral::serve
