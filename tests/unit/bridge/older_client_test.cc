#include "bridge/older_client.h"

#include "bridge/legacy_exchange.h"

namespace corral::bridge {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kAudio =
    R"({"type":"audio","data":"AA==","mimeType":"audio/wav","annotations":{"priority":1.0}})";
const std::string kLink =
    R"({"type":"resource_link","uri":"file:///\u0061","name":"n","title":"T","description":"D"})";
const std::string kText = R"({"type":"text","text":"resource_link"})";

TEST(OlderWords, AreNeededBeforeJune2025) {
  EXPECT_TRUE(needs_older_words("2024-11-05"));
  EXPECT_TRUE(needs_older_words("2025-03-26"));
  EXPECT_FALSE(needs_older_words("2025-06-18"));
  EXPECT_FALSE(needs_older_words("2025-11-25"));
}

TEST(OlderWords, SayThatThereWasAudioBeforeMarch2025) {
  const std::string result = R"({"content":[)" + kText + "," + kAudio + "]}";

  EXPECT_EQ(
      in_older_words("tools/call", result, "2024-11-05"),
      R"({"content":[)" + kText +
          R"(,{"type":"text","text":"[Audio (audio/wav) left out: this client's version of MCP has no audio )"
          R"(content.]","annotations":{"priority":1.0}}]})");
  EXPECT_EQ(in_older_words("tools/call", result, "2025-03-26"), result);
}

TEST(OlderWords, NameTheUriOfAResourceLinkBeforeJune2025) {
  const std::string result = R"({"content":[)" + kLink + "]}";

  EXPECT_EQ(in_older_words("tools/call", result, "2025-03-26"),
            R"({"content":[{"type":"text","text":"Resource: file:///a (T)\nD"}]})");
  EXPECT_EQ(in_older_words("tools/call", result, "2025-06-18"), result);
}

TEST(OlderWords, LeaveStructuredContentOutBeforeJune2025) {
  const std::string result = R"({"content":[],"structuredContent":{"a":1},"isError":false})";

  EXPECT_EQ(in_older_words("tools/call", result, "2025-03-26"), R"({"content":[],"isError":false})");
  EXPECT_EQ(in_older_words("tools/call", result, "2025-06-18"), result);
}

TEST(OlderWords, LeaveOutputSchemasOutBeforeJune2025) {
  const std::string result =
      R"({"tools":[{"outputSchema":{},"name":"a"},{"name":"b","outputSchema":{},"title":"B"}]})";

  EXPECT_EQ(in_older_words("tools/list", result, "2025-03-26"),
            R"({"tools":[{"name":"a"},{"name":"b","title":"B"}]})");
  EXPECT_EQ(in_older_words("tools/list", result, "2025-06-18"), result);
}

TEST(OlderWords, AreUsedInPromptsToo) {
  EXPECT_EQ(
      in_older_words("prompts/get", R"({"messages":[{"role":"user","content":)" + kLink + "}]}",
                     "2024-11-05"),
      R"({"messages":[{"role":"user","content":{"type":"text","text":"Resource: file:///a (T)\nD"}}]})");
}

TEST(OlderWords, ChangeNothingElse) {
  const std::string result =
      R"({"content":[)" + kAudio + R"(],"structuredContent":1,"tools":[{"outputSchema":{}}]})";

  EXPECT_EQ(in_older_words("resources/read", result, "2024-11-05"), result);
  for (const std::string odd : {"7", "[]", R"({"content":7})", R"({"content":[7,{"type":7}]})", "{}"}) {
    EXPECT_EQ(in_older_words("tools/call", odd, "2024-11-05"), odd);
  }
  for (const std::string odd : {R"({"messages":{}})", R"({"messages":[7,{},{"content":7}]})"}) {
    EXPECT_EQ(in_older_words("prompts/get", odd, "2024-11-05"), odd);
  }
}

class OlderClient : public testing::Test, public LegacyExchange {
 protected:
  OlderClient() { begin("2024-11-05"); }
  void begin(const std::string& version) { bridge = older_client(*this, version); }
  void call(const std::string& id, const std::string& method = "tools/call") {
    client_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"("})");
    to_server();
  }
  void answer(const std::string& id, const std::string& result) {
    server_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}");
  }
};

TEST_F(OlderClient, GetsResultsInItsOwnWords) {
  call("1");
  answer("1", R"({"content":[)" + kLink + "]}");

  EXPECT_EQ(
      one_to_client(),
      R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Resource: file:///a (T)\nD"}]}})");
}

TEST_F(OlderClient, GetsManyChangesAtOnce) {
  call("1");
  answer("1", R"({"structuredContent":1,"content":[)" + kLink + "," + kLink + "," + kText + "," + kLink +
                  "," + kLink + "," + kAudio + "]}");

  const std::string result = at(one_to_client(), {"result"});
  EXPECT_THAT(result, HasSubstr(kText));
  EXPECT_THAT(result, Not(HasSubstr("structuredContent")));
  EXPECT_THAT(result, Not(HasSubstr("audio/wav\",")));
}

TEST_F(OlderClient, GetsWhatNeedsNoChangeAsItCame) {
  call("1");
  answer("1", R"({ "content" : [ )" + kText + " ] }");
  EXPECT_TRUE(as_it_came);

  call("2", "resources/read");
  answer("2", R"({"content":[)" + kAudio + R"(],"structuredContent":{}})");
  EXPECT_TRUE(as_it_came);
  call("3");
  server_says(R"({"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"m"}})");
  EXPECT_TRUE(as_it_came);
  server_says(
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"structuredContent"}})");
  EXPECT_TRUE(as_it_came);
}

TEST_F(OlderClient, IsHeardAsItSpeaks) {
  for (const std::string said :
       {R"({"jsonrpc":"2.0", "id":"1","method":"tools/call","params":{"x":1.0}})",
        R"({"jsonrpc":"2.0","id":5,"result":{}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}})"}) {
    client_says(said);
    EXPECT_EQ(one_to_server(), said);
  }
}

TEST_F(OlderClient, IsRefusedASecondRequestWithAnOpenId) {
  call("1");

  client_says(R"({"jsonrpc":"2.0","id":1,"method":"resources/read"})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32600");
  EXPECT_THAT(server, IsEmpty());
  answer("1", R"({"content":[],"structuredContent":{}})");
  EXPECT_EQ(at(one_to_client(), {"result"}), R"({"content":[]})");
}

TEST_F(OlderClient, MayUseAnIdAgainAfterTheAnswer) {
  call("1");
  answer("1", "{}");
  to_client();

  call("1", "prompts/get");
  EXPECT_THAT(client, IsEmpty());
}

TEST_F(OlderClient, IsRememberedOnlyUpToALimit) {
  for (int i = 0; i < 4096; ++i) call(std::to_string(i));

  client_says(R"({"jsonrpc":"2.0","id":"more","method":"tools/call"})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-31003");
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(OlderClient, IsNotAskedToOpenAUrlBeforeNovember2025) {
  const std::string by_url =
      R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url","url":"http://u"}})";
  begin("2025-06-18");

  server_says(by_url);
  const std::string refusal = one_to_server();
  EXPECT_EQ(at(refusal, {"id"}), R"("q")");
  EXPECT_EQ(at(refusal, {"error", "code"}), "-32602");
  EXPECT_THAT(client, IsEmpty());

  begin("2025-11-25");
  server_says(by_url);
  EXPECT_EQ(one_to_client(), by_url);
}

TEST_F(OlderClient, IsAskedWithForms) {
  const std::string form =
      R"({"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"m"}})";

  server_says(form);

  EXPECT_EQ(one_to_client(), form);
  EXPECT_TRUE(as_it_came);
}

}  // namespace
}  // namespace corral::bridge
