#include "session/treatment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/error_codes.h"
#include "wire/rpc.h"

namespace corral::session {
namespace {

using ::testing::HasSubstr;

const std::string kServer = "files";

Situation in(Phase phase) {
  Situation situation;
  situation.phase = phase;
  situation.attached = phase == Phase::Ready;
  situation.server = &kServer;
  return situation;
}

std::string request(const std::string& method, const std::string& params = "{}") {
  return tests::request("7", method, params);
}
std::string modern(const std::string& method) {
  return request(method, R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                         R"("io.modelcontextprotocol/clientCapabilities":{}}})");
}
const std::string kResponse = R"({"jsonrpc":"2.0","id":1,"result":{}})";
const std::string kNews = R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})";

Step step(const std::string& text, const Situation& situation) {
  return treat(wire::Message(text), situation).step;
}

TEST(TreatmentOfARequest, FollowsThePhase) {
  const std::string call = request("tools/call");

  EXPECT_EQ(step(call, in(Phase::New)), Step::Refuse) << "a session begins with a handshake";
  EXPECT_EQ(step(call, in(Phase::Opening)), Step::Wait);
  EXPECT_EQ(step(call, in(Phase::Ready)), Step::Pass);
  EXPECT_EQ(step(call, in(Phase::Away)), Step::AskManifest);
  EXPECT_EQ(step(call, in(Phase::Returning)), Step::Wait);
}

TEST(TreatmentOfARequest, OpensANewSession) {
  EXPECT_EQ(step(request("initialize"), in(Phase::New)), Step::OpenLegacy);
  EXPECT_EQ(step(modern("server/discover"), in(Phase::New)), Step::OpenModern);
  EXPECT_EQ(step(modern("tools/list"), in(Phase::New)), Step::OpenModern);
}

TEST(TreatmentOfARequest, WaitsWhileTheInstanceDrains) {
  Situation draining = in(Phase::Ready);
  draining.draining = true;

  EXPECT_EQ(step(request("tools/call"), draining), Step::Wait);
  EXPECT_EQ(step(kNews, draining), Step::Pass) << "it concerns the present instance";
}

TEST(TreatmentOfARequest, APingIsAnsweredInEveryPhase) {
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    EXPECT_EQ(step(request("ping"), in(static_cast<Phase>(phase))), Step::Pong) << phase;
  }
}

TEST(TreatmentOfARequest, OnlyListsAreAnsweredEarly) {
  Situation early = in(Phase::Returning);
  early.greeted_early = true;

  EXPECT_EQ(step(request("tools/list"), early), Step::GiveEarlyList);
  EXPECT_EQ(step(request("tools/call"), early), Step::Wait);
  EXPECT_EQ(step(request("tools/list"), in(Phase::Returning)), Step::Wait);
}

TEST(TreatmentOfARequest, IsRefusedWithTheReasonWhileThereIsNoInstance) {
  const std::string why = "server files could not be started";
  Situation refused = in(Phase::Away);
  refused.refusal = &why;

  const Treatment treatment = treat(wire::Message(request("tools/call")), refused);

  EXPECT_EQ(treatment.step, Step::Refuse);
  EXPECT_EQ(treatment.objection.code, wire::kServerLost);
  EXPECT_EQ(treatment.objection.message, why);
}

TEST(TreatmentOfARequest, IsRefusedWhenTheServerHasEndedForGood) {
  Situation lost = in(Phase::New);
  lost.server_lost = true;

  const Treatment treatment = treat(wire::Message(request("initialize")), lost);

  EXPECT_EQ(treatment.step, Step::Refuse);
  EXPECT_EQ(treatment.objection.message, "server files has ended");
}

TEST(TreatmentOfASecondHandshake, IsRefusedUnlessTheClientHasOnlyLooked) {
  Situation legacy = in(Phase::Ready);
  Situation looked = in(Phase::Ready);
  looked.era = knowledge::Era::Modern;
  looked.only_greeted = true;
  Situation asked = looked;
  asked.only_greeted = false;

  EXPECT_EQ(step(request("initialize"), legacy), Step::Refuse);
  EXPECT_EQ(step(request("initialize"), looked), Step::ResetAndOpen);
  EXPECT_EQ(step(request("initialize"), asked), Step::Refuse);
  looked.draining = true;
  EXPECT_EQ(step(request("initialize"), looked), Step::Wait) << "until its instance has ended";
}

TEST(TreatmentOfDiscover, ComesFromTheInstanceOrTheManifest) {
  Situation modern_client = in(Phase::Ready);
  modern_client.era = knowledge::Era::Modern;

  EXPECT_EQ(step(modern("server/discover"), modern_client), Step::DescribeServer);
  modern_client.phase = Phase::Away;
  EXPECT_EQ(step(modern("server/discover"), modern_client), Step::AskManifest);
  EXPECT_EQ(step(request("server/discover"), in(Phase::Ready)), Step::Refuse) << "a legacy session";
}

TEST(TreatmentOfARequest, AnotherRevisionIsRefusedByName) {
  const std::string old =
      request("tools/call", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2020-01-01"}})");

  const Treatment treatment = treat(wire::Message(old), in(Phase::Ready));

  EXPECT_EQ(treatment.objection.code, wire::kUnsupportedVersion);
  EXPECT_THAT(treatment.objection.data, HasSubstr(R"("requested":"2020-01-01")"));
}

TEST(TreatmentOfARequest, MethodsThatTheModernRevisionRemovedAreRefused) {
  for (const char* method : {"initialize", "ping", "logging/setLevel", "resources/subscribe"}) {
    const Treatment treatment = treat(wire::Message(modern(method)), in(Phase::Ready));
    EXPECT_EQ(treatment.objection.code, wire::kMethodNotFound) << method;
  }
}

TEST(TreatmentOfANotification, IsRememberedWithoutAnInstanceAndPassedWithOne) {
  EXPECT_EQ(step(kNews, in(Phase::Away)), Step::Remember);
  EXPECT_EQ(step(kNews, in(Phase::Ready)), Step::Pass);
  EXPECT_EQ(step(kNews, in(Phase::Opening)), Step::Wait);
  Situation bridged = in(Phase::Away);
  bridged.bridged = true;
  EXPECT_EQ(step(kNews, bridged), Step::Pass) << "the bridge may hold what it cancels";
}

TEST(TreatmentOfAResponse, IsDroppedWithoutAnInstanceUnlessAModernServerIsAskedAgainWithIt) {
  EXPECT_EQ(step(kResponse, in(Phase::Away)), Step::Drop);
  EXPECT_EQ(step(kResponse, in(Phase::Ready)), Step::Pass);
  Situation crossing = in(Phase::Away);
  crossing.legacy_to_modern = true;
  EXPECT_EQ(step(kResponse, crossing), Step::Wait);
  const std::string why = "no server";
  crossing.refusal = &why;
  EXPECT_EQ(step(kResponse, crossing), Step::Pass) << "its call is answered with an error";
}

TEST(TreatmentOfMalformedText, IsRefusedAndCounted) {
  EXPECT_EQ(step("{", in(Phase::Ready)), Step::RefuseMalformed);
  EXPECT_EQ(step("{", in(Phase::Opening)), Step::RefuseMalformed) << "it cannot be kept in order";
  EXPECT_EQ(step(R"({"id":1})", in(Phase::Ready)), Step::RefuseMalformed);
  EXPECT_EQ(step(R"({"id":1})", in(Phase::Opening)), Step::Wait);
  EXPECT_EQ(treat(wire::Message("{"), in(Phase::Ready)).objection.code, wire::kParseError);
}

TEST(TreatmentOfABatchInABatch, IsRefused) { EXPECT_EQ(step("[[]]", in(Phase::Ready)), Step::Refuse); }

TEST(TreatmentOfARequest, WordsThatAreKeptForLongHaveABound) {
  const std::string large =
      request("initialize", R"({"clientInfo":{"name":")" + std::string(70'000, 'x') + R"("}})");

  const Treatment treatment = treat(wire::Message(large), in(Phase::New));

  EXPECT_EQ(treatment.step, Step::RefuseMalformed);
  EXPECT_EQ(treatment.objection.code, wire::kInvalidParams);
}

}  // namespace
}  // namespace corral::session
