// What `corral tools` and `corral call` show, letter by letter, and what they ask of a server.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "cli/file_commands.h"
#include "cli/scripted_server.h"

namespace corral::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string result(const std::string& json) { return R"({"jsonrpc":"2.0","id":$ID,"result":)" + json + "}"; }
std::string error(const std::string& json) { return R"({"jsonrpc":"2.0","id":$ID,"error":)" + json + "}"; }

const Scripted kHello{"initialize", result(R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
                                           R"("serverInfo":{"name":"s", "version":"1"}})")};
const Scripted kTools{
    "tools/list", result(R"({"tools":[{"name":"echo","description":"\n  Says it\u001b again\nand more",)"
                         R"("inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"t":{"type":)"
                         R"("string"}},"required":["t"]},"annotations":{"readOnlyHint":true}},)"
                         R"({"name":"bare"}]})")};

class DirectOutput : public FileCommands {
 protected:
  DirectOutput() { sigprocmask(SIG_BLOCK, nullptr, &mask_); }
  ~DirectOutput() override { sigprocmask(SIG_SETMASK, &mask_, nullptr); }

  Seen with(const std::vector<Scripted>& script, std::vector<std::string> words,
            const std::string& input = "") {
    std::filesystem::remove(script_ + ".asked");
    write_script(script_, script);
    write("input", input);
    const int before = dup(STDIN_FILENO);
    const int file = open((folder_ + "/input").c_str(), O_RDONLY | O_CLOEXEC);
    dup2(file, STDIN_FILENO);
    Seen seen = run(std::move(words));
    dup2(before, STDIN_FILENO);
    close(before);
    close(file);
    return seen;
  }
  /// A call of echo that is answered like this.
  Seen call(const std::string& answer, std::vector<std::string> words = {"t=x"}) {
    words.insert(words.begin(), {"call", "files", "echo"});
    return with({kHello, kTools, {"tools/call", answer}}, words);
  }
  /// The params of what was asked by this method.
  std::string asked(const std::string& method) {
    for (const std::string& line : asked_by(script_)) {
      if (line.find("\"" + method + "\"") == std::string::npos) continue;
      const std::size_t params = line.find("\"params\":");
      return params == std::string::npos ? line : line.substr(params + 9, line.size() - params - 10);
    }
    return "nothing";
  }

  const std::string script_ = folder_ + "/script";
  const SetVariable variable_{kScript, script_};
  sigset_t mask_{};
};

TEST_F(DirectOutput, ToolsAreATable) {
  const Seen seen = with({kHello, kTools}, {"tools", "files"});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_EQ(seen.out, R"(Tools of 'files': 2
  TOOL  DESCRIPTION
  echo  Says it? again
  bare
)");
  EXPECT_EQ(asked_by(script_).front(), "--quiet files");
  EXPECT_THAT(asked("initialize"), HasSubstr(R"("capabilities":{})"));
  EXPECT_NE(asked("notifications/initialized"), "nothing");
}

TEST_F(DirectOutput, ToolsBeginWithTheDescriptionOfTheirServer) {
  ToldDaemon daemon;
  daemon.status(R"({"servers":[{"name":"files","about":{"description":"The files of this project."}},
    {"name":"notes","about":{"description":"What to remember."}}]})");
  const std::string& place = daemon.runtime_dir();

  EXPECT_EQ(with({kHello, kTools}, {"tools", "files", "--runtime-dir", place}).out, R"(Tools of 'files': 2
The files of this project.
  TOOL  DESCRIPTION
  echo  Says it? again
  bare
)");
  EXPECT_THAT(with({kHello, kTools}, {"tools", "others", "--runtime-dir", place}).out,
              StartsWith("Tools of 'others': 2\n  TOOL  DESCRIPTION\n"))
      << "a server without a description";
}

TEST_F(DirectOutput, OneToolIsShownWhole) {
  const Seen seen = with({kHello, kTools}, {"tools", "files", "echo"});
  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_EQ(seen.out, R"(echo


  Says it� again
and more

Arguments:
{
  "type": "object",
  "properties": {
    "n": {
      "type": "integer"
    },
    "t": {
      "type": "string"
    }
  },
  "required": [
    "t"
  ]
}

Annotations:
{
  "readOnlyHint": true
}
)");
  EXPECT_EQ(with({kHello, kTools}, {"tools", "--tool", "bare", "files", "--json"}).out,
            "{\"name\":\"bare\"}\n");
  EXPECT_EQ(with({kHello, kTools}, {"tools", "files", "bare", "--format", "anthropic"}).out,
            "[{\"name\":\"bare\",\"input_schema\":{\"properties\":{},\"type\":\"object\"}}]\n");
  const Seen none = with({kHello, kTools}, {"tools", "files", "ecko"});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.errors,
            "corral tools: 'files' has no tool 'ecko': did you mean echo? `corral tools` lists 2\n");
}

TEST_F(DirectOutput, ToolsAsJsonHaveTheirServer) {
  const Scripted one{"tools/list", result(R"({"tools":[ {"name" : "a"} ]})")};
  const std::string whole =
      R"({"serverInfo":{"name":"s","version":"1"},"protocolVersion":"2025-11-25","tools":[{"name":"a"}]})"
      "\n";
  EXPECT_EQ(with({kHello, one}, {"tools", "files", "--json"}).out, whole);
  EXPECT_EQ(with({kHello, one}, {"tools", "files", "--output", "json"}).out, whole);
  const Scripted bare{"initialize", result(R"({"protocolVersion":"2025-11-25","capabilities":{}})")};
  EXPECT_EQ(with({bare, one}, {"tools", "files", "--json"}).out,
            R"({"serverInfo":null,"protocolVersion":"2025-11-25","tools":[]})"
            "\n");
  EXPECT_EQ(asked("tools/list"), "nothing") << "a server that has none is not asked";
}

TEST_F(DirectOutput, ToolsOfEveryPageAreListed) {
  const Seen seen = with({kHello,
                          {"tools/list", result(R"({"tools":[{"name":"a"}],"nextCursor":"p\"2"})")},
                          {"tools/list", result(R"({"tools":[{"name":"b"}],"nextCursor":null})")}},
                         {"tools", "files", "--format", "mcp"});
  EXPECT_EQ(seen.out, "[{\"name\":\"a\"},{\"name\":\"b\"}]\n");
  const Seen endless =
      with({kHello, {"tools/list", result(R"({"tools":[],"nextCursor":"again"})")}}, {"tools", "files"});
  EXPECT_EQ(endless.code, 3);
  EXPECT_EQ(endless.errors, "corral tools: the server sent an invalid list of tools: its pages do not end\n");
}

TEST_F(DirectOutput, AListThatIsNoneIsNotUnderstood) {
  const auto errors = [this](const std::string& list) {
    const Seen seen = with({kHello, {"tools/list", result(list)}}, {"tools", "files"});
    EXPECT_EQ(seen.code, 3);
    return seen.errors;
  };
  EXPECT_THAT(errors("{}"), HasSubstr("invalid list of tools: it has no \"tools\"\n"));
  EXPECT_THAT(errors(R"({"tools":[{"title":"x"}]})"),
              HasSubstr("invalid list of tools: a tool has no name\n"));
  const Seen refused =
      with({kHello, {"tools/list", error(R"({"code":-32603,"message":"not\ntoday"})")}}, {"tools", "files"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.errors, HasSubstr("not today"));
  EXPECT_THAT(refused.errors, HasSubstr("-32603"));
}

TEST_F(DirectOutput, AListThatChangesMeanwhileIsAskedForAgain) {
  const std::string changed = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";
  const Seen seen = with({kHello,
                          {"tools/list", changed + "\n" + result(R"({"tools":[{"name":"old"}]})")},
                          {"tools/list", result(R"({"tools":[{"name":"new"}]})")}},
                         {"tools", "files", "--format", "mcp"});
  EXPECT_EQ(seen.out, "[{\"name\":\"new\"}]\n");
  const Seen found = with({kHello,
                           {"tools/list", result(R"({"tools":[]})")},
                           {"tools/list", result(R"({"tools":[{"name":"late"}]})")}},
                          {"tools", "files", "late", "--json"});
  EXPECT_EQ(found.out, "{\"name\":\"late\"}\n") << "before it is said that there is none";
}

TEST_F(DirectOutput, OptionsArePassedOnToConnect) {
  with({kHello, kTools}, {"tools", "--session", "s", "--root", "/", "--share", "root", "--runtime-dir", "r",
                          "--config", "c", "--require-daemon", "-v", "files"});
  EXPECT_EQ(asked_by(script_).front(),
            "--quiet --session s --root / --share root --runtime-dir r --config c --require-daemon --verbose "
            "files");
}

TEST_F(DirectOutput, ACallShowsTheText) {
  const Seen seen = call(result(R"({"content":[{"type":"text","text":"hello"}]})"), {"t=x", "n=3"});
  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_EQ(seen.out, "hello\n");
  EXPECT_THAT(asked("tools/call"), HasSubstr(R"("name":"echo","arguments":{"t":"x","n":3}})"));
  EXPECT_EQ(call(result(R"({"content": [ ]})"), {"--output", "json", "t=x"}).out, "{\"content\":[]}\n");
  const Seen failed = call(result(R"({"content":[{"type":"text","text":"no"}],"isError":true})"));
  EXPECT_EQ(failed.code, 1);
  EXPECT_EQ(failed.out, "");
  EXPECT_EQ(failed.errors, "no\n");
}

TEST_F(DirectOutput, ACallSaysWhyThereIsNoResult) {
  const Seen refused = call(error(R"({"code":-32602,"message":"bad \u001bthing"})"));
  EXPECT_EQ(refused.code, 3);
  EXPECT_EQ(refused.errors, "corral call: bad �thing (error -32602)\n");
  const Seen ended = call("exit 7");
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(ended.errors, "corral call: no answer from the server: it exited with code 7\n");
  const Seen left = call("exit 0");
  EXPECT_EQ(left.errors, "corral call: no answer from the server: it exited first\n");
  const Seen wrong = call(result("{}"), {"n=x"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.errors, StartsWith("corral call: echo: "));
  EXPECT_EQ(asked("tools/call"), "nothing");
  const Seen unknown = with({kHello, kTools}, {"call", "files", "ecko"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(with({{"initialize", "exit 3"}}, {"call", "files", "echo"}).code, 4);
  EXPECT_EQ(with({{"initialize", "exit 3"}}, {"tools", "files"}).code, 4);
}

TEST_F(DirectOutput, ACallWaitsNoLongerThanItIsTold) {
  const Seen seen = call("", {"t=x", "--timeout", "1ms"});

  EXPECT_EQ(seen.code, 124);
  EXPECT_THAT(seen.errors, HasSubstr("corral call: "));
}

TEST_F(DirectOutput, ACallAnswersWhatTheServerAsks) {
  const std::string questions =
      R"({"jsonrpc":"2.0","id":"p","method":"ping"})"
      "\n"
      R"({"jsonrpc":"2.0","id":"q","method":"roots/list"})"
      "\n"
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}})"
      "\n"
      R"({"jsonrpc":"2.0","id":99,"result":{"content":[{"type":"text","text":"other"}]}})"
      "\n";
  const Seen seen = call(questions + result(R"({"content":[{"type":"text","text":"mine"}]})"));

  EXPECT_EQ(seen.out, "mine\n");
  EXPECT_EQ(seen.errors, "info: x\n");
  EXPECT_THAT(asked_by(script_), testing::Contains(R"({"jsonrpc":"2.0","id":"p","result":{}})"));
  EXPECT_THAT(asked_by(script_), testing::Contains(HasSubstr("this client does not support this method")));
}

TEST_F(DirectOutput, ArgumentsMayComeAsJson) {
  const Scripted done{"tools/call", result(R"({"content":[]})")};
  with({kHello, kTools, done}, {"call", "files", "echo", "--json", R"({ "t" : "1.50" })"});
  EXPECT_THAT(asked("tools/call"), HasSubstr(R"("name":"echo","arguments":)"));
  EXPECT_THAT(asked("tools/call"), HasSubstr("1.50"));
  const Seen seen = with({kHello, kTools, done}, {"call", "files", "echo", "-"}, R"({"t":"in"})");
  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_THAT(asked("tools/call"), HasSubstr(R"({"t":"in"})"));
  EXPECT_THAT(with({kHello, kTools}, {"call", "files", "echo", "-"}, "[").errors, HasSubstr("on stdin"));
}

TEST_F(DirectOutput, ABatchAnswersEachLine) {
  const Seen seen = with({kHello,
                          kTools,
                          {"tools/call", result(R"({"content": [1]})")},
                          {"tools/call", error(R"({"code":-1,"message":"m"})")},
                          {"tools/call", result(R"({"isError":true})")}},
                         {"call", "files", "--batch"},
                         R"({"tool":"bare"}
{"tool":"echo","arguments":{"t":"x"},"id":{"a": 7}}
{"tool":"bare","id":null}
{"tool":"ecko"}
{"tool":"echo","arguments":{}}
{"tol":"echo","id":"six"}
{"id":"x"}
{"tool":"echo","arguments":[],"id":7}
[]
{)");
  EXPECT_EQ(seen.code, 3) << seen.errors;
  EXPECT_EQ(seen.out, R"({"id":1,"exit":0,"result":{"content":[1]}}
{"id":{"a":7},"exit":3,"error":{"code":-1,"message":"m"}}
{"id":null,"exit":1,"result":{"isError":true}}
{"id":4,"exit":2,"error":{"message":"'files' has no tool 'ecko': did you mean echo? `corral tools` lists 2"}}
{"id":5,"exit":2,"error":{"message":"echo: the argument t is missing"}}
{"id":"six","exit":2,"error":{"message":"the line has an unknown member 'tol': use tool, arguments and id"}}
{"id":"x","exit":2,"error":{"message":"the line has no \"tool\": add the name of the tool"}}
{"id":7,"exit":2,"error":{"message":"the arguments of the line are not a JSON object"}}
{"id":9,"exit":2,"error":{"message":"the line is not an object such as {\"tool\":\"NAME\",\"arguments\":{}}"}}
{"id":10,"exit":2,"error":{"message":"the line is not valid JSON: incomplete JSON"}}
)");
  EXPECT_EQ(with({kHello, kTools}, {"call", "files", "--batch"}, "").code, 0);
}

}  // namespace
}  // namespace corral::cli
