#include "transport/posted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::transport {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Posted request_with(const std::string& capabilities) {
  const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)"
                           R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                           R"("io.modelcontextprotocol/clientCapabilities":)" +
                           capabilities + "}}}";
  return {wire::Message(text).owned()};
}

TEST(CapabilityNames, AreWhatTheClientDeclaresInOrder) {
  EXPECT_THAT(capability_names(request_with(R"({"sampling":{},"elicitation":{"url":{},"form":{}}})")),
              ElementsAre("elicitation", "elicitation.form", "elicitation.url", "sampling"));
}

TEST(CapabilityNames, AreNoneForAValueThatIsNotAnObject) {
  EXPECT_THAT(capability_names(request_with("{}")), IsEmpty());
  EXPECT_THAT(capability_names(request_with("[1]")), IsEmpty());
}

TEST(CapabilityNames, OfAServerThatWasToldMoreCoverThoseOfAClientWithLess) {
  const auto more = capability_names(request_with(R"({"sampling":{},"elicitation":{"url":{}}})"));
  const auto less = capability_names(request_with(R"({"elicitation":{}})"));

  EXPECT_TRUE(covers(more, less));
  EXPECT_TRUE(covers(more, {}));
  EXPECT_FALSE(covers(less, more));
}

}  // namespace
}  // namespace corral::transport
