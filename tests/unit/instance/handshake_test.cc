#include "instance/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "version.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::instance {
namespace {

using testing::HasSubstr;
using Outcome = Handshake::Outcome;
using Taken = Handshake::Taken;

const std::string kDiscovered = R"({"supportedVersions":["2026-07-28"],"capabilities":{}})";
const std::string kGreeted = R"({"protocolVersion":"2025-11-25","capabilities":{}})";

std::string error_of(int code) { return R"({"code":)" + std::to_string(code) + R"(,"message":"no"})"; }

/// A handshake that has asked its first question, as number 1.
struct Asked {
  explicit Asked(std::optional<knowledge::Era> expected = std::nullopt, bool pinned = false)
      : handshake({.expected = expected, .pinned = pinned, .initialize_params = R"({"mine":1})"}),
        question(handshake.request(CallId(1))) {}

  Taken hear(const std::string& line) { return handshake.take(wire::Message(line)); }
  Taken result(const std::string& result, int id = 1) {
    return hear(wire::result_message(std::to_string(id), result));
  }
  Taken error(int code, int id = 1) {
    return hear(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"error":)" + error_of(code) + "}");
  }
  void ask_again() { question = handshake.request(CallId(2)); }

  Handshake handshake;
  std::string question;
};

TEST(Handshake, AsksInTheEraThatIsExpectedAndInTheNewOneIfNoneIs) {
  EXPECT_EQ(Asked().question, wire::request_message("1", "server/discover", discover_params()));
  EXPECT_EQ(Asked(knowledge::Era::Modern).question,
            wire::request_message("1", "server/discover", discover_params()));
  EXPECT_EQ(Asked(knowledge::Era::Legacy).question,
            wire::request_message("1", "initialize", R"({"mine":1})"));
}

TEST(Handshake, SaysWhoWeAreAndClaimsNoCapability) {
  const std::string name = R"({"name":"corral","version":")" + std::string(kVersion) + "\"}";
  EXPECT_EQ(plain_initialize_params(),
            R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":)" + name + "}");
  EXPECT_EQ(discover_params(),
            R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
            R"("io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":)" +
                name + "}}");
}

TEST(Handshake, TakesOnlyTheAnswerToItsOwnQuestionAndOnlyOnce) {
  Asked asked(knowledge::Era::Legacy);
  for (const char* other :
       {R"({"jsonrpc":"2.0","id":2,"result":{}})", R"({"jsonrpc":"2.0","id":"other","result":{}})",
        R"({"jsonrpc":"2.0","id":1,"method":"ping"})",
        R"({"jsonrpc":"2.0","method":"notifications/message"})"}) {
    EXPECT_EQ(asked.hear(other), Taken::No) << other;
  }
  EXPECT_EQ(asked.handshake.outcome(), Outcome::Waiting);

  EXPECT_EQ(asked.result(kGreeted), Taken::Over);
  EXPECT_EQ(asked.handshake.outcome(), Outcome::Ready);
  EXPECT_EQ(asked.handshake.result(), kGreeted);
  EXPECT_EQ(asked.result("{}"), Taken::No);
  EXPECT_EQ(asked.handshake.take_unreadable("1", "cut"), Taken::No);
  EXPECT_EQ(asked.handshake.result(), kGreeted);
}

TEST(Handshake, AModernServerNamesOurRevisionAmongItsOwn) {
  for (const char* versions : {R"(["2026-07-28"])", R"(["2027-01-01","2026-07-28"])"}) {
    Asked asked;
    EXPECT_EQ(asked.result(R"({"supportedVersions":)" + std::string(versions) + R"(,"capabilities":{}})"),
              Taken::Over)
        << versions;
    EXPECT_EQ(asked.handshake.outcome(), Outcome::Ready) << versions;
    EXPECT_EQ(asked.handshake.era(), knowledge::Era::Modern);
  }
}

TEST(Handshake, AnInvalidAnswerToDiscoverShowsALegacyServer) {
  for (const char* result :
       {R"({})", R"({"supportedVersions":["2026-07-28"]})", R"({"capabilities":{}})",
        R"({"supportedVersions":"2026-07-28","capabilities":{}})",
        R"({"supportedVersions":["2026-07-28"],"capabilities":[]})",
        R"({"supportedVersions":[],"capabilities":{}})", R"({"supportedVersions":[1],"capabilities":{}})",
        R"({"supportedVersions":["2025-11-25"],"capabilities":{}})"}) {
    Asked asked;
    EXPECT_EQ(asked.result(result), Taken::AskAgain) << result;
    asked.ask_again();
    EXPECT_EQ(asked.question, wire::request_message("2", "initialize", R"({"mine":1})")) << result;
    EXPECT_EQ(asked.result(kGreeted, 2), Taken::Over) << result;
    EXPECT_EQ(asked.handshake.era(), knowledge::Era::Legacy) << result;
    EXPECT_EQ(asked.handshake.outcome(), Outcome::Ready) << result;
  }
}

TEST(Handshake, OfAPinnedModernServerSaysWhatWasWrongWithItsAnswer) {
  Asked no_answer(knowledge::Era::Modern, true);
  EXPECT_EQ(no_answer.result("{}"), Taken::Over);
  EXPECT_EQ(no_answer.handshake.outcome(), Outcome::Refused);
  EXPECT_EQ(no_answer.handshake.error(),
            R"({"code":-32603,"message":"the server gave no answer to server/discover"})");

  Asked other_revision(knowledge::Era::Modern, true);
  EXPECT_EQ(other_revision.result(R"({"supportedVersions":["2027-01-01"],"capabilities":{}})"), Taken::Over);
  EXPECT_EQ(other_revision.handshake.outcome(), Outcome::Refused);
  EXPECT_EQ(other_revision.handshake.error(),
            R"({"code":-32022,"message":"the server does not support the revision 2026-07-28"})");
}

TEST(Handshake, AnyErrorToDiscoverGetsInitializeItsChance) {
  for (const int code : {wire::kMethodNotFound, wire::kUnsupportedVersion, wire::kInternalError, -1}) {
    Asked asked;
    EXPECT_EQ(asked.error(code), Taken::AskAgain) << code;
    EXPECT_EQ(asked.handshake.era(), knowledge::Era::Legacy) << code;
  }
}

TEST(Handshake, OnlyAnErrorThatShowsThatItIsUnknownTurnsInitializeIntoDiscover) {
  for (const int code : {wire::kMethodNotFound, wire::kUnsupportedVersion}) {
    Asked asked(knowledge::Era::Legacy);
    EXPECT_EQ(asked.error(code), Taken::AskAgain) << code;
    asked.ask_again();
    EXPECT_EQ(asked.result(kDiscovered, 2), Taken::Over) << code;
    EXPECT_EQ(asked.handshake.era(), knowledge::Era::Modern) << code;
    EXPECT_EQ(asked.handshake.result(), kDiscovered) << code;
  }
  for (const int code : {wire::kInternalError, wire::kInvalidParams, -3260, -326011}) {
    Asked asked(knowledge::Era::Legacy);
    EXPECT_EQ(asked.error(code), Taken::Over) << code;
    EXPECT_EQ(asked.handshake.outcome(), Outcome::Refused) << code;
    EXPECT_EQ(asked.handshake.error(), error_of(code)) << code;
  }
}

TEST(Handshake, APinnedEraIsAskedOnce) {
  for (const knowledge::Era era : {knowledge::Era::Legacy, knowledge::Era::Modern}) {
    Asked asked(era, true);
    EXPECT_EQ(asked.error(wire::kMethodNotFound), Taken::Over);
    EXPECT_EQ(asked.handshake.outcome(), Outcome::Refused);
    EXPECT_EQ(asked.handshake.era(), era);
    EXPECT_EQ(asked.handshake.error(), error_of(wire::kMethodNotFound));
  }
}

TEST(Handshake, RefusedInBothErasHasTheErrorToInitialize) {
  Asked modern_first;
  modern_first.error(-1);
  modern_first.ask_again();
  EXPECT_EQ(modern_first.error(wire::kMethodNotFound, 2), Taken::Over);
  EXPECT_EQ(modern_first.handshake.outcome(), Outcome::Refused);
  EXPECT_EQ(modern_first.handshake.error(), error_of(wire::kMethodNotFound));

  Asked legacy_first(knowledge::Era::Legacy);
  legacy_first.error(wire::kUnsupportedVersion);
  legacy_first.ask_again();
  EXPECT_EQ(legacy_first.error(-1, 2), Taken::Over);
  EXPECT_EQ(legacy_first.handshake.outcome(), Outcome::Refused);
  EXPECT_EQ(legacy_first.handshake.error(), error_of(wire::kUnsupportedVersion));
}

TEST(Handshake, AnAnswerThatCannotBeReadIsAnError) {
  Asked asked(knowledge::Era::Legacy);
  EXPECT_EQ(asked.handshake.take_unreadable("2", "cut"), Taken::No);
  EXPECT_EQ(asked.handshake.take_unreadable("", "cut"), Taken::No);
  EXPECT_EQ(asked.handshake.take_unreadable("1", "it is \"cut\""), Taken::Over);

  EXPECT_EQ(asked.handshake.outcome(), Outcome::Refused);
  EXPECT_EQ(
      asked.handshake.error(),
      R"({"code":-32603,"message":"the server's answer to the handshake cannot be used: it is \"cut\""})");
}

TEST(Handshake, SilenceShowsALegacyServerOnlyIfNothingElseIsKnown) {
  struct Case {
    std::optional<knowledge::Era> expected;
    bool pinned;
    Outcome outcome;
  };
  for (const Case& one : {Case{std::nullopt, false, Outcome::NotModern},
                          Case{knowledge::Era::Modern, false, Outcome::NotModern},
                          Case{knowledge::Era::Modern, true, Outcome::Refused},
                          Case{knowledge::Era::Legacy, false, Outcome::Refused}}) {
    Asked asked(one.expected, one.pinned);
    asked.handshake.give_up("it is \"silent\"");
    EXPECT_EQ(asked.handshake.outcome(), one.outcome);
    EXPECT_EQ(asked.handshake.error(), R"({"code":-32603,"message":"it is \"silent\""})");
  }
  Asked both;
  both.error(-1);
  both.ask_again();
  both.handshake.give_up("silent");
  EXPECT_EQ(both.handshake.outcome(), Outcome::Refused);
}

TEST(Handshake, ThatIsOverIsNotGivenUp) {
  Asked ready(knowledge::Era::Modern);
  ready.result(kDiscovered);
  ready.handshake.give_up("late");
  ready.handshake.fail("late");
  EXPECT_EQ(ready.handshake.outcome(), Outcome::Ready);
  EXPECT_EQ(ready.handshake.result(), kDiscovered);

  Asked failed;
  failed.handshake.fail("never started");
  failed.handshake.give_up("late");
  EXPECT_EQ(failed.handshake.outcome(), Outcome::Refused)
      << "it was never asked: that says nothing of its era";
  EXPECT_THAT(failed.handshake.error(), HasSubstr("never started"));
}

TEST(Handshake, IsAProbeUntilTheServerHasShownThatItIsLegacy) {
  Asked asked;
  EXPECT_TRUE(asked.handshake.probing());
  asked.error(-1);
  asked.ask_again();
  EXPECT_FALSE(asked.handshake.probing());
  EXPECT_FALSE(Asked(knowledge::Era::Modern).handshake.probing());
  EXPECT_FALSE(Asked(knowledge::Era::Legacy).handshake.probing());
}

TEST(Handshake, IsFollowedByOurWordOnlyWhereNoClientSpeaksForItself) {
  const auto follow_up = [](knowledge::Era era, bool announce) {
    return Handshake({.expected = era, .announce = announce}).follow_up();
  };
  EXPECT_EQ(follow_up(knowledge::Era::Legacy, true),
            R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_EQ(follow_up(knowledge::Era::Legacy, false), "");
  EXPECT_EQ(follow_up(knowledge::Era::Modern, true), "");
}

}  // namespace
}  // namespace corral::instance
