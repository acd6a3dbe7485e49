#include "router/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/router_parts.h"

namespace corral::tests {
namespace {

using router::Admission;
using router::ToolEffects;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Verdict = Admission::Verdict;

/// A handshake with a server that answers like this.
instance::Handshake handshake(knowledge::Era era, const std::string& answer) {
  instance::Handshake handshake({.expected = era, .pinned = true, .initialize_params = "{}"});
  handshake.request(CallId(1));
  handshake.take(wire::Message(answer));
  return handshake;
}

const std::string kLegacy = result("1", R"({"protocolVersion":"2025-06-18","capabilities":{},)"
                                        R"("serverInfo":{"name":"f","version":"1.2.0"}})");
const std::string kModern = result("1", R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");

class AdmissionTest : public testing::Test {
 protected:
  Verdict judge(knowledge::Era era, const std::string& answer) {
    return admission_.judge(handshake(era, answer));
  }

  router::RouterOptions options_{.server = "files"};
  RecordedLearner learner_;
  Admission admission_{options_, learner_};
};

TEST_F(AdmissionTest, AServerWithAGoodHandshakeIsOpen) {
  EXPECT_FALSE(admission_.open());
  EXPECT_EQ(judge(knowledge::Era::Legacy, kLegacy), Verdict::Open);
  EXPECT_TRUE(admission_.open());
  EXPECT_FALSE(admission_.modern());
}

TEST_F(AdmissionTest, AServerThatRefusesTheHandshakeIsUnusable) {
  const std::string refusal = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}})";
  EXPECT_EQ(judge(knowledge::Era::Legacy, refusal), Verdict::Unusable);
  EXPECT_FALSE(admission_.open());
  EXPECT_FALSE(admission_.contradicts());
  EXPECT_THAT(admission_.objection(), IsEmpty());
}

TEST_F(AdmissionTest, AnOldServerIsUnusableAndTheObjectionSaysWhy) {
  options_.min_version = "2.0";
  EXPECT_EQ(judge(knowledge::Era::Legacy, kLegacy), Verdict::Unusable);
  EXPECT_THAT(admission_.objection(), HasSubstr("1.2.0"));
  EXPECT_FALSE(admission_.contradicts());
}

TEST_F(AdmissionTest, AServerThatWasKnownAsModernMustBeModern) {
  options_.confirm_modern = true;
  EXPECT_EQ(judge(knowledge::Era::Legacy, kLegacy), Verdict::Unusable);
  EXPECT_TRUE(admission_.contradicts());
}

TEST_F(AdmissionTest, AModernServerNeedsNoConfirmation) {
  options_.confirm_modern = true;
  options_.confirm_read_only = true;
  EXPECT_EQ(judge(knowledge::Era::Modern, kModern), Verdict::Open);
  EXPECT_TRUE(admission_.modern());
}

TEST_F(AdmissionTest, ReadOnlyToolsAreConfirmedBeforeAServerIsShared) {
  options_.confirm_read_only = true;
  EXPECT_EQ(judge(knowledge::Era::Legacy, kLegacy), Verdict::ListTools);
  EXPECT_FALSE(admission_.open());
  EXPECT_EQ(admission_.tools_listed(ToolEffects::ReadOnly), Verdict::Open);
  EXPECT_TRUE(admission_.open());
  EXPECT_THAT(learner_.tools, ElementsAre(ToolEffects::ReadOnly));
}

TEST_F(AdmissionTest, AServerWithOtherToolsOrNoAnswerIsRefuted) {
  options_.confirm_read_only = true;
  for (const std::optional<ToolEffects> effects : {std::optional(ToolEffects::MayChange), {}}) {
    Admission admission(options_, learner_);
    admission.judge(handshake(knowledge::Era::Legacy, kLegacy));
    EXPECT_EQ(admission.tools_listed(effects), Verdict::Unusable);
    EXPECT_TRUE(admission.contradicts());
    EXPECT_FALSE(admission.open());
  }
  EXPECT_THAT(learner_.tools, ElementsAre(ToolEffects::MayChange, ToolEffects::MayChange));
}

}  // namespace
}  // namespace corral::tests
