// What a support archive says, and what it does not.
#include "cli/commands/bundle_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/commands/bundle_parts.h"

namespace corral::cli {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

namespace json = boost::json;

const BundleMask kMask({"/srv/ada/", "/"});

TEST(BundleMask, NamesNoHomeDirectory) {
  EXPECT_EQ(kMask.line("/srv/ada/x.json:3: see '/srv/ada' and /srv/ada"), "~/x.json:3: see '~' and ~");
  EXPECT_EQ(kMask.line("/srv/adam/x and /opt"), "/srv/adam/x and /opt") << "another user, and no home at all";
  EXPECT_EQ(kMask.line("</srv/ada> [/srv/ada] /srv/ada. /srv/ada?x"), "<~> [~] ~. ~?x");
  EXPECT_EQ(kMask.line("/srv/ada.old /srv/ada-2 /srv/ada\u00e9"), "/srv/ada.old /srv/ada-2 /srv/ada\u00e9");
}

TEST(BundleMask, HidesSecretsInAnyLine) {
  EXPECT_EQ(kMask.line("start --token abc API_KEY=def https://me:ghi@host/ sk-0123456789ab"),
            "start --token *** API_KEY=*** https://me:***@host/ ***");
  EXPECT_EQ(kMask.lines("one\n\nAuthorization: Bearer abc\ntwo"), "one\n\nAuthorization: ***\ntwo\n");
}

TEST(BundleMask, KeepsJsonJson) {
  const std::string line =
      kMask.line(R"({"text": "password=abc", "token": "def", "nested": [{"cwd": "/srv/ada"}]})");

  EXPECT_EQ(json::parse(line),
            json::parse(R"({"text": "password=***", "token": "***", "nested": [{"cwd": "~"}]})"));
  EXPECT_EQ(kMask.line("{no json, token=abc}"), "{no json, token=***");
  EXPECT_EQ(kMask.json("no json, token=abc"), "no json, token=***\n");
}

TEST(BundleMask, HidesEverythingUnderTheNameOfASecret) {
  const json::value shown = json::parse(kMask.json(
      R"({"apiKeys": ["abc"], "password": 1234, "credentials": {"user": "def", "id": "beef", "from": "${A}", "ok": true}})"));

  EXPECT_EQ(shown, json::parse(
                       R"({"apiKeys": ["***"], "password": "***",
                           "credentials": {"user": "***", "id": "***", "from": "${A}", "ok": true}})"));
}

TEST(BundleMask, HidesTheWordsOfAListLikeThoseOfACommand) {
  EXPECT_EQ(kMask.line(R"({"args": ["npx", "--token", "abc", "/srv/ada/x"], "mixed": [1, "token=def"]})"),
            R"({"args":["npx","--token","***","~/x"],"mixed":[1,"token=***"]})");
}

TEST(BundleMask, TreatsNamesOfMembersAsText) {
  EXPECT_EQ(
      kMask.line(R"({"/srv/ada/x": 1, "sk-0123456789ab": 2, "a\u009b2J": 3, "keys": {"b\u009b2J": true}})"),
      "{\"~/x\":1,\"***\":2,\"a\uFFFD2J\":3,\"keys\":{\"b\uFFFD2J\":true}}");
}

TEST(BundleMask, KeepsIdsThatLookLikeKeysButOnlyIds) {
  const std::string id = "0123456789abcdef0123456789abcdef";
  const json::value shown = json::parse(kMask.json(R"({"id": ")" + id + R"(", "text": ")" + id +
                                                   R"(", "instance": "sk-0123456789abcdef0123456789"})"));

  EXPECT_EQ(shown.at("id").as_string(), id);
  EXPECT_EQ(shown.at("text").as_string(), "***");
  EXPECT_EQ(shown.at("instance").as_string(), "***") << "the form counts, not the name";
}

TEST(BundleMask, HidesEveryVariableOfTheConfiguration) {
  const json::value shown = json::parse(kMask.configuration(
      R"({"servers": [{"env": {"PLAIN": "abc", "FROM": "${OTHER}", "DEFAULT": "${A:-def}", "API_KEY": "${KEY}"}}, 7, {"env": 7}]})"));

  EXPECT_EQ(shown.at("servers").at(0).at("env"),
            json::parse(R"({"PLAIN": "***", "FROM": "${OTHER}", "DEFAULT": "***", "API_KEY": "${KEY}"})"));
}

TEST(BundleText, HasASectionForEachPartThatNoPartCanFake) {
  const std::string text = bundle_text(
      {{"a.txt", "first\n==== b.txt ====\nlast", false}, {"b.txt", "not collected: why\n", true}});

  EXPECT_THAT(text, AllOf(HasSubstr("\n==== a.txt ====\nfirst\n ==== b.txt ====\nlast\n"),
                          EndsWith("\n==== b.txt (not collected) ====\nnot collected: why\n")));
  EXPECT_THAT(text, Not(HasSubstr("\n==== b.txt ====\n")));
}

}  // namespace
}  // namespace corral::cli
