// What people are shown of the servers that run on a machine.
#include "cli/screen/server_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "cli/commands/reap_options.h"
#include "cli/commands/reap_tips.h"

namespace corral::cli {
namespace {

using survey::Server;
using survey::Survey;

Server server(pid_t pid, int minutes) {
  Server one;
  one.pid = pid;
  one.tree = {pid, pid + 1};
  one.uid = geteuid();
  one.command.name = "server.js";
  one.shown = "node server.js";
  one.age = std::chrono::minutes(minutes);
  one.certainty = Server::Certainty::Confirmed;
  one.client.id = "codex";
  one.client.name = "Codex";
  one.client.pid = 812;
  one.memory.resident = std::uint64_t{10} << 20;
  return one;
}

std::string shown(const Survey& survey, Rows rows, bool unicode = false) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < survey.servers.size(); ++i) all.push_back(i);
  std::ostringstream out;
  Page page(out, TerminalStyle{100, unicode, false});
  show_servers(page, survey, all, rows);
  return out.str();
}

TEST(ServerTable, HasARowForEachServer) {
  Survey survey;
  survey.servers = {server(100, 90), server(200, 5), server(300, 1), server(400, 0)};
  survey.servers[0].state = Server::State::Orphan;
  survey.servers[0].client.pid = 0;
  survey.servers[0].command.version = "1.2.3";
  survey.servers[0].command.name = "@scope/files";
  survey.servers[1].certainty = Server::Certainty::Possible;
  survey.servers[1].command.name.clear();
  survey.servers[1].client.pid = 0;
  survey.servers[2].client = {};
  survey.servers[2].client.name = "unknown";
  survey.servers[2].state = Server::State::Orphan;
  survey.servers[2].command.name = "@noscope";
  survey.servers[3].command.name = "a/b";
  survey.servers[3].tree = {400};

  EXPECT_EQ(shown(survey, Rows::All), R"(  PID  STATE     AGE     PROCS  MEMORY  SERVER          CLIENT
  100  orphan    1h 30m      2   10 MB  files 1.2.3     Codex (gone)
  200  serving?  5m          2   10 MB  node server.js  Codex
  300  orphan    1m          2   10 MB  @noscope        unknown
  400  serving   0s          1   10 MB  a/b             Codex (pid 812)
)");
}

TEST(ServerTable, NamesTheUsersIfThereAreOthers) {
  Survey survey;
  survey.servers = {server(100, 90), server(200, 5)};
  survey.servers[0].uid = 4294967000U;

  const std::string text = shown(survey, Rows::All);

  EXPECT_NE(text.find("MEMORY  USER "), std::string::npos) << text;
  EXPECT_NE(text.find("  4294967000  server.js"), std::string::npos) << text;
}

TEST(ServerTable, LeavesOutTheMiddleOfALongList) {
  Survey survey;
  for (int i = 0; i < 12; ++i) survey.servers.push_back(server(100 + i, 60 - i));
  EXPECT_EQ(shown(survey, Rows::Few), shown(survey, Rows::All)) << "twelve are few";
  survey.servers.push_back(server(112, 48));

  EXPECT_EQ(shown(survey, Rows::Few), R"(  PID  STATE    AGE  PROCS  MEMORY  SERVER     CLIENT
  100  serving  1h       2   10 MB  server.js  Codex (pid 812)
  101  serving  59m      2   10 MB  server.js  Codex (pid 812)
  102  serving  58m      2   10 MB  server.js  Codex (pid 812)
  ...
  110  serving  50m      2   10 MB  server.js  Codex (pid 812)
  111  serving  49m      2   10 MB  server.js  Codex (pid 812)
  112  serving  48m      2   10 MB  server.js  Codex (pid 812)
  (7 more; -v shows all)
)");
  EXPECT_NE(shown(survey, Rows::Few, true).find("\n  …"), std::string::npos);
  EXPECT_EQ(shown(survey, Rows::All).find("more between"), std::string::npos);
  EXPECT_NE(shown(survey, Rows::All).find("\n  109  serving"), std::string::npos);
}

TEST(ServerTable, SumsUpWhatServersUse) {
  Survey survey;
  survey.servers = {server(100, 90), server(200, 5), server(300, 20)};
  survey.servers[2].memory.swapped = std::uint64_t{1} << 20;

  EXPECT_EQ(sum_of(survey, {0, 1, 2}), "6 processes, 31 MB, oldest 1h 30m, newest 5m");
  EXPECT_EQ(sum_of(survey, {2}), "2 processes, 11 MB, age 20m");
  survey.servers[1].tree = {200};
  EXPECT_EQ(sum_of(survey, {1}), "1 process, 10 MB, age 5m");
  EXPECT_EQ(sum_of(survey, {}), "0 processes, 0 B, age 0s");
  EXPECT_EQ(count(0, "copy", "copies"), "0 copies");
  EXPECT_EQ(count(1, "copy", "copies"), "1 copy");
  EXPECT_EQ(count(2, "copy", "copies"), "2 copies");
}

// ---- what reap says

TEST(ReapWords, ExplainEveryOutcome) {
  using Kind = reap::Outcome::Kind;
  const auto said = [](Kind kind, int signo = 0) { return explain({7, "node", kind, signo}); };
  EXPECT_EQ(said(Kind::Ended, SIGTERM), "ended by SIGTERM");
  EXPECT_EQ(said(Kind::Ended, SIGKILL), "ended by SIGKILL");
  EXPECT_EQ(said(Kind::AlreadyGone), "was already gone");
  EXPECT_EQ(said(Kind::NoPermission),
            "cannot be signalled: it has privileges that you do not have; end it as root");
  EXPECT_EQ(
      said(Kind::Uninterruptible),
      "is blocked in the kernel and cannot be interrupted; it ends when the file system or device answers");
  EXPECT_EQ(said(Kind::StillThere), "is still running after SIGKILL; inspect it with `corral who 7`");
  EXPECT_EQ(said(Kind::NotProved), "may be another process by now, so it was left alone");
  EXPECT_EQ(said(Kind::OtherUser), "belongs to another user: run corral as that user");
  EXPECT_EQ(said(Kind::Debugged), "is being debugged: detach the debugger first");
  EXPECT_EQ(said(Kind::OwnAncestor), "is an ancestor of this command");
  EXPECT_EQ(said(Kind::OtherInstance), "belongs to another corral below it, whose keeper is running");
}

TEST(ReapWords, SelectorsAreTypedAsTheyWereMeant) {
  reap::Selectors selectors;
  EXPECT_EQ(typed(selectors), "");
  selectors.orphans = true;
  selectors.pile_ups = true;
  selectors.keep = 3;
  selectors.client = "Claude Code";
  selectors.match = "files";
  selectors.older_than = std::chrono::milliseconds(1);
  selectors.parent = 1;
  selectors.possible = true;
  EXPECT_EQ(typed(selectors),
            " --orphans --pile-ups --keep 3 --client 'Claude Code' --match files --older-than 1ms --parent 1 "
            "--possible");
}

TEST(ReapWords, EachSelectorButOneIsAChoice) {
  const std::vector<std::pair<std::string, std::string>> values = {
      {"--orphans", ""}, {"--pile-ups", ""},      {"--keep", "3"},   {"--client", "codex"},
      {"--match", "x"},  {"--older-than", "30m"}, {"--parent", "7"}, {"--possible", ""}};
  std::string all;
  for (const auto& [name, value] : values) {
    reap::Selectors selectors;
    std::optional<std::size_t> keep;
    for (const Option& option : selector_options(selectors, keep)) {
      if (option.names == name) {
        ASSERT_TRUE(option.apply(value)) << name;
      }
    }
    EXPECT_EQ(selectors.explicit_choice, name != "--possible") << name;
    if (keep) selectors.keep = *keep;
    all += typed(selectors);
  }
  EXPECT_EQ(
      all,
      " --orphans --pile-ups --keep 3 --client codex --match x --older-than 1800000ms --parent 7 --possible");
}

std::string tips(const Survey& survey, const reap::Selectors& selectors,
                 const std::vector<reap::Group>& groups, const std::vector<reap::EndedTree>& ended = {}) {
  std::ostringstream out;
  Page page(out, TerminalStyle{100, false, false});
  show_tips(page, survey, selectors, groups, ended);
  return out.str();
}

TEST(ReapWords, TipsSayWhatComesNext) {
  Survey survey;
  EXPECT_EQ(tips(survey, {}, {}),
            "\ntip: no MCP server is running; `corral doctor` shows what your clients would start\n");
  survey.servers = {server(100, 90)};
  EXPECT_EQ(tips(survey, {}, {}),
            "\ntip: nothing to end; `corral doctor -v` shows why each server is kept\n");
  reap::Group orphans;
  orphans.end = {0};
  reap::Group pile;
  pile.kind = reap::Group::Kind::PileUp;
  EXPECT_EQ(tips(survey, {}, {orphans}), R"(
tip: to end all of these without being asked: corral reap --orphans --yes
tip: put `corral run --` before a server's command in its client's configuration, so that it cannot
     be orphaned again
)");
  survey.servers[0].command.launcher = "docker";
  EXPECT_EQ(tips(survey, {}, {pile, orphans}), R"(
tip: to end all of these without being asked: corral reap --orphans --pile-ups --yes
tip: put `corral run --` before a server's command in its client's configuration, so that it cannot
     be orphaned again
tip: `corral watch --foreign end` ends older copies for as long as it runs
tip: a container may outlive its `docker run`; check `docker ps`
)");
  reap::Selectors only;
  only.pile_ups = true;
  EXPECT_EQ(tips(survey, only, {pile}), R"(
tip: to end all of these without being asked: corral reap --pile-ups --yes
tip: `corral watch --foreign end` ends older copies for as long as it runs
)");
  EXPECT_EQ(tips(survey, only, {pile}, {{7, {{7, "node", reap::Outcome::Kind::Ended, SIGTERM}}}}),
            R"(
tip: `corral watch --foreign end` ends older copies for as long as it runs
)");
}

TEST(ReapWords, EveryServerThatIsKeptHasAReason) {
  reap::Selectors selectors;
  selectors.keep = 4;
  Server one = server(100, 90);
  EXPECT_EQ(why_kept(one, Leaked::Yes, selectors), "leaked, but not selected");
  EXPECT_EQ(why_kept(one, Leaked::No, selectors), "in use by a client, and not beyond its 4 newest");
  one.client.pid = 0;
  EXPECT_EQ(why_kept(one, Leaked::No, selectors), "in use by a process that corral cannot see");
  one.state = Server::State::Apart;
  EXPECT_EQ(why_kept(one, Leaked::No, selectors), "independent: no client holds their pipes");
  one.certainty = Server::Certainty::Possible;
  EXPECT_EQ(why_kept(one, Leaked::No, selectors), "only look like MCP servers (--possible includes them)");
  one.state = Server::State::Kept;
  EXPECT_EQ(why_kept(one, Leaked::No, selectors),
            "below a running corral, which ends them with their session");
}

}  // namespace
}  // namespace corral::cli
