// What a person is shown by `corral config`, letter by letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/file_commands.h"
#include "cli/frame/command.h"

namespace corral::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ConfigOutput : public FileCommands {};

// ---- config

constexpr const char* kFullFile = R"({
  // a comment
  "corral": {"http": {"port": 8765, "bind": "0.0.0.0", "hosts": ["box.lan"], "origins": ["https://a.example"],
      "idle": "10m"}, "watch": {"interval": "5m", "foreign": "report"}, "history": 2, "min_version": "0.1.0",
    "line_cap": "8MiB", "drain": "3s", "linger": "1h", "max_instances": 7, "keep": 3},
  "mcpServers": {
    "files": {"command": "true", "args": ["-y", "a server"], "env": {"API_KEY": "secret", "MODE": "fast"},
      "cwd": "/srv", "timeout": 5000, "tools": ["read_*", "list"], "deny": ["delete_*"],
      "corral": {"share": "root", "memory": "512MiB", "pids": 64, "cpu": 1.5, "restart": false, "probe": "0s",
        "idle": "5m", "recycle": "1GiB", "park": true, "eager": true, "warm": 2, "min_version": "1.2",
        "era": "modern", "on_change": "roll", "containment": "strict", "stdin_grace": "1s", "term_grace": "2s",
        "on_stop": "echo bye"}},
    "plain": {"command": "true", "corral": {"stateless": true, "park": false, "on_change": "ignore"}},
    "off": {"command": "true", "disabled": true, "tools": [], "env": {"X": "${NOT_THERE_AT_ALL}"},
      "corral": {"share": "session", "on_change": "warn"}},
    "needy": {"command": "true", "env": {"X": "${NOT_THERE_AT_ALL}"}, "corral": {"share": "shared"}}}})";

constexpr const char* kShownOfIt = R"(~/corral.json: 4 servers

files
  command  true -y 'a server'
  env      API_KEY=***
  env      MODE=fast
  cwd      /srv
  share    root: one instance for each project
  tools    read_*, list
  deny     delete_*
  timeout  5s for one call
  kept by  containment strict, memory 512 MB, processes 64, processor 150%
  start    when a session attaches, with 2 kept ready, only if its version is 1.2 or later, treated
           as a modern server; new sessions get the new code when its files change
  life     not restarted after a crash, not probed, stopped after 5m without use, replaced when it
           uses more than 1.0 GB, parked if its session is silent
  end      1s after its input ended, then 2s after SIGTERM
  on stop  echo bye

plain
  command  true
  cwd      the client's
  share    auto, and marked stateless: shared
  kept by  containment auto
  start    at the first call that needs it; its files are not watched
  life     restarted after a crash, probed after 1m of silence, stopped after 10m without use, never
           parked
  end      2s after its input ended, then 3s after SIGTERM

off (disabled)
  command  true
  env      X=${NOT_THERE_AT_ALL}
  cwd      the client's
  share    session: one instance for each session
  tools    none
  kept by  containment auto
  start    at the first call that needs it; a change to its files is only reported
  life     restarted after a crash, probed after 1m of silence, stopped after 10m without use,
           parked if it keeps no state and its session is silent
  end      2s after its input ended, then 3s after SIGTERM

needy
  command  true
  env      X=${NOT_THERE_AT_ALL}
  cwd      the client's
  share    shared by all sessions that start it in the same way
  kept by  containment auto
  start    at the first call that needs it; new sessions get the new code when its files change
  life     restarted after a crash, probed after 1m of silence, stopped after 10m without use,
           parked if it keeps no state and its session is silent
  end      2s after its input ended, then 3s after SIGTERM

daemon: messages up to 8.0 MB, drains for 3s, stays for 60m without sessions, runs up to 7
        instances, keeps 3 idle ones per server
http: 0.0.0.0:8765, which requires a token (`corral token create NAME`), also as box.lan, for web
      pages from https://a.example; sessions end after 10m without use
watch: every 5m; servers that corral did not start: report; events and ended sessions are kept for 2
       days; only clients of corral 0.1.0 or later are served

warning: 'files': API_KEY is stored in plain text in ~/corral.json; write ${API_KEY} there, and
         export API_KEY where your clients start.
warning: in this shell: server 'needy': env.X needs the variable NOT_THERE_AT_ALL, which is not set.
         Set it where the client is started, or write ${NOT_THERE_AT_ALL:-DEFAULT} or
         $${NOT_THERE_AT_ALL}.
)";

TEST_F(ConfigOutput, CheckShowsEveryOptionOfAServer) {
  write("corral.json", kFullFile);

  const Seen seen = run({"config", "check", "--all", config_});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_EQ(seen.out, kShownOfIt);
}

constexpr const char* kChangedOfIt = R"(~/corral.json: 4 servers

files
  command  true -y 'a server'
  env      API_KEY=***
  env      MODE=fast
  cwd      /srv
  share    root: one instance for each project
  tools    read_*, list
  deny     delete_*
  timeout  5s for one call
  kept by  containment strict, memory 512 MB, processes 64, processor 150%
  start    when a session attaches, with 2 kept ready, only if its version is 1.2 or later, treated
           as a modern server
  life     not restarted after a crash, not probed, stopped after 5m without use, replaced when it
           uses more than 1.0 GB, parked if its session is silent
  end      1s after its input ended, then 2s after SIGTERM
  on stop  echo bye

plain
  command  true
  share    auto, and marked stateless: shared
  start    its files are not watched
  life     never parked

off (disabled)
  command  true
  env      X=${NOT_THERE_AT_ALL}
  share    session: one instance for each session
  tools    none
  start    a change to its files is only reported

needy
  command  true
  env      X=${NOT_THERE_AT_ALL}
  share    shared by all sessions that start it in the same way

daemon: messages up to 8.0 MB, drains for 3s, stays for 60m without sessions, runs up to 7
        instances, keeps 3 idle ones per server
http: 0.0.0.0:8765, which requires a token (`corral token create NAME`), also as box.lan, for web
      pages from https://a.example; sessions end after 10m without use
watch: every 5m; servers that corral did not start: report; events and ended sessions are kept for 2
       days; only clients of corral 0.1.0 or later are served

warning: 'files': API_KEY is stored in plain text in ~/corral.json; write ${API_KEY} there, and
         export API_KEY where your clients start.
warning: in this shell: server 'needy': env.X needs the variable NOT_THERE_AT_ALL, which is not set.
         Set it where the client is started, or write ${NOT_THERE_AT_ALL:-DEFAULT} or
         $${NOT_THERE_AT_ALL}.

Everything else has its default; `corral config check --all` shows that, too.
)";

TEST_F(ConfigOutput, CheckShowsWhatDiffersFromTheDefaults) {
  write("corral.json", kFullFile);

  EXPECT_EQ(run({"config", "check", config_}).out, kChangedOfIt);
  EXPECT_EQ(run({"config", "check", "--json", config_}).out,
            run({"config", "check", "--json", "--all", config_}).out);
}

TEST_F(ConfigOutput, CheckGivesAServerWithOnlyDefaultsOneLine) {
  write("corral.json",
        R"({"corral": {"watch": {"interval": "1m"}, "drain": "1s", "http": {"port": 0}}, "mcpServers": {
    "one": {"command": "true", "args": ["a b"], "corral": {"idle": "10m", "share": "auto"}},
    "two": {"command": "true", "disabled": true},
    "mine": {"command": "true", "deny": ["x"]},
    "three": {"command": "true"}}})");

  EXPECT_EQ(run({"config", "check", config_}).out, R"(~/corral.json: 4 servers

one: true 'a b'
two (disabled): true

mine
  command  true
  deny     x

three: true

daemon: drains for 1s
http: 127.0.0.1, any free port; sessions end after 30m without use

Everything else has its default; `corral config check --all` shows that, too.
)");
  write("corral.json", R"({"mcpServers": {"one": {"command": "true"}}})");
  EXPECT_EQ(run({"config", "check", config_}).out, R"(~/corral.json: 1 server

one: true

Everything else has its default; `corral config check --all` shows that, too.
)");
}

TEST_F(ConfigOutput, CheckOfAShortFileShowsWhatIsUsual) {
  write("corral.json", R"({"mcpServers": {"one": {"command": "true", "corral": {"share": "root"}}}})");

  const Seen seen = run({"config", "check", "--all", config_});

  EXPECT_EQ(seen.out, R"(~/corral.json: 1 server

one
  command  true
  cwd      the project root
  share    root: one instance for each project
  kept by  containment auto
  start    at the first call that needs it; new sessions get the new code when its files change
  life     restarted after a crash, probed after 1m of silence, stopped after 10m without use,
           parked if it keeps no state and its session is silent
  end      2s after its input ended, then 3s after SIGTERM

daemon: messages up to 64 MB, drains for 5s, stays for 5m without sessions, runs up to 256
        instances, keeps 9 idle ones per server
http: a local socket only; "corral": {"http": {"port": 8765}} opens a TCP port
watch: every 1m; servers that corral did not start: off; events and ended sessions are kept for 14
       days
)");
  write("corral.json",
        R"({"corral": {"http": {"port": 0}, "watch": {"interval": "0s"}, "history": 1}, "mcpServers": {}})");
  EXPECT_EQ(run({"config", "check", "--all", config_}).out, R"(~/corral.json: 0 servers

daemon: messages up to 64 MB, drains for 5s, stays for 5m without sessions, runs up to 256
        instances, keeps 9 idle ones per server
http: 127.0.0.1, any free port; sessions end after 30m without use
watch: never; servers that corral did not start: off; events and ended sessions are kept for 1 day
)");
}

TEST_F(ConfigOutput, CheckDoubtsWhatAddDoubts) {
  write("corral.json", R"({"mcpServers": {
    "lost": {"command": "nosuchcmd", "args": ["--token", "ghp_0123456789abcdef0123456789abcdef0123"]},
    "off": {"command": "nosuchcmd", "disabled": true}}})");

  const std::string text = run({"config", "check", config_}).out;

  EXPECT_THAT(text, HasSubstr("in this shell: server 'lost': "));
  EXPECT_THAT(text, HasSubstr("'nosuchcmd' was not found"));
  EXPECT_THAT(text, HasSubstr("'lost': the argument after --token is stored in plain text in ~/corral.json"));
  EXPECT_THAT(text, Not(HasSubstr("server 'off'")));
  EXPECT_THAT(text, Not(HasSubstr("ghp_")));
}

TEST_F(ConfigOutput, CheckWrapsALongCommand) {
  const std::string word(30, 'w');
  write("corral.json", R"({"mcpServers": {"one": {"command": "true", "args": [")" + word + R"(", ")" + word +
                           R"(", ")" + word + R"(", ")" + word + R"("]}}})");

  const std::string text = run({"config", "check", config_}).out;

  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_THAT(text, HasSubstr("\none: true " + word));
}

TEST_F(ConfigOutput, CheckNamesWhatIsWrong) {
  write("corral.json", R"({"mcpServers": [})");

  const Seen seen = run({"config", "check", config_});
  EXPECT_EQ(seen.code, 1);
  EXPECT_THAT(seen.errors, StartsWith("corral config: "));
  const Seen json = run({"config", "check", "--json", config_});
  EXPECT_EQ(json.code, 1);
  EXPECT_THAT(json.out, StartsWith("{\"file\":\"~/corral.json\",\"error\":\""));
  EXPECT_EQ(json.errors, "");
}

TEST_F(ConfigOutput, ConfigNamesTheWordsThatItTakes) {
  EXPECT_EQ(run({"config", "--config", config_, "path"}).out, "~/corral.json\n");
  EXPECT_EQ(run({"config"}).errors,
            "corral config: subcommand missing: use `corral config check [FILE]` or `corral config path`\n");
  EXPECT_EQ(run({"config", "path", "more"}).errors,
            "corral config: unexpected argument 'more': use `corral config check [FILE]` or `corral config "
            "path`\n");
  EXPECT_EQ(run({"config", "check", "a", "b"}).code, kOwnFailure);
  EXPECT_EQ(run({"config", "--config", config_, "check", "a"}).errors,
            "corral config: two files given: omit --config or FILE\n");
}

}  // namespace
}  // namespace corral::cli
