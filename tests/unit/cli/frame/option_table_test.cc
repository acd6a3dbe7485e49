// The options of every command, and what each says of a value that it cannot take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/parser.h"
#include "cli/screen/page.h"
#include "cli/told_daemon.h"

namespace corral::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string table_of(const std::vector<Command>& commands) {
  std::ostringstream text;
  Page page(text, {100, false, false});
  for (const Command& command : commands) {
    std::string words;
    for (const Option& option : command.options) {
      words += option.names + (option.value.empty() ? "; " : "=" + option.value + "; ");
    }
    const std::string late = command.options_anywhere ? " (anywhere)" : "";
    page.paragraph(command.name + late + ": ", words + "else " + std::to_string(command.usage_code));
  }
  return text.str();
}

constexpr const char* kTable = R"(
adopt (anywhere): --all; -y,--yes; --dry-run; --json; --run; --project; --status; --program=PATH;
                  else 125
uninstall: -y,--yes; --purge; --runtime-dir=DIR; else 125
release (anywhere): --all; -y,--yes; --dry-run; --json; else 125
run: --containment=LEVEL; --stdin-grace=TIME; --term-grace=TIME; --kill-grace=TIME; --memory=SIZE;
     --pids=N; --cpu=CORES; --cwd=DIR; --env=NAME=VALUE; --on-stop=COMMAND; --detached; --cleanup;
     --keep=N; --report=FILE; -v,--verbose; else 125
connect (anywhere): --runtime-dir=DIR; --config=FILE; --name=NAME; --share=shared|session|root;
                    --ignore=WORD; --root=DIR; --session=ID; --require-daemon; -q,--quiet;
                    -v,--verbose; else 125
tools (anywhere): --tool=TOOL; --format=FORMAT; --json; --output=HOW; --timeout=TIME; --session=ID;
                  --root=DIR; --share=HOW; --runtime-dir=DIR; --config=FILE; --require-daemon;
                  -v,--verbose; else 2
bundle (anywhere): -y,--yes; --dry-run; --config=FILE; --runtime-dir=DIR; else 125
call (anywhere): --json=OBJECT; --batch; --output=HOW; --timeout=TIME; --session=ID; --root=DIR;
                 --share=HOW; --runtime-dir=DIR; --config=FILE; --require-daemon; -v,--verbose; else
                 2
session (anywhere): --server=SERVER; --owner=PID; --ttl=TIME; --json; --config=FILE;
                    --runtime-dir=DIR; else 125
serve: --config=FILE; --runtime-dir=DIR; --pid-file=FILE; --state-dir=DIR; --port=N; --bind=ADDRESS;
       --replace; --background; --auto; --log=text|json|auto; else 125
ps: -v,--verbose; --tree; --server=SERVER; --last; --json; --runtime-dir=DIR; else 125
top: -b,--batch=N; --interval=TIME; --sort=memory|cpu|uptime|sessions|name; --json;
     --runtime-dir=DIR; else 125
why (anywhere): --json; --runtime-dir=DIR; else 125
info: --json; --runtime-dir=DIR; else 125
logs (anywhere): -f,--follow; --since=TIME; -n,--lines=N; --json; --runtime-dir=DIR; else 125
events (anywhere): -f,--follow; --since=TIME; --kind=KIND; --server=SERVER; -n,--lines=N; --json;
                   --runtime-dir=DIR; else 125
status: --json; --runtime-dir=DIR; else 125
restart (anywhere): --json; --runtime-dir=DIR; else 125
stop (anywhere): --json; --runtime-dir=DIR; else 125
start (anywhere): --json; --runtime-dir=DIR; else 125
reload: --json; --runtime-dir=DIR; else 125
shutdown: --runtime-dir=DIR; else 125
url (anywhere): --client=CLIENT; --transport=TRANSPORT; --config=FILE; --runtime-dir=DIR; else 125
service (anywhere): --port=N; --config=FILE; --dry-run; --manager=NAME; else 125
token (anywhere): --server=SERVER; --root=DIR; --state-dir=DIR; --runtime-dir=DIR; else 125
list: --config=FILE; --json; --runtime-dir=DIR; else 125
config (anywhere): --config=FILE; --all; --json; else 125
add (anywhere): --config=FILE; --runtime-dir=DIR; --share=HOW; --env=NAME=VALUE; --cwd=DIR;
                --replace; --try; else 125
remove (anywhere): --config=FILE; --runtime-dir=DIR; else 125
import (anywhere): --config=FILE; --dry-run; --force; --try; else 125
doctor: --json; -v,--verbose; --keep=N; --exit-code; else 125
who: --json; else 125
reap: --orphans; --pile-ups; --keep=N; --client=CLIENT; --match=TEXT; --older-than=TIME;
      --parent=PID; --possible; -y,--yes; --dry-run; --term-grace=TIME; --kill-grace=TIME;
      -v,--verbose; else 125
watch: --interval=TIME; --foreign=report|end; --json; --orphans; --pile-ups; --keep=N;
       --client=CLIENT; --match=TEXT; --older-than=TIME; --parent=PID; --possible; else 125
guard: --keep=PATTERN; --fail-on-leak; --term-grace=TIME; --kill-grace=TIME; --report=FILE;
       -v,--verbose; else 125
mcp: --runtime-dir=DIR; else 125
completions: else 125
man (anywhere): --directory=DIR; else 125
help: else 125
version: -v,--verbose; --json; else 125
)";

/// The rows in alphabetical order, because --help arranges the commands. A row may have several lines.
std::vector<std::string> rows_of(const std::string& table) {
  std::vector<std::string> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line.front() == ' ') {
      rows.back() += "\n" + line;
    } else {
      rows.push_back(line);
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(OptionTable, HasEveryOptionOfEveryCommand) {
  EXPECT_EQ(rows_of(table_of(all_commands())), rows_of(kTable));
}

TEST(OptionTable, EveryCommandSaysWhatItIsFor) {
  for (const Command& command : all_commands()) {
    EXPECT_THAT(command.usage, StartsWith("corral " + command.name)) << command.name;
    EXPECT_TRUE(command.summary.ends_with('.')) << command.name;
    EXPECT_THAT(command.examples, StartsWith("Examples:\n  ")) << command.name;
    for (const Option& option : command.options) EXPECT_FALSE(option.help.empty()) << option.names;
  }
}

/// What an option says of a value; empty if it takes it.
std::string refusal(const std::string& command, const std::string& option, const std::string& value) {
  for (const Command& candidate : all_commands()) {
    if (candidate.name != command) continue;
    for (const Option& known : candidate.options) {
      if (!known.names.ends_with(option)) continue;
      const Result<void> applied = known.apply(value);
      return applied ? "" : applied.error().message;
    }
  }
  return "there is no " + command + " " + option;
}

struct Line {
  const char* command;
  const char* option;
  std::vector<const char*> good;
  std::vector<const char*> bad;
  const char* why;  // what is said of a bad one
};

const std::vector<Line> kLines = {
    {"run", "--containment", {"auto", "strict", "basic"}, {"", "none"}, "invalid containment level"},
    {"run", "--stdin-grace", {"2s", "0s"}, {"", "soon"}, "use a number and a unit"},
    {"run", "--term-grace", {"1500ms"}, {"-1s"}, "use a number and a unit"},
    {"run", "--kill-grace", {"1m"}, {"1 m"}, "use a number and a unit"},
    {"run", "--memory", {"512M", "2G"}, {"", "much"}, "use a number of bytes"},
    {"run", "--pids", {"1", "64"}, {"", "0", "-1", "6x"}, "invalid number of processes"},
    {"run", "--cpu", {"0.5", "150%"}, {"", "half"}, "use a number of cores"},
    {"run", "--env", {"A=", "A=b=c"}, {"", "A", "=b"}, "not a variable: use NAME=VALUE"},
    {"run", "--keep", {"0", "3"}, {"", "x"}, "use a whole number, such as 9"},
    {"run", "--cwd", {"", "/x"}, {}, ""},
    {"connect", "--share", {"shared", "session", "root"}, {"", "auto"}, "use shared, session or root"},
    {"connect",
     "--ignore",
     {"cwd", "PATH", "EDITOR"},
     {"", "A=B"},
     "use cwd, PATH or the name of a variable"},
    {"connect", "--ignore", {}, {"API_TOKEN"}, "'API_TOKEN': it looks like the name of a credential"},
    {"connect", "--root", {"/"}, {"/not/there"}, "the root '/not/there' cannot be found: "},
    {"connect", "--session", {"x"}, {""}, "the value is empty"},
    {"tools", "--format", {"mcp", "anthropic", "openai"}, {"", "x"}, "use mcp, anthropic or openai"},
    {"tools", "--output", {"text", "json"}, {"", "xml"}, "use text or json"},
    {"tools", "--timeout", {"30s"}, {"x"}, "use a number and a unit"},
    {"call", "--session", {"x"}, {""}, "the value is empty"},
    {"call", "--root", {"/"}, {"", "/not/there"}, "cannot be found"},
    {"call", "--share", {"shared", "session", "root"}, {"", "auto"}, "use shared, session or root"},
    {"call", "--config", {"x"}, {""}, "the value is empty"},
    {"call", "--runtime-dir", {"x"}, {""}, "the value is empty"},
    {"serve", "--port", {"0", "65535"}, {"", "65536", "-1", "8o"}, "use a number from 0 to 65535"},
    {"serve", "--log", {"text", "json", "auto"}, {"", "xml"}, "use text, json or auto"},
    {"service", "--manager", {"systemd", "launchd"}, {"", "init"}, "use systemd or launchd"},
    {"service", "--port", {"1"}, {"x"}, "invalid port"},
    {"watch", "--foreign", {"report", "end"}, {"", "kill"}, "use report or end"},
    {"reap", "--older-than", {"30m", "3d"}, {"old"}, "use a number and a unit"},
    {"reap", "--parent", {"1"}, {"", "0", "-1", "1x"}, "use a number as shown by `ps` or"},
    {"reap", "--client", {"codex"}, {""}, "the value is empty: give a value, or omit the option"},
    {"guard", "--term-grace", {"1s"}, {"x"}, "use a number and a unit"},
    {"guard", "--kill-grace", {"1s"}, {"x"}, "use a number and a unit"},
    {"guard", "--keep", {"", "x"}, {}, ""},
    {"events",
     "--kind",
     {"spawn", "crash"},
     {"crush"},
     "'crush' is not a kind of event; did you mean crash? Known"},
    {"events", "--kind", {}, {"qqqqqqqqqq"}, "is not a kind of event. Known kinds: "},
    {"events", "--lines", {"0", "7"}, {"", "some"}, "invalid number of lines"},
};

TEST(OptionTable, EachTakesWhatItCanUseAndNamesWhatItCannot) {
  for (const Line& line : kLines) {
    for (const char* const value : line.good) {
      EXPECT_EQ(refusal(line.command, line.option, value), "") << line.command << line.option << value;
    }
    for (const char* const value : line.bad) {
      EXPECT_THAT(refusal(line.command, line.option, value), HasSubstr(line.why))
          << line.command << line.option << value;
    }
  }
}

struct Objection {
  std::vector<std::string> words;
  int code;
  const char* errors;
};

const std::vector<Objection> kObjections = {
    {{"doctor", "more"}, 125, "corral doctor: unexpected argument 'more': this command takes only options\n"},
    {{"reap", "more"}, 125, "corral reap: unexpected argument 'more': this command takes only options\n"},
    {{"events", "more"}, 125, "corral events: unexpected argument 'more': this command takes only options\n"},
    {{"who"}, 125, "corral who: give one pid, as in `corral who 4711`\n"},
    {{"who", "1", "2"}, 125, "corral who: give one pid, as in `corral who 4711`\n"},
    {{"who", "me"}, 125, "corral who: invalid pid 'me': use a number as shown by `ps` or `corral doctor`\n"},
    {{"who", "2147483647"},
     125,
     "corral who: there is no visible process 2147483647: it has ended, or /proc hides it; `corral doctor` "
     "lists the running servers\n"},
    {{"connect", "--ignore", "cwd", "--ignore", "PATH", "files"},
     125,
     "corral connect: --ignore is for a command after `--`; for a configured server write \"corral\": "
     "{\"ignore\": [\"cwd\", \"PATH\"]} in its entry\n"},
    {{"tools"},
     2,
     "corral tools: no server given: name a configured server, or put a command after `--`; see --help\n"},
    {{"tools", "a", "b", "c"}, 2, "corral tools: unexpected argument 'c'\n"},
    {{"tools", "--tool", "b", "a", "c"}, 2, "corral tools: unexpected argument 'c'\n"},
    {{"tools", "a", "--nope"}, 2, "corral tools: unknown option '--nope': see --help\n"},
    {{"call"},
     2,
     "corral call: no server given: name a configured server, or put a command after `--`; see --help\n"},
    {{"call", ""},
     2,
     "corral call: no server given: name a configured server, or put a command after `--`; see --help\n"},
    {{"call", "a"}, 2, "corral call: no tool given: `corral tools NAME` lists the tools of a server\n"},
    {{"call", "a", ""}, 2, "corral call: no tool given: `corral tools NAME` lists the tools of a server\n"},
    {{"call", "a", "t", "k=v", "--json", "{}"},
     2,
     "corral call: 'k=v' and --json: give the arguments either as key=value or as JSON, not both\n"},
    {{"call", "a", "t", "--json", "[]"}, 2, "corral call: the arguments of --json are not a JSON object\n"},
    {{"call", "--batch", "a", "t"},
     2,
     "corral call: --batch reads tools and arguments from stdin: remove them from the command line\n"},
    {{"call", "--batch", "--json", "{}", "a"},
     2,
     "corral call: --batch reads tools and arguments from stdin: remove them from the command line\n"},
    {{"service"},
     125,
     "corral service: one subcommand expected: use `corral service install`, `uninstall` or `status`\n"},
    {{"service", "start"},
     125,
     "corral service: unknown subcommand 'start': use `corral service install`, `uninstall` or `status`\n"},
    {{"man", "a", "b"}, 125, "corral man: give one command, or only --directory DIR\n"},
    {{"man", "sevre"},
     125,
     "corral man: unknown command 'sevre': did you mean serve?; see `corral --help`\n"},
    {{"man", "qqqqqqqq"}, 125, "corral man: unknown command 'qqqqqqqq'; see `corral --help`\n"},
    {{"man", "--directory", "/tmp", "ps"}, 125, "corral man: give one command, or only --directory DIR\n"},
    {{"man", "--directory", "/proc/no"},
     125,
     "corral man: cannot write the pages to /proc/no: name a directory that you may write to\n"},
};

TEST(OptionTable, CommandsNameTheWordThatTheyCannotUse) {
  for (const Objection& one : kObjections) {
    const Seen seen = run_command(one.words);
    EXPECT_EQ(seen.code, one.code) << one.errors;
    EXPECT_EQ(seen.errors, one.errors);
    EXPECT_EQ(seen.out, "") << one.errors;
  }
}

}  // namespace
}  // namespace corral::cli
