// Command lines that cannot be meant: each is refused with words that say what to write instead, before
// anything is done or any daemon is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "support/daemon_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kOwnFailure = 125;

struct Wrong {
  std::vector<std::string> words;
  const char* said;
};

const std::vector<Wrong> kWrong = {
    {{"ad"}, "unknown command 'ad'"},
    {{"add"}, "corral add"},
    {{"add", "files"}, "corral add"},
    {{"add", "files", "--"}, "corral add"},
    {{"add", "one", "two", "--", "x"}, "corral add"},
    {{"completions"}, "name one shell"},
    {{"completions", "bash", "zsh"}, "name one shell"},
    {{"completions", "csh"}, "'csh' is not a supported shell"},
    {{"config"}, "subcommand missing"},
    {{"config", "check", "a", "b"}, "unexpected argument 'b'"},
    {{"config", "--config", "a", "check", "b"}, "two files given"},
    {{"connect"}, "corral connect"},
    {{"connect", "one", "two"}, "unexpected argument 'two'"},
    {{"events", "more"}, "more"},
    {{"import"}, "name one file"},
    {{"import", "a", "b"}, "name one file"},
    {{"logs"}, "give the name of one server"},
    {{"logs", ""}, "give the name of one server"},
    {{"logs", "one", "two"}, "give the name of one server"},
    {{"man", "one", "two"}, "give one command"},
    {{"man", "nothing"}, "unknown command 'nothing'"},
    {{"mcp", "more"}, "more"},
    {{"reap", "more"}, "more"},
    {{"reload", "more"}, "more"},
    {{"remove"}, "name one server"},
    {{"remove", "one", "two"}, "name one server"},
    {{"restart"}, "give the name of one server"},
    {{"start", "one", "two"}, "give the name of one server"},
    {{"stop", ""}, "give the name of one server"},
    {{"serve", "more"}, "unexpected argument 'more'"},
    {{"service"}, "one subcommand expected"},
    {{"service", "bake"}, "unknown subcommand 'bake'"},
    {{"session"}, "create, end or list"},
    {{"session", "bake"}, "create, end or list"},
    {{"session", "end"}, "give the id of one session"},
    {{"session", "end", "1", "2"}, "give the id of one session"},
    {{"session", "list", "--server", "a"}, "only `corral session create`"},
    {{"session", "create", "a"}, "unexpected argument 'a'"},
    {{"session", "create", "--"}, "no command after `--`"},
    {{"shutdown", "more"}, "more"},
    {{"status", "more"}, "more"},
    {{"token"}, "create, list or revoke"},
    {{"token", "bake"}, "create, list or revoke"},
    {{"token", "create"}, "give the name of one token"},
    {{"token", "revoke", "a", "b"}, "give the name of one token"},
    {{"token", "list", "--server", "a"}, "only `corral token create`"},
    {{"token", "revoke", "a", "--root", "/"}, "only `corral token create`"},
    {{"top", "--interval", "99ms"}, "between 100ms and 1h"},
    {{"top", "--interval", "61m"}, "between 100ms and 1h"},
    {{"top", "--json"}, "--json requires --batch"},
    {{"url"}, "give the name of one server"},
    {{"url", "a", "b"}, "give the name of one server"},
    {{"watch", "--interval", "99ms"}, "between 100ms and 24h"},
    {{"watch", "--interval", "25h"}, "up to 24h"},
    {{"watch", "--foreign", "end", "--keep", "0"}, "set --keep to 1 or more"},
    {{"who"}, "give one pid"},
    {{"who", "1", "2"}, "give one pid"},
    {{"who", "nobody"}, "nobody"},
};

class Usage : public DaemonTest {
 protected:
  Words say(const std::vector<std::string>& words) const {
    Launch launch = command("status");
    launch.argv = {programs().corral};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    launch.stderr_path = path("stderr-usage");
    unlink(launch.stderr_path.c_str());
    Session session(launch);
    Words said;
    said.out = session.output_to_end();
    said.code = session.wait().value_or(-1);
    said.err = file("stderr-usage");
    return said;
  }
};

TEST_F(Usage, OfWrongWordsIsSaidAndNothingIsDone) {
  for (const Wrong& wrong : kWrong) {
    std::string line = "corral";
    for (const std::string& word : wrong.words) line += " '" + word + "'";
    SCOPED_TRACE(line);
    const Words said = say(wrong.words);
    EXPECT_EQ(said.code, kOwnFailure);
    EXPECT_THAT(said.err, HasSubstr(wrong.said));
    EXPECT_THAT(said.out, IsEmpty());
  }
  EXPECT_NE(access(in_runtime_dir("corral.sock").c_str(), F_OK), 0) << "no daemon was started";
}

TEST_F(Usage, OfAnEntryShowsWhatItAllowsAndDenies) {
  const std::string config = path("servers.json");
  std::ofstream(config) << R"({"mcpServers":{"files":{"command":"/bin/cat","tools":["read_*"],)"
                        << R"("deny":["read_secret"]}}})";
  const Words text = say({"config", "check", config});
  const Words json = say({"config", "check", "--json", config});

  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("read_*"));
  EXPECT_THAT(text.out, HasSubstr("read_secret"));
  EXPECT_THAT(json.out, HasSubstr(R"("deny":["read_secret"])"));
}

}  // namespace
}  // namespace corral::os_tests
