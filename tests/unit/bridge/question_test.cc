// The words of a question, whichever side asks it.
#include "bridge/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "bridge/input_requests.h"

namespace corral::bridge {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::array kAsks = {Ask::Form, Ask::Url, Ask::Sampling, Ask::SamplingWithTools, Ask::Roots};

std::string abilities_of(std::string_view capabilities) {
  const Abilities abilities(capabilities);
  std::string letters;
  for (std::size_t i = 0; i < kAsks.size(); ++i) {
    if (abilities.can(kAsks[i])) letters += "FUSTR"[i];
  }
  EXPECT_EQ(abilities.any(), !letters.empty()) << capabilities;
  return letters;
}

TEST(Abilities, AreThoseThatTheClientDeclaresAsObjects) {
  EXPECT_EQ(abilities_of("{}"), "");
  EXPECT_EQ(abilities_of(""), "");
  EXPECT_EQ(abilities_of(R"({"elicitation":{}})"), "F");
  EXPECT_EQ(abilities_of(R"({"elicitation":{"form":{}}})"), "F");
  EXPECT_EQ(abilities_of(R"({"elicitation":{"url":{}}})"), "U");
  EXPECT_EQ(abilities_of(R"({"elicitation":{"url":true}})"), "F");
  EXPECT_EQ(abilities_of(R"({"elicitation":{"form":{},"url":{}}})"), "FU");
  EXPECT_EQ(abilities_of(R"({"elicitation":true})"), "");
  EXPECT_EQ(abilities_of(R"({"sampling":{}})"), "S");
  EXPECT_EQ(abilities_of(R"({"sampling":{"tools":{}}})"), "ST");
  EXPECT_EQ(abilities_of(R"({"sampling":[]})"), "");
  EXPECT_EQ(abilities_of(R"({"roots":{"listChanged":true}})"), "R");
  EXPECT_EQ(abilities_of(R"({"roots":true})"), "");
  EXPECT_FALSE(Abilities().any());
}

TEST(Abilities, AreThereWithWhatIsRequiredForEachAsk) {
  for (const Ask ask : kAsks) EXPECT_TRUE(Abilities(required_capabilities(ask)).can(ask)) << name_of(ask);
  EXPECT_EQ(abilities_of(required_capabilities(Ask::Sampling)), "S");
  EXPECT_EQ(abilities_of(required_capabilities(Ask::Url)), "U");
}

TEST(WhatIsAsked, DependsOnTheMethodAndItsParameters) {
  EXPECT_EQ(what_is_asked("roots/list", ""), Ask::Roots);
  EXPECT_EQ(what_is_asked("sampling/createMessage", R"({"messages":[]})"), Ask::Sampling);
  EXPECT_EQ(what_is_asked("sampling/createMessage", R"({"tools":[]})"), Ask::SamplingWithTools);
  EXPECT_EQ(what_is_asked("sampling/createMessage", R"({"toolChoice":{}})"), Ask::SamplingWithTools);
  EXPECT_EQ(what_is_asked("elicitation/create", "{}"), Ask::Form);
  EXPECT_EQ(what_is_asked("elicitation/create", R"({"mode":"form"})"), Ask::Form);
  EXPECT_EQ(what_is_asked("elicitation/create", R"({"mode":"url"})"), Ask::Url);
  EXPECT_EQ(what_is_asked("elicitation/create", R"({"mode":"voice"})"), std::nullopt);
  EXPECT_EQ(what_is_asked("elicitation/create", R"({"mode":1})"), std::nullopt);
  EXPECT_EQ(what_is_asked("tools/call", R"({"mode":"form"})"), std::nullopt);
}

TEST(WhatIsAsked, HasAName) {
  EXPECT_EQ(name_of(Ask::Form), "elicitation by a form");
  EXPECT_EQ(name_of(Ask::Url), "elicitation by a URL");
  EXPECT_EQ(name_of(Ask::Sampling), "sampling");
  EXPECT_EQ(name_of(Ask::SamplingWithTools), "sampling with tools");
  EXPECT_EQ(name_of(Ask::Roots), "roots");
}

TEST(QuestionToAModernClient, HasEverythingButWhatOnlyLegacyClientsKnow) {
  EXPECT_EQ(input_request("roots/list", ""), R"({"method":"roots/list"})");
  EXPECT_EQ(input_request("roots/list", "{}"), R"({"method":"roots/list"})");
  EXPECT_EQ(input_request("m", R"({"elicitationId":"e","a":1,"task":{},"b":{"task":2}})"),
            R"({"method":"m","params":{"a":1,"b":{"task":2}}})");
  EXPECT_EQ(input_request("m", R"({"_meta":{"progressToken":1,"dev.corral/inputKey":"k"},"a":1})"),
            R"({"method":"m","params":{"a":1}})");
  EXPECT_EQ(input_request("m", R"({"_meta":{"progressToken":1,"x":2},"a":1})"),
            R"({"method":"m","params":{"_meta":{"x":2},"a":1}})");
}

TEST(QuestionToAModernClient, HasTheKeyThatTheServerWishesForIfItIsShort) {
  const auto wished = [](const std::string& key) {
    return wished_key(R"({"_meta":{"dev.corral/inputKey":)" + key + "}}");
  };
  const std::string longest(64, 'k');
  EXPECT_EQ(wished(R"("name")"), "name");
  EXPECT_EQ(wished("\"" + longest + "\""), longest);
  EXPECT_EQ(wished("\"" + longest + "k\""), "");
  EXPECT_EQ(wished("7"), "");
  EXPECT_EQ(wished_key("{}"), "");
}

TEST(Dismissal, CancelsAnElicitationAndIsAnErrorToAnythingElse) {
  for (const Ask ask : {Ask::Form, Ask::Url}) {
    EXPECT_EQ(dismissal({.id = "7", .ask = ask, .key = {}, .request = {}}),
              R"({"jsonrpc":"2.0","id":7,"result":{"action":"cancel"}})");
  }
  for (const Ask ask : {Ask::Sampling, Ask::SamplingWithTools, Ask::Roots}) {
    EXPECT_EQ(dismissal({.id = "\"q\"", .ask = ask, .key = {}, .request = {}}),
              R"({"jsonrpc":"2.0","id":"q","error":{"code":-32603,"message":"the client gave no answer to )" +
                  std::string(name_of(ask)) + "\"}}");
  }
}

// ---- of a modern server

std::string fault_of(const std::string& result) {
  const auto read = read_input_required(result);
  return read ? "none" : read.error().message;
}

TEST(InputRequired, IsReadWithItsQuestionsInOrderAndItsState) {
  const auto read =
      read_input_required(R"({"requestState":"s\u0031","inputRequests":{"b":{"method":"roots/list"},)"
                          R"("a":{"method":"elicitation/create","params":{"mode":"form"}}}})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->state, R"("s\u0031")");
  ASSERT_THAT(read->requests, SizeIs(2));
  EXPECT_EQ(read->requests[0].key, R"("b")");
  EXPECT_EQ(read->requests[0].method, "roots/list");
  EXPECT_EQ(read->requests[0].params, "");
  EXPECT_EQ(read->requests[1].key, R"("a")");
  EXPECT_EQ(read->requests[1].params, R"({"mode":"form"})");
}

TEST(InputRequired, WithAStateAloneAsksNothing) {
  for (const char* result : {R"({"requestState":"s"})", R"({"requestState":"s","inputRequests":{}})"}) {
    const auto read = read_input_required(result);
    ASSERT_TRUE(read) << result;
    EXPECT_EQ(read->state, R"("s")");
    EXPECT_THAT(read->requests, SizeIs(0));
  }
}

TEST(InputRequired, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(fault_of("{}"), "without saying what it wants to know");
  EXPECT_EQ(fault_of(R"({"inputRequests":{}})"), "without saying what it wants to know");
  EXPECT_EQ(fault_of(R"({"inputRequests":[]})"), "in a form that is not an object");
  for (const char* entry :
       {R"({"method":"tools/call","params":{}})", R"({"method":"elicitation/create"})",
        R"({"method":"sampling/createMessage"})", R"({"params":{}})", R"({"method":7})", "7",
        R"({"method":"elicitation/create","params":7})", R"({"method":"roots/list","params":"x"})"}) {
    EXPECT_EQ(
        fault_of(R"({"inputRequests":{"good":{"method":"roots/list"},"bad":)" + std::string(entry) + "}}"),
        R"(of an unknown kind, under the key "bad")")
        << entry;
  }
}

TEST(InputRequired, NamesTheFirstOddKeyAndNotAllOfIt) {
  const std::string key(200, 'k');
  EXPECT_EQ(fault_of(R"({"inputRequests":{")" + key + R"(":7,"other":8}})"),
            "of an unknown kind, under the key \"" + key.substr(0, 99));
}

TEST(InputRequired, MayAskSixtyFourThingsUnderKeysOfAKibibyte) {
  const auto asking = [](int count) {
    std::string entries;
    for (int i = 0; i < count; ++i) {
      entries += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":{"method":"roots/list"})";
    }
    return R"({"inputRequests":{)" + entries + "}}";
  };
  EXPECT_EQ(fault_of(asking(64)), "none");
  EXPECT_EQ(fault_of(asking(65)), "with more than 64 questions at once");

  const auto under = [](std::size_t size) {
    return R"({"inputRequests":{")" + std::string(size, 'k') + R"(":{"method":"roots/list"}}})";
  };
  EXPECT_EQ(fault_of(under(1024)), "none");
  EXPECT_EQ(fault_of(under(1025)), "under a key of more than 1024 bytes");
}

TEST(InputRequired, NamesTheCapabilityThatTheClientLacks) {
  const InputRequest roots{"", "roots/list", ""};
  const InputRequest sampling{"", "sampling/createMessage", "{}"};
  const InputRequest tools{"", "sampling/createMessage", R"({"tools":[]})"};
  const InputRequest form{"", "elicitation/create", "{}"};
  const InputRequest url{"", "elicitation/create", R"({"mode":"url"})"};
  EXPECT_EQ(lacking_capability(roots, "{}"), "roots");
  EXPECT_EQ(lacking_capability(roots, R"({"roots":{}})"), std::nullopt);
  EXPECT_EQ(lacking_capability(sampling, "{}"), "sampling");
  EXPECT_EQ(lacking_capability(sampling, R"({"sampling":{}})"), std::nullopt);
  EXPECT_EQ(lacking_capability(tools, "{}"), "sampling");
  EXPECT_EQ(lacking_capability(tools, R"({"sampling":{}})"), "sampling.tools");
  EXPECT_EQ(lacking_capability(form, "{}"), "elicitation");
  EXPECT_EQ(lacking_capability(form, R"({"elicitation":{"url":{}}})"), "elicitation.form");
  EXPECT_EQ(lacking_capability(url, R"({"elicitation":{}})"), "elicitation.url");
  EXPECT_EQ(lacking_capability(url, R"({"elicitation":{"url":{}}})"), std::nullopt);
}

TEST(QuestionToALegacyClient, HasAnElicitationIdOnlyIfItIsAboutAUrl) {
  EXPECT_EQ(question(QuestionId(3), {"", "roots/list", ""}),
            R"({"jsonrpc":"2.0","id":3,"method":"roots/list"})");
  EXPECT_EQ(question(QuestionId(3), {"", "elicitation/create", R"({"mode":"form"})"}),
            R"({"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"mode":"form"}})");
  EXPECT_EQ(question(QuestionId(3), {"", "sampling/createMessage", R"({"mode":"url"})"}),
            R"({"jsonrpc":"2.0","id":3,"method":"sampling/createMessage","params":{"mode":"url"}})");

  const InputRequest url{"", "elicitation/create", R"({"elicitationId":"old","mode":"url","url":"u"})"};
  const std::string asked = question(QuestionId(3), url);
  const std::string head =
      R"({"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"elicitationId":")";
  ASSERT_TRUE(asked.starts_with(head)) << asked;
  EXPECT_EQ(asked.substr(head.size() + 32), R"(","mode":"url","url":"u"}})");
  EXPECT_NE(question(QuestionId(3), url), asked) << "each has an id of its own";
}

}  // namespace
}  // namespace corral::bridge
