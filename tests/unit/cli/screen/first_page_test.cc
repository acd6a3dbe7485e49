// What `corral` alone says on a terminal.
#include "cli/screen/first_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/commands/first_look.h"

namespace corral::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Le;
using testing::Not;

std::string page_of(const FirstLook& look) {
  std::ostringstream text;
  Page page(text, {80, true, false});
  show_first_page(page, look);
  return text.str();
}

FirstLook a_look() {
  FirstLook look;
  look.clients = {"Claude Code", "Codex", "Cursor", "Gemini CLI", "Zed"};
  look.running_clients = 2;
  look.kept = 9;
  look.open = 5;
  look.by_url = 3;
  look.running = "12 MCP servers (34 processes, 1.2 GB, oldest 3d 4h, newest 2m)";
  look.orphans = 2;
  look.other_findings = 1;
  look.daemon = "runs: version 0.1.0, 2 servers, 5 sessions";
  return look;
}

TEST(FirstPage, SaysWhatThereIsInAboutTenLinesOf80Columns) {
  const std::string text = page_of(a_look());

  EXPECT_THAT(text, AllOf(HasSubstr("Claude Code, Codex, Cursor, Gemini CLI and 1 more; 2 clients running"),
                          HasSubstr("17 servers configured: 9 kept by corral, 5 not kept yet, 3 by URL"),
                          HasSubstr("12 MCP servers (34 processes"), HasSubstr("2 orphans, 1 other finding"),
                          HasSubstr("version 0.1.0")));
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_THAT(line.size(), Le(80U)) << line;
  EXPECT_LE(count, 12U);
}

TEST(FirstPage, NamesThreeCommandsThatFitWhatItFound) {
  EXPECT_THAT(page_of(a_look()), AllOf(HasSubstr("Next:  corral adopt --all"),
                                       HasSubstr("corral reap --orphans"), HasSubstr("corral --help")));
  FirstLook kept = a_look();
  kept.open = kept.orphans = 0;
  EXPECT_THAT(page_of(kept),
              AllOf(HasSubstr("Next:  corral ps"), HasSubstr("corral doctor"), Not(HasSubstr("adopt"))));
  EXPECT_THAT(page_of({}), AllOf(HasSubstr("Next:  corral add NAME -- COMMAND"), HasSubstr("corral doctor")));
}

TEST(FirstPage, SaysThatThereIsNothing) {
  EXPECT_THAT(page_of({}), AllOf(HasSubstr("none of your clients has MCP servers"),
                                 HasSubstr("none configured"), HasSubstr("no MCP server\n"),
                                 HasSubstr("leaks     none found"), HasSubstr("not running")));
}

TEST(FirstPage, SaysWhyTheProcessesAreNotKnown) {
  FirstLook look = a_look();
  look.trouble = "/proc is not mounted";
  EXPECT_THAT(page_of(look), AllOf(HasSubstr("running   /proc is not mounted"), Not(HasSubstr("leaks"))));
}

TEST(FirstLookAtFiles, CountsServersByWhatCanBeDoneWithThem) {
  adopt::FileLook file;
  file.file.client = known::find_client("cursor");
  for (const adopt::Verdict verdict :
       {adopt::Verdict::Wrap, adopt::Verdict::Wrap, adopt::Verdict::Kept, adopt::Verdict::Url,
        adopt::Verdict::Refused, adopt::Verdict::Switch}) {
    adopt::FoundServer server;
    server.judged.verdict = verdict;
    file.servers.push_back(server);
  }
  FirstLook look;
  add_file(file, look);
  add_file(file, look);
  EXPECT_EQ(look.open, 4U);
  EXPECT_EQ(look.kept, 2U);
  EXPECT_EQ(look.by_url, 2U);
  EXPECT_EQ(look.refused, 2U);
  EXPECT_THAT(look.clients, ElementsAre("Cursor"));
  adopt::FileLook broken;
  broken.file.client = known::find_client("zed");
  broken.error = "mcp.json:1:1: …";
  add_file(broken, look);
  EXPECT_EQ(look.unreadable_files, 1U);
  EXPECT_THAT(look.clients, ElementsAre("Cursor")) << "what has no servers is not counted";
}

}  // namespace
}  // namespace corral::cli
