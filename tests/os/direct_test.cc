// `corral tools` and `corral call`: servers used by hand and from scripts. What a script can see is the exit
// code and two streams, so that is what these tests look at, and that nothing is left.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kToolFailed = 1;
constexpr int kBadArguments = 2;
constexpr int kProtocolError = 3;
constexpr int kNotReached = 4;
constexpr int kTimedOut = 124;
constexpr int kOwnFailure = 125;
constexpr long kMessagesOfACall = 4;  // initialize, initialized, tools/list, tools/call
constexpr const char* kQuick = R"("share":"session","stdin_grace":"200ms","term_grace":"200ms")";
constexpr const char* kTyped =
    R"({"name":"echo","description":"Says it again.\nAnd no more.","inputSchema":{"type":"object",)"
    R"("properties":{"arg":{"type":"string"},"count":{"type":"integer"}},"required":["arg"]}})";

class Direct : public HubTest {
 protected:
  void SetUp() override {
    HubTest::SetUp();
    std::ofstream list(path("list"));
    list << kTyped << '\n';
    for (const char* const name :
         {"block", "exit", "fail", "half", "log", "missing", "number", "picture", "pid", "silent", "where"}) {
      list << name << '\n';
    }
    list.close();
    chmod(path("list").c_str(), 0644);
  }

  /// A daemon with one server, "rude".
  void serve_rude(std::vector<std::string> words = {}) {
    words.push_back("--list=" + path("list"));
    add_server("rude", words, kQuick);
    start_daemon();
  }
  std::string line_of_rude() const {
    return path("rude_server") + " --tag=" + tag() + " '--list=" + path("list") + "'";
  }

  Launch with_input(const Launch& launch) const {
    Launch changed = launch;
    changed.in = Stdio::Pipe;
    return changed;
  }
  Words say_with_input(const std::string& name, const std::vector<std::string>& words,
                       const std::string& input) const {
    const Launch launch = with_input(command(name, words));
    unlink(launch.stderr_path.c_str());
    Session session(launch);
    EXPECT_EQ(write(session.stdin_fd(), input.data(), input.size()), static_cast<ssize_t>(input.size()));
    session.close_stdin();
    Words said;
    said.out = session.output_to_end();
    said.code = session.wait().value_or(-1);
    said.err = file("stderr-" + name);
    return said;
  }
  bool servers_run() const {
    for (const Process& process : processes()) {
      if (process.comm == "rude-server") return true;
    }
    return false;
  }
  Words call(const std::vector<std::string>& words) const { return say("call", words); }
  Words tools(const std::vector<std::string>& words) const { return say("tools", words); }
};

// ---- tools

TEST_F(Direct, ToolsAreShownWithTheFirstLineOfTheirDescription) {
  serve_rude();

  const Words said = tools({"rude"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("Tools of 'rude': 12\n"));
  EXPECT_THAT(said.out, HasSubstr("  echo     Says it again.\n"));
  EXPECT_THAT(said.out, HasSubstr("  where\n"));
  EXPECT_THAT(said.out, Not(HasSubstr("And no more.")));
}

TEST_F(Direct, OneToolIsShownWithAllOfItsDescriptionAndItsSchema) {
  serve_rude();

  const Words said = tools({"rude", "echo"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("Says it again.\nAnd no more.\n"));
  EXPECT_THAT(said.out, HasSubstr("    \"count\": {\n      \"type\": \"integer\"\n    }\n"));
  EXPECT_EQ(tools({"--tool", "echo", "rude"}).out, said.out);
  EXPECT_EQ(tools({"rude", "echo", "--json"}).out, std::string(kTyped) + '\n');
}

TEST_F(Direct, ToolsOfEveryPageAreThere) {
  serve_rude({"--page=2"});

  const Words said = tools({"rude", "--output", "json"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, testing::StartsWith(R"({"serverInfo":{"name":"rude","version":"0"},)"));
  EXPECT_THAT(said.out, HasSubstr(R"({"name":"where","inputSchema":{"type":"object"}}]})"));
  EXPECT_THAT(said.out, HasSubstr(R"("tools":[{"name":"echo",)"));
}

TEST_F(Direct, ToolsThatAreKnownAreListedWithoutAProcess) {
  std::ofstream(path("starts")).close();
  chmod(path("starts").c_str(), 0666);
  serve_rude({"--flap=" + path("starts") + ":l"});
  const Words first = tools({"rude"});
  ASSERT_EQ(first.code, 0) << first.err;
  ASSERT_EQ(file("starts"), ".");
  ASSERT_TRUE(eventually([&] { return !servers_run(); }));

  const Words again = tools({"rude"});

  EXPECT_EQ(again.out, first.out) << again.err;
  EXPECT_EQ(file("starts"), ".") << errors();
  EXPECT_EQ(call({"rude", "echo", "arg=x"}).out, "x\n");
  EXPECT_EQ(file("starts"), "..");
}

TEST_F(Direct, FormatsAreTheArraysThatModelCallsTake) {
  std::ofstream(path("list")) << kTyped << "\npid\n";
  serve_rude();
  const std::string schema = R"({"type":"object","properties":{"arg":{"type":"string"},)"
                             R"("count":{"type":"integer"}},"required":["arg"]})";
  const std::string head = R"("name":"echo","description":"Says it again.\nAnd no more.",)";
  const std::string nothing = R"({"properties":{},"type":"object"})";

  EXPECT_EQ(tools({"rude", "--format", "mcp"}).out,
            "[" + std::string(kTyped) + R"(,{"name":"pid","inputSchema":{"type":"object"}}])" + "\n");
  EXPECT_EQ(
      tools({"rude", "--format", "anthropic"}).out,
      "[{" + head + R"("input_schema":)" + schema + R"(},{"name":"pid","input_schema":)" + nothing + "}]\n");
  EXPECT_EQ(tools({"rude", "--format", "openai"}).out,
            R"([{"type":"function","function":{)" + head + R"("parameters":)" + schema +
                R"(}},{"type":"function","function":{"name":"pid","parameters":)" + nothing + "}}]\n");
  const Words wrong = tools({"rude", "--format", "gemini"});
  EXPECT_EQ(wrong.code, kBadArguments);
  EXPECT_THAT(wrong.err, HasSubstr("use mcp, anthropic or openai"));
}

// ---- one call

TEST_F(Direct, ATextIsPrintedAndTheExitCodeIsZero) {
  serve_rude();

  const Words said = call({"rude", "echo", "arg=hello there"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, "hello there\n");
}

TEST_F(Direct, ACommandNeedsNoConfiguration) {
  start_daemon();
  const std::vector<std::string> rude_words = rude({"--list=" + path("list")});

  std::vector<std::string> parted = {"--"};
  parted.insert(parted.end(), rude_words.begin(), rude_words.end());
  parted.insert(parted.end(), {"--", "echo", "arg=a"});
  EXPECT_EQ(call(parted).out, "a\n");
  EXPECT_EQ(call({"--", line_of_rude(), "echo", "arg=b"}).out, "b\n");
  const Words guess = call({"--", path("rude_server"), "--tag=" + tag(), "echo"});
  EXPECT_EQ(guess.code, kBadArguments);
  EXPECT_THAT(guess.err, HasSubstr("put another `--` between"));
}

TEST_F(Direct, ACallNeedsNoDaemon) {
  start_daemon();

  const Words said = call({"--runtime-dir", "/dev/null/none", "--", line_of_rude(), "echo", "arg=alone"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, "alone\n");
  EXPECT_THAT(said.err, HasSubstr("running the server here"));
}

TEST_F(Direct, ArgumentsAreTakenAsJsonTooAndNoNumberChanges) {
  serve_rude();
  const std::string number = "123456789012345678901234567890";

  EXPECT_EQ(call({"rude", "echo", "arg:=" + number}).out, number + "\n");
  EXPECT_EQ(call({"rude", "echo", "--json", "{\"arg\":\n " + number + "}"}).out, number + "\n");
  EXPECT_EQ(say_with_input("call", {"rude", "echo", "-"}, "{\"arg\": \"piped\"}\n").out, "piped\n");
}

TEST_F(Direct, JsonIsTheWholeResult) {
  serve_rude();

  EXPECT_EQ(call({"rude", "echo", "arg=x", "--output", "json"}).out,
            "{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}\n");
  EXPECT_EQ(call({"rude", "picture"}).out, "[image image/png, 6 B]\n");
}

TEST_F(Direct, LogMessagesGoToStderr) {
  serve_rude();

  const Words said = call({"rude", "log", "arg=careful"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, "logged\n");
  EXPECT_THAT(said.err, HasSubstr("warning: careful\n"));
}

TEST_F(Direct, AToolThatFailsIsExitCodeOne) {
  serve_rude();

  const Words said = call({"rude", "fail", "arg=the disk is full"});

  EXPECT_EQ(said.code, kToolFailed);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("the disk is full\n"));
}

// ---- bad input

TEST_F(Direct, WrongWordsAreNamedBeforeAnythingIsCalled) {
  serve_rude();
  struct Case {
    std::vector<std::string> words;
    const char* says;
  };
  const std::vector<Case> cases = {
      {{}, "no server given"},
      {{"rude"}, "no tool given"},
      {{"rude", "eco", "arg=x"}, "'rude' has no tool 'eco': did you mean echo?"},
      {{"rude", "echo", "arg=x", "cuont=1"}, "no argument 'cuont': did you mean count? it takes arg, count"},
      {{"rude", "echo"}, "echo: the argument arg is missing"},
      {{"rude", "echo", "--json", "{\"count\":1}"}, "echo: the argument arg is missing"},
      {{"rude", "echo", "arg=x", "count=many"}, "'count' must be an integer, not 'many'"},
      {{"rude", "echo", "arg=x", "arg=y"}, "'arg' is given twice"},
      {{"rude", "echo", "arg"}, "use key=value"},
      {{"rude", "echo", "arg:={"}, "the value of 'arg' is not valid JSON"},
      {{"rude", "echo", "--json", "{arg"}, "the arguments of --json are not valid JSON"},
      {{"rude", "echo", "--json", "[1]"}, "not a JSON object"},
      {{"rude", "echo", "arg=x", "--json", "{}"}, "not both"},
      {{"rude", "echo", "arg=x", "--jsn", "{}"}, "unknown option '--jsn': did you mean --json?"},
      {{"--timeout", "2", "rude", "echo"}, "timeout"},
      {{"--share", "all", "rude", "echo"}, "invalid value 'all'"},
      {{"--no-such", "rude", "echo"}, "unknown option '--no-such'"},
      {{"--batch", "rude", "echo"}, "--batch reads"},
  };

  for (const Case& each : cases) {
    const Words said = call(each.words);
    EXPECT_EQ(said.code, kBadArguments) << each.says << said.err;
    EXPECT_THAT(said.err, HasSubstr(each.says));
    EXPECT_EQ(said.out, "");
  }
}

TEST_F(Direct, AServerThatCannotBeReachedIsExitCodeFour) {
  serve_rude();

  const Words unknown = call({"rued", "echo", "arg=x"});
  EXPECT_EQ(unknown.code, kNotReached);
  EXPECT_THAT(unknown.err, HasSubstr("rude"));
  EXPECT_EQ(tools({"rued"}).code, kNotReached);
  EXPECT_EQ(call({"--", path("no-such-program"), "echo"}).code, kNotReached);
  EXPECT_EQ(call({"--", line_of_rude() + " --start=exit:3", "echo", "arg=x"}).code, kNotReached);
}

TEST_F(Direct, AnErrorOfTheServersIsExitCodeThree) {
  serve_rude();

  const Words said = call({"rude", "missing"});

  EXPECT_EQ(said.code, kProtocolError);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("corral call: no such thing (error -32601)\n"));
  EXPECT_EQ(call({"rude", "number"}).code, kProtocolError);
}

TEST_F(Direct, AServerThatDiesInTheCallIsExitCodeFour) {
  serve_rude();

  EXPECT_EQ(call({"rude", "exit", "arg=3"}).code, kNotReached);
  EXPECT_EQ(call({"rude", "half"}).code, kNotReached);
  const Words alone = call({"--runtime-dir", "/dev/null/none", "--", line_of_rude(), "exit", "arg=3"});
  EXPECT_EQ(alone.code, kNotReached);
  EXPECT_THAT(alone.err, HasSubstr("no answer from the server: it exited with code 3"));
}

TEST_F(Direct, AServerThatHangsIsExitCode124AndTheCallIsCancelled) {
  serve_rude({"--cancelled=" + path("cancelled")});
  std::ofstream(path("cancelled")).close();
  chmod(path("cancelled").c_str(), 0666);

  const Words said = call({"--timeout", "300ms", "rude", "silent"});

  EXPECT_EQ(said.code, kTimedOut);
  EXPECT_THAT(said.err, HasSubstr("--timeout"));
  EXPECT_TRUE(eventually([&] { return file("cancelled") == "."; }));
  EXPECT_TRUE(eventually([&] { return !servers_run(); }));
}

TEST_F(Direct, ASignalCancelsTheCallAndEndsTheSession) {
  for (const char* const name : {"cancelled", "silent"}) {
    std::ofstream(path(name)).close();
    chmod(path(name).c_str(), 0666);
  }
  serve_rude(
      {"--cancelled=" + path("cancelled"), "--silent=" + path("silent"), "--ignore-eof", "--ignore-term"});

  std::string all;
  for (const int signo : {SIGINT, SIGTERM}) {
    all += '.';
    Session session(command("call", {"rude", "silent"}));
    ASSERT_TRUE(eventually([&] { return file("silent") == all; })) << status();

    ASSERT_EQ(kill(session.pid(), signo), 0);

    EXPECT_EQ(session.wait(), 128 + signo);
    EXPECT_TRUE(eventually([&] { return file("cancelled") == all; }));
    EXPECT_TRUE(eventually([&] { return !servers_run(); })) << testing::PrintToString(processes());
  }
}

// ---- many calls

TEST_F(Direct, ABatchAnswersEveryLineInOrderInOneSession) {
  serve_rude();
  const std::string input = R"({"tool":"pid"}
{"tool":"echo","arguments":{"arg":"two"},"id":"b"}

{"tool":"fail","arguments":{"arg":"no"},"id":12345678901234567890123}
{"tool":"missing","id":null}
{"tool":"eco","id":{"deep":[1]}}
{"tool":"echo","args":{"arg":"x"}}
{"tool":
{"tool":"pid","id":"last"})";

  const Words said = say_with_input("call", {"rude", "--batch"}, input);

  EXPECT_EQ(said.code, kToolFailed) << "the first that failed" << said.err;
  std::vector<std::string> lines;
  std::istringstream stream(said.out);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 8U) << said.out;
  EXPECT_THAT(lines[0], HasSubstr(R"({"id":1,"exit":0,"result":{"content":)"));
  EXPECT_EQ(lines[1], R"({"id":"b","exit":0,"result":{"content":[{"type":"text","text":"two"}]}})");
  EXPECT_THAT(lines[2], HasSubstr(R"({"id":12345678901234567890123,"exit":1,"result":{)"));
  EXPECT_EQ(lines[3], R"({"id":null,"exit":3,"error":{"code":-32601,"message":"no such thing"}})");
  EXPECT_THAT(lines[4], HasSubstr(R"({"id":{"deep":[1]},"exit":2,"error":{"message":"'rude' has no tool)"));
  EXPECT_THAT(lines[5], HasSubstr(R"({"id":6,"exit":2,"error":{"message":"the line has an unknown member)"));
  EXPECT_THAT(lines[6], HasSubstr(R"({"id":7,"exit":2,"error":{"message":"the line is not valid JSON)"));
  EXPECT_EQ(field(lines[7], "text"), field(lines[0], "text")) << "not one session";
}

TEST_F(Direct, ABatchGoesOnWhenACallHangs) {
  serve_rude();

  const Words said =
      say_with_input("call", {"--batch", "--timeout", "2s", "rude"},
                     "{\"tool\":\"silent\"}\n{\"tool\":\"echo\",\"arguments\":{\"arg\":\"on\"}}\n");

  EXPECT_EQ(said.code, kTimedOut) << said.err;
  EXPECT_THAT(said.out, testing::StartsWith(R"({"id":1,"exit":124,"error":{"message":"no answer within)"));
  EXPECT_THAT(said.out, HasSubstr(R"({"id":2,"exit":0,"result":)"));
}

TEST_F(Direct, ABatchMakesNoCallWhoseAnswerNobodyCouldRead) {
  serve_rude();
  Launch launch = with_input(command("call", {"--batch", "rude"}));
  launch.before_exec = [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); };
  const std::string input = "{\"tool\":\"pid\"}\n{\"tool\":\"block\"}\n";  // the second would never end

  Session session(launch);
  ASSERT_EQ(write(session.stdin_fd(), input.data(), input.size()), static_cast<ssize_t>(input.size()));

  EXPECT_EQ(session.wait(), kOwnFailure);
  EXPECT_THAT(file("stderr-call"),
              HasSubstr("cannot write to stdout (is the pipe closed?); no further calls are made"));
}

TEST_F(Direct, ABatchThatCannotBeReadIsNotAnEmptyOne) {
  serve_rude();
  Launch launch = with_input(command("call", {"--batch", "rude"}));
  launch.before_exec = [] { dup2(open("/", O_RDONLY), STDIN_FILENO); };

  Session session(launch);

  EXPECT_EQ(session.wait(), kOwnFailure);
  EXPECT_THAT(file("stderr-call"), HasSubstr("cannot read stdin: Is a directory"));
}

TEST_F(Direct, ABatchHearsTheServerWhileItWaitsForTheNextCall) {
  std::ofstream(path("list")) << "knock\n";
  std::ofstream(path("pings")).close();
  chmod(path("pings").c_str(), 0666);
  start_daemon();
  std::vector<std::string> words = {"--batch", "--runtime-dir", "/dev/null/none", "--"};
  const std::vector<std::string> server = rude({"--list=" + path("list"), "--pings=" + path("pings")});
  words.insert(words.end(), server.begin(), server.end());
  Session session(with_input(command("call", words)));
  const std::string line = "{\"tool\":\"knock\"}\n";
  ASSERT_EQ(write(session.stdin_fd(), line.data(), line.size()), static_cast<ssize_t>(line.size()));

  EXPECT_TRUE(eventually([&] { return file("pings") == "."; })) << file("stderr-call");

  session.close_stdin();
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(Direct, ASignalEndsAServerThatNeverAnsweredTheHandshake) {
  start_daemon();
  Session session(command("call", {"--", line_of_rude() + " --start=silent --ignore-term", "pid"}));
  ASSERT_TRUE(eventually([&] { return servers_run(); }));

  ASSERT_EQ(kill(session.pid(), SIGINT), 0);

  EXPECT_EQ(session.wait(), 130);
  EXPECT_TRUE(eventually([&] { return !servers_run(); })) << testing::PrintToString(processes());
}

TEST_F(Direct, AKilledCallLeavesNothing) {
  serve_rude({"--ignore-eof", "--ignore-term"});
  Session session(command("call", {"rude", "silent"}));
  ASSERT_TRUE(eventually([&] { return counter("messages") == kMessagesOfACall; })) << status();

  ASSERT_TRUE(kill_now(session.pid()));

  EXPECT_TRUE(eventually([&] { return !servers_run(); })) << testing::PrintToString(processes());
}

TEST_F(Direct, ACallBelongsToTheSessionThatItNames) {
  serve_rude();
  std::string id = say("session", {"create", "--server", "rude"}).out;
  id.pop_back();

  const Words said = call({"--session", id, "rude", "echo", "arg=mine"});

  EXPECT_EQ(said.out, "mine\n") << said.err;
  EXPECT_EQ(call({"--session", "s-0000000000000000", "rude", "echo", "arg=x"}).code, kNotReached);
  EXPECT_EQ(say("session", {"end", id}).code, 0);
}

TEST_F(Direct, ABatchWithoutADaemonAnswersWhatIsLeftWhenTheServerIsGone) {
  start_daemon();
  std::vector<std::string> words = {"--batch", "--runtime-dir", "/dev/null/none", "--"};
  const std::vector<std::string> server = rude({"--list=" + path("list")});
  words.insert(words.end(), server.begin(), server.end());

  const Words said = say_with_input(
      "call", words, "{\"tool\":\"exit\",\"arguments\":{\"arg\":\"3\"}}\n{\"tool\":\"pid\"}\n");

  EXPECT_EQ(said.code, kNotReached) << said.err;
  EXPECT_THAT(said.out, HasSubstr(R"({"id":1,"exit":4,)"));
  EXPECT_THAT(said.out, HasSubstr(R"({"id":2,"exit":4,)"));
}

}  // namespace
}  // namespace corral::os_tests
