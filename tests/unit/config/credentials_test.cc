// Which parts of an entry are named as credentials, and that their values are never shown.
#include "config/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace corral::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<PlainCredential> found(const std::string& entry) {
  return plain_credentials(boost::json::parse(entry).as_object());
}

TEST(PlainCredentials, AreVariablesWithTheNameOrTheFormOfASecret) {
  EXPECT_THAT(
      found(
          R"({"env": {"GITHUB_TOKEN": "x", "MODE": "fast", "SOME": "ghp_0123456789abcdef", "EMPTY_KEY": ""}})"),
      ElementsAre(PlainCredential{"GITHUB_TOKEN", "GITHUB_TOKEN"}, PlainCredential{"SOME", "SOME"}));
  EXPECT_THAT(found(R"({"environment": {"apiKey": "x"}})"), ElementsAre(PlainCredential{"apiKey", "APIKEY"}));
  EXPECT_THAT(
      found(R"({"env": {"TOKEN_FILE": "/home/me/token", "GITHUB_TOKEN": "${GITHUB_TOKEN}", "N": 5}})"),
      IsEmpty());
}

TEST(PlainCredentials, AreArgumentsInEveryFormThatCommandsTake) {
  EXPECT_THAT(
      found(R"({"command": "x", "args": ["--api-key", "abc", "--token=abc", "KEY=abc", "-y", "plain"]})"),
      ElementsAre(PlainCredential{"the argument after --api-key", "API_KEY"},
                  PlainCredential{"--token in the arguments", "TOKEN"},
                  PlainCredential{"KEY in the arguments", "KEY"}));
  EXPECT_THAT(found(R"({"command": ["x", "sk-0123456789abcdef"]})"),
              ElementsAre(PlainCredential{"an argument", "TOKEN"}));
  EXPECT_THAT(found(R"({"args": ["postgres://me:hunter2@db/x"]})"),
              ElementsAre(PlainCredential{"an argument", "TOKEN"}));
  EXPECT_THAT(found(R"({"args": ["--token", "${TOKEN}", "--key-file", "/k", "--token", "--verbose", 7,
      "https://a.example/mcp", "@scope/package@1.2.3", "mode=fast"]})"),
              IsEmpty());
}

TEST(PlainCredentials, AreHeadersAndAddresses) {
  EXPECT_THAT(found(R"({"headers": {"Authorization": "Bearer x", "X-Api-Key": "y", "Accept": "json"}})"),
              ElementsAre(PlainCredential{"header Authorization", "AUTHORIZATION"},
                          PlainCredential{"header X-Api-Key", "X_API_KEY"}));
  EXPECT_THAT(found(R"({"headers": {"Authorization": "Bearer ${T}"}})"), IsEmpty());
  EXPECT_THAT(found(R"({"url": "https://me:pw@a.example/mcp"})"),
              ElementsAre(PlainCredential{"the URL", "TOKEN"}));
  EXPECT_THAT(found(R"({"serverUrl": "https://a.example/mcp?api_key=abc"})"),
              ElementsAre(PlainCredential{"the URL", "TOKEN"}));
  EXPECT_THAT(found(R"({"url": "https://a.example/mcp"})"), IsEmpty());
}

TEST(PlainCredentials, AreFewAndPrintableWhateverTheEntryHas) {
  boost::json::object variables;
  for (int i = 0; i < 100; ++i)
    variables["TOKEN\n\x1b[2J" + std::string(500, 'a') + std::to_string(i)] = "ghp_0123456789";
  const auto all = plain_credentials({{"env", variables}});

  ASSERT_EQ(all.size(), 20U);
  EXPECT_EQ(all[0].place.find('\x1b'), std::string::npos);
  EXPECT_LT(all[0].place.size(), 200U);
  EXPECT_LE(all[0].variable.size(), 100U);
  EXPECT_THAT(found(R"({"env": 5, "args": "x", "headers": [], "url": {}, "command": {"path": 1}})"),
              IsEmpty());
  EXPECT_EQ(found(R"({"env": {"日本TOKEN": "ghp_0123456789"}})").front().variable, "TOKEN");
}

}  // namespace
}  // namespace corral::config
