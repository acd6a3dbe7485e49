// A list of allowed or denied tools must hold whatever a client writes, and whichever parser its server has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class LimitedTools : public testing::Test {
 protected:
  LimitedTools() {
    exchange_.spec->allows_tool = [](std::string_view tool) { return tool == "echo"; };
    client_ = &exchange_.ready_client();
  }

  /// What the server hears of it.
  std::vector<std::string> passed(const std::string& line) {
    client_->say(line);
    exchange_.settle();
    return exchange_.server().heard();
  }
  static std::string call(const std::string& params) { return request("7", "tools/call", params); }

  Exchange exchange_{config::Share::Session};
  FakeClient* client_ = nullptr;
};

TEST_F(LimitedTools, PassOnWhatIsAllowed) {
  EXPECT_THAT(passed(call(R"({"name":"echo","arguments":{"name":"pid","Name":1}})")), SizeIs(1));
  EXPECT_THAT(passed(R"({"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"\u006eame":"echo"}})"),
              SizeIs(1));
}

TEST_F(LimitedTools, RefuseWhatIsNot) {
  EXPECT_THAT(passed(call(R"({"name":"pid"})")), IsEmpty());
  EXPECT_THAT(client_->heard(),
              ElementsAre(AllOf(HasSubstr(R"("id":7)"), HasSubstr("-31005"), HasSubstr("pid"))));
}

TEST_F(LimitedTools, RefuseANameThatAnotherParserMightReadOtherwise) {
  for (const char* params :
       {R"({"name":"pid","name":"echo"})", R"({"name":"echo","name":"pid"})",
        R"({"name":"echo","Name":"pid"})", R"({"NAME":"echo"})", R"({"name":"echo","n\u0041me":"pid"})",
        R"({"name":"echo\u0000"})", R"({"name":"echo","name\u0000x":"pid"})", R"({"name":["echo"]})",
        R"({"name":7})", R"({"arguments":{}})", R"({})"}) {
    EXPECT_THAT(passed(call(params)), IsEmpty()) << params;
    EXPECT_THAT(client_->heard(), ElementsAre(AllOf(HasSubstr(R"("id":7)"), HasSubstr("-32600")))) << params;
  }
}

TEST_F(LimitedTools, RefuseKeysThatSomeParsersTakeForMethodOrParams) {
  for (
      const char* line :
      {R"({"jsonrpc":"2.0","id":7,"method":"ping2","Method":"tools/call","params":{"name":"pid"}})",
       R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"},"Params":{"name":"pid"}})",
       R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"},"param\u017f":{"name":"pid"}})"}) {
    EXPECT_THAT(passed(line), IsEmpty()) << line;
    EXPECT_THAT(client_->heard(), ElementsAre(AllOf(HasSubstr(R"("id":7)"), HasSubstr("-32600")))) << line;
  }
}

TEST_F(LimitedTools, LetNoCallThroughThatLooksLikeNewsOrAnAnswer) {
  EXPECT_THAT(
      passed(R"({"jsonrpc":"2.0","method":"notifications/x","Method":"tools/call","params":{"name":"pid"}})"),
      IsEmpty());
  exchange_.server().say(R"({"jsonrpc":"2.0","id":"q","method":"roots/list"})");
  exchange_.settle();
  const auto asked = client_->heard();
  ASSERT_THAT(asked, SizeIs(1));
  const std::string id = boost::json::serialize(json(asked[0]).at("id"));
  EXPECT_THAT(passed(R"({"jsonrpc":"2.0","id":)" + id +
                     R"(,"result":{},"Method":"tools/call","Params":{"name":"pid"}})"),
              IsEmpty());
  EXPECT_EQ(exchange_.pool.slots().front().router()->counters().misleading, 2U);
}

TEST_F(LimitedTools, LetNoCallThroughThatHasNoId) {
  const auto counted = [this] { return exchange_.pool.slots().front().router()->counters().misleading; };
  for (const char* method : {"tools/call", "tools\\/call", "\\u0074ools/call", "anything"}) {
    const auto before = counted();
    EXPECT_THAT(
        passed(std::string(R"({"jsonrpc":"2.0","method":")") + method + R"(","params":{"name":"pid"}})"),
        IsEmpty())
        << method;
    EXPECT_EQ(counted(), before + 1) << method;
  }
  EXPECT_THAT(passed(R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})"), SizeIs(1));
}

TEST(LimitedToolsOfAModernClient, LetNoCallThroughThatHasNoId) {
  Exchange exchange(config::Share::Session);
  exchange.spec->allows_tool = [](std::string_view tool) { return tool == "echo"; };
  const std::string meta =
      R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
  FakeClient& client = exchange.connect();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",)" + meta + "}}");
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  exchange.settle();
  exchange.server().heard();

  client.say(R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"pid",)" + meta + "}}");
  exchange.settle();

  EXPECT_THAT(exchange.server().heard(), IsEmpty());
}

TEST(LimitedToolsInABatch, LetNoCallThroughThatHasNoId) {
  Exchange exchange(config::Share::Session);
  exchange.spec->allows_tool = [](std::string_view tool) { return tool == "echo"; };
  FakeClient& client = exchange.connect();
  client.say(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}})");
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  exchange.settle();
  exchange.server().heard();

  client.say(R"([{"jsonrpc":"2.0","method":"tools/call","params":{"name":"pid"}},)"
             R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pid"}},)"
             R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}])");
  exchange.settle();

  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("echo")));
}

TEST_F(LimitedTools, RefuseANameThatIsTooLongToCompare) {
  bool asked = false;
  exchange_.spec = std::make_shared<pool::ServerSpec>(*exchange_.spec);
  exchange_.spec->allows_tool = [&asked](std::string_view tool) {
    asked = asked || tool.size() > 1024;
    return true;
  };
  exchange_.spec->launch.argv.emplace_back("again");
  client_ = &exchange_.ready_client();
  const auto heard_of = [this](const std::string& name) {
    client_->say(call(R"({"name":")" + name + R"("})"));
    exchange_.settle();
    return exchange_.server(1).heard().size();
  };

  EXPECT_EQ(heard_of(std::string(1024, 'x')), 1U);
  client_->say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  exchange_.settle();
  exchange_.server(1).heard();
  EXPECT_EQ(heard_of(std::string(1025, 'x')), 0U);

  EXPECT_THAT(client_->heard(),
              ElementsAre(AllOf(HasSubstr(R"("id":7)"), HasSubstr("-32602"), HasSubstr("1024"))));
  EXPECT_FALSE(asked);
}

TEST(UnlimitedTools, PassOnWhateverIsValid) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","Name":"b"},"Method":1})");
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), SizeIs(1));
}

// A server that does not tell upper from lower case would answer or cancel the call of another session.
TEST(SharedServer, IsSentNoKeyThatItMightTakeForAnotherId) {
  Exchange exchange;
  FakeClient& victim = exchange.ready_client();
  FakeClient& other = exchange.ready_client();
  victim.say(R"({"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"slow"}})");
  exchange.settle();
  ASSERT_THAT(exchange.server().heard(), SizeIs(1));

  for (
      const char* forged :
      {R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"},"ID":3})",
       R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"},"id\u0000":3})",
       R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","_META":{"progressToken":3}}})",
       R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","_meta":{"ProgressToken":3}}})"}) {
    other.say(forged);
    exchange.settle();
    EXPECT_THAT(exchange.server().heard(), IsEmpty()) << forged;
    EXPECT_THAT(other.heard(), ElementsAre(AllOf(HasSubstr(R"("id":7)"), HasSubstr("-32600")))) << forged;
  }
}

TEST(SharedServer, IsToldOfACancellationInOurWordsIfTheClientsMightNameAnotherCall) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  for (const char* further : {R"(},"ID":3})", R"(,"RequestID":3}})", R"(,"requestid":3}})"}) {
    client.say(R"({"jsonrpc":"2.0","id":"mine","method":"tools/call","params":{"name":"slow"}})");
    exchange.settle();
    const auto asked = exchange.server().heard();
    ASSERT_THAT(asked, SizeIs(1));
    client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"mine")" +
               std::string(further));
    exchange.settle();

    const auto heard = exchange.server().heard();
    ASSERT_THAT(heard, SizeIs(1)) << further;
    EXPECT_EQ(json(heard[0]).at("params").at("requestId"), json(asked[0]).at("id"));
    EXPECT_THAT(heard[0], Not(HasSubstr("3}"))) << further;
  }
}

}  // namespace
}  // namespace corral::tests
