#include "observe/control_server.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <deque>

#include "observe/control_tools.h"
#include "wire/rpc.h"

namespace corral::observe {
namespace {

namespace json = boost::json;

std::string call(int id, const std::string& tool, const std::string& arguments = "{}") {
  return tests::request(std::to_string(id), "tools/call",
                        R"({"name":")" + tool + R"(","arguments":)" + arguments + "}");
}

/// The server with tools that only remember what they were called with; calls run when the test says so.
class ControlServerTest : public testing::Test {
 protected:
  ControlServerTest() : server_(tools(), {"9.9.9", sender(), runner()}) {}

  json::value ask(const std::string& line) {
    sent_.clear();
    server_.take(line);
    run_all();
    EXPECT_EQ(sent_.size(), 1U) << line;
    return sent_.empty() ? json::value() : json::parse(sent_.front());
  }

  std::int64_t code_of(const std::string& line) { return ask(line).at("error").at("code").as_int64(); }

  /// The text of a failed call.
  std::string failure(const std::string& tool, const std::string& arguments) {
    const json::value answer = ask(call(1, tool, arguments));
    const json::value* const result = answer.as_object().if_contains("result");
    if (result == nullptr || !result->at("isError").as_bool())
      return "no failure: " + json::serialize(answer);
    return std::string(result->at("content").at(0).at("text").as_string());
  }

  void run_all() {
    while (!work_.empty()) run_one();
  }
  void run_one() {
    const auto [job, done] = std::move(work_.front());
    work_.pop_front();
    job();
    done();
  }

  std::vector<std::string> called_;
  std::vector<std::string> sent_;
  std::deque<std::pair<std::function<void()>, std::function<void()>>> work_;
  std::string structured_ = R"({"server":"files"})";
  ControlServer server_;

 private:
  std::vector<Tool> tools() {
    std::vector<Tool> all = control_tools({});
    for (Tool& tool : all) {
      tool.run = [this, name = tool.name](const json::object& arguments) {
        called_.push_back(name + json::serialize(arguments));
        return ToolResult{false, "done", structured_};
      };
    }
    return all;
  }
  std::function<void(const std::string&)> sender() {
    return [this](const std::string& message) { sent_.push_back(message); };
  }
  std::function<void(std::function<void()>, std::function<void()>)> runner() {
    return [this](std::function<void()> job, std::function<void()> done) {
      work_.emplace_back(std::move(job), std::move(done));
    };
  }
};

std::string initialize(const std::string& revision) {
  return R"({"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":")" + revision +
         R"(","capabilities":{},"clientInfo":{"name":"t","version":"1"}}})";
}

TEST_F(ControlServerTest, AgreesOnTheRevisionOfTheClientOrTheNewest) {
  for (const char* const revision : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    EXPECT_EQ(ask(initialize(revision)).at("result").at("protocolVersion"), json::value(revision));
  }
  const json::value answer = ask(initialize("2026-07-28"));

  EXPECT_EQ(answer.at("id"), json::value("a"));
  EXPECT_EQ(answer.at("result").at("protocolVersion"), json::value("2025-11-25"));
  EXPECT_EQ(answer.at("result").at("serverInfo").at("name"), json::value("corral"));
  EXPECT_EQ(answer.at("result").at("serverInfo").at("version"), json::value("9.9.9"));
  EXPECT_TRUE(answer.at("result").at("capabilities").as_object().contains("tools"));
}

TEST_F(ControlServerTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}})"), -32601);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})"), -32601);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})"), -32602);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}})"), -32602);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})"), -32602);
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}})"), -32602);
  EXPECT_EQ(code_of(call(1, "stop_servr")), -32602);
  EXPECT_TRUE(called_.empty());
}

TEST_F(ControlServerTest, AnswersMalformedLinesAsJsonRpcDemands) {
  for (const std::string& line :
       {std::string("{"), std::string("nonsense"), std::string("{\"id\":1,\"a\":\"\xff\"}"),
        std::string("{\"a\":\"\0\"}", 9), std::string(600, '[')}) {
    const json::value answer = ask(line);
    EXPECT_EQ(answer.at("error").at("code"), json::value(-32700)) << line;
    EXPECT_TRUE(answer.at("id").is_null()) << line;
  }
  EXPECT_EQ(code_of(R"({"jsonrpc":"1.0","id":1,"method":"ping"})"), -32600);
  EXPECT_EQ(code_of("[]"), -32600);
  EXPECT_EQ(ask(R"({"jsonrpc":"2.0","id":5,"method":7})").at("id"), json::value(5));

  sent_.clear();
  server_.take_oversized("12");
  EXPECT_EQ(json::parse(sent_.at(0)).at("id"), json::value(12));
  EXPECT_EQ(json::parse(sent_.at(0)).at("error").at("code"), json::value(-32600));
}

TEST_F(ControlServerTest, SaysNothingToNotificationsAndAnswers) {
  server_.take(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  server_.take(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}})");
  server_.take(R"({"jsonrpc":"2.0","method":"notifications/cancelled"})");
  server_.take(R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"stop_server"}})");
  server_.take(R"({"jsonrpc":"2.0","id":1,"result":{}})");
  run_all();

  EXPECT_TRUE(sent_.empty());
  EXPECT_TRUE(called_.empty());
}

TEST_F(ControlServerTest, TakesABatchApartOnlyInTheRevisionThatHasThem) {
  const std::string batch =
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"ping"}])";
  ask(initialize("2025-06-18"));
  EXPECT_EQ(code_of(batch), -32600);

  ask(initialize("2025-03-26"));
  sent_.clear();
  server_.take(batch);

  EXPECT_EQ(sent_.size(), 2U);
}

TEST_F(ControlServerTest, AnnotatesEachToolByWhatItDoes) {
  const json::value answer = ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  std::string reading;
  std::string ending;
  for (const json::value& tool : answer.at("result").at("tools").as_array()) {
    const json::value& hints = tool.at("annotations");
    const std::string name(tool.at("name").as_string());
    if (hints.at("readOnlyHint").as_bool()) reading += name + " ";
    if (hints.at("destructiveHint").as_bool()) ending += name + " ";
    EXPECT_FALSE(hints.at("openWorldHint").as_bool()) << name;
    EXPECT_EQ(hints.at("title"), tool.at("title")) << name;
    EXPECT_EQ(tool.at("inputSchema").at("type"), json::value("object")) << name;
    EXPECT_EQ(tool.at("outputSchema").at("type"), json::value("object")) << name;
  }

  EXPECT_EQ(reading, "get_server_info list_servers list_sessions server_logs ");
  EXPECT_EQ(ending, "end_session restart_server stop_server reap ");
}

TEST_F(ControlServerTest, CallsATool) {
  const json::value result = ask(call(3, "stop_server", R"({"server":"files"})")).at("result");

  EXPECT_EQ(called_, std::vector<std::string>{R"(stop_server{"server":"files"})"});
  EXPECT_EQ(
      json::serialize(result),
      R"({"content":[{"type":"text","text":"done"}],"structuredContent":{"server":"files"},"isError":false})");
}

TEST_F(ControlServerTest, TellsTheCallerWhatIsWrongWithTheArguments) {
  EXPECT_NE(failure("stop_server", "{}").find("\"server\" is missing"), std::string::npos);
  EXPECT_NE(failure("stop_server", R"({"server":true})").find("must be a string"), std::string::npos);
  EXPECT_NE(failure("stop_server", R"({"server":""})").find("is empty"), std::string::npos);
  EXPECT_NE(failure("stop_server", R"({"server":"a\u0000b"})").find("control character"), std::string::npos);
  EXPECT_NE(failure("stop_server", R"({"serve":"a"})").find("did you mean \"server\"?"), std::string::npos);
  EXPECT_NE(failure("stop_server", "[]").find("are not a JSON object"), std::string::npos);
  EXPECT_NE(failure("reap", R"({"confirm":"yes"})").find("must be true or false"), std::string::npos);
  EXPECT_NE(failure("reap", R"({"keep":0})").find("from 1 to"), std::string::npos);
  EXPECT_NE(failure("server_logs", R"({"server":"a","lines":1.5})").find("whole number"), std::string::npos);
  EXPECT_NE(failure("list_servers", R"({"x":1})").find("it takes no arguments"), std::string::npos);
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  EXPECT_NE(failure("stop_server", R"({"server":)" + deep + "}").find("nested too deep"), std::string::npos);

  EXPECT_TRUE(called_.empty());
}

TEST_F(ControlServerTest, TakesANumberForATextAndAFloatThatIsWhole) {
  ask(call(1, "end_session", R"({"session":7})"));
  ask(call(2, "server_logs", R"({"server":"a","lines":5.0})"));

  EXPECT_EQ(called_.size(), 2U);
}

TEST_F(ControlServerTest, AnswersAPingWhileACallIsUnderWay) {
  server_.take(call(1, "restart_server", R"({"server":"files"})"));
  EXPECT_EQ(server_.open_calls(), 1U);

  server_.take(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  EXPECT_EQ(sent_, std::vector<std::string>{R"({"jsonrpc":"2.0","id":2,"result":{}})"});
  run_all();

  EXPECT_EQ(sent_.size(), 2U);
  EXPECT_EQ(server_.open_calls(), 0U);
}

TEST_F(ControlServerTest, NeitherDoesNorAnswersACallThatWasCancelledInTime) {
  server_.take(call(1, "stop_server", R"({"server":"files"})"));
  server_.take(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  run_all();

  EXPECT_TRUE(called_.empty());
  EXPECT_TRUE(sent_.empty());
  EXPECT_EQ(server_.open_calls(), 0U);
}

TEST_F(ControlServerTest, RefusesASecondCallWithTheSameIdAndTooMany) {
  server_.take(call(1, "list_servers"));
  server_.take(call(1, "list_servers"));
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(json::parse(sent_[0]).at("error").at("code"), json::value(-32600));

  sent_.clear();
  for (int id = 2; id <= 65; ++id) server_.take(call(id, "list_servers"));
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(json::parse(sent_[0]).at("id"), json::value(65));
  run_all();

  EXPECT_EQ(called_.size(), 64U);
}

TEST_F(ControlServerTest, FailsIfTheAnswerOfTheDaemonIsNotJson) {
  structured_ = R"({"server":)";

  EXPECT_NE(failure("get_server_info", "{}").find("the daemon's answer is not a JSON object"),
            std::string::npos);
}

}  // namespace
}  // namespace corral::observe
