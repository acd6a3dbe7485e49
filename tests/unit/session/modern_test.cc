// The stateless revision, where client and server both speak it; and what a modern client hears from a server
// that does not.
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
using testing::SizeIs;

const std::string kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";
const std::string kDiscover =
    R"({"jsonrpc":"2.0","id":"d","method":"server/discover","params":{)" + kMeta + "}}";
const std::string kDiscovered =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0})";

std::string modern(const std::string& id, const std::string& method) {
  return request(id, method, "{" + kMeta + "}");
}
std::string id_text(const std::string& line) { return boost::json::serialize(json(line).at("id")); }

/// A modern session whose instance has answered the discovery.
FakeClient& modern_client(Exchange& exchange) {
  exchange.spec->entry.modern = true;
  FakeClient& client = exchange.connect();
  client.say(kDiscover);
  exchange.settle();
  const auto heard = exchange.spawner.servers.back().heard();
  if (!heard.empty()) {
    exchange.spawner.servers.back().say(R"({"jsonrpc":"2.0","id":)" + id_text(heard[0]) + R"(,"result":)" +
                                        kDiscovered + "}");
  }
  exchange.settle();
  return client;
}

TEST(ModernSession, IsSharedBecauseTheRevisionIsStateless) {
  Exchange exchange(config::Share::Auto);
  FakeClient& first = modern_client(exchange);
  FakeClient& second = modern_client(exchange);
  EXPECT_EQ(exchange.started(), 1U);
  EXPECT_THAT(first.heard(), ElementsAre(R"({"jsonrpc":"2.0","id":"d","result":)" + kDiscovered + "}"));
  EXPECT_THAT(second.heard(), SizeIs(1)) << "from what the first one learned";
}

TEST(ModernSession, NeedsNoDiscoveryOfItsOwn) {
  Exchange exchange(config::Share::Auto);
  exchange.spec->entry.modern.reset();
  FakeClient& client = exchange.connect();
  client.say(modern("1", "tools/list"));
  exchange.settle();
  const auto asked = exchange.server().heard();
  ASSERT_THAT(asked, ElementsAre(HasSubstr("server/discover")));
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + id_text(asked[0]) + R"(,"result":)" + kDiscovered +
                        "}");
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("tools/list")));
}

TEST(ModernSession, IsToldThatItsListenIsAcknowledgedAlsoWhileItDoesNotRead) {
  Exchange exchange(config::Share::Auto);
  modern_client(exchange);
  FakeClient& slow = modern_client(exchange);
  slow.heard();
  slow.slow = true;
  slow.say(modern("\"l\"", "subscriptions/listen"));
  exchange.settle();
  const auto asked = exchange.server().heard();
  ASSERT_THAT(asked, SizeIs(1));
  const auto news = [&](const std::string& method) {
    return R"({"jsonrpc":"2.0","method":"notifications/)" + method +
           R"(","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" + id_text(asked[0]) + "}}}";
  };

  exchange.server().say(news("subscriptions/acknowledged"));
  exchange.server().say(news("resources/updated"));
  exchange.settle();

  EXPECT_THAT(slow.heard(), ElementsAre(HasSubstr("acknowledged"))) << "news may be lost, this may not";
}

TEST(ModernSession, HearsOnlyItsOwnSubscriptions) {
  Exchange exchange(config::Share::Auto);
  FakeClient& first = modern_client(exchange);
  FakeClient& second = modern_client(exchange);
  first.heard();
  second.heard();
  first.say(modern("\"sub\"", "subscriptions/listen"));
  second.say(modern("1", "subscriptions/listen"));
  exchange.settle();
  const auto asked = exchange.server().heard();
  ASSERT_THAT(asked, SizeIs(2));
  const auto news = [&](std::size_t i) {
    return R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{)"
           R"("io.modelcontextprotocol/subscriptionId":)" +
           id_text(asked[i]) + "}}}";
  };
  exchange.server().say(news(1));
  exchange.server().say(news(0));
  exchange.settle();
  EXPECT_THAT(first.heard(), ElementsAre(HasSubstr(R"(subscriptionId":"sub"})")));
  EXPECT_THAT(second.heard(), ElementsAre(HasSubstr(R"(subscriptionId":1})")));

  exchange.server().say(R"({"jsonrpc":"2.0","result":{"resultType":"complete","_meta":{)"
                        R"("io.modelcontextprotocol/subscriptionId":)" +
                        id_text(asked[0]) + R"(}},"id":)" + id_text(asked[0]) + "}");
  exchange.settle();
  EXPECT_THAT(first.heard(),
              ElementsAre(AllOf(HasSubstr(R"(subscriptionId":"sub"})"), HasSubstr(R"("id":"sub"})"))));
}

TEST(ModernSession, ADiscoveryMustSayWhoAsks) {
  Exchange exchange(config::Share::Auto);
  FakeClient& client = exchange.connect();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"server/discover"})");
  client.say(
      R"({"jsonrpc":"2.0","id":2,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
  client.say(
      R"({"jsonrpc":"2.0","id":3,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}}})");
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("-32602"), HasSubstr("-32602"), HasSubstr("-32602")));
  EXPECT_EQ(exchange.started(), 0U);
}

TEST(ModernSession, RefusesOtherVersionsAndRemovedMethods) {
  Exchange exchange(config::Share::Auto);
  FakeClient& client = modern_client(exchange);
  client.heard();
  client.say(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}})");
  client.say(modern("2", "ping"));
  exchange.settle();
  EXPECT_THAT(client.heard(),
              ElementsAre(AllOf(HasSubstr("-32022"), HasSubstr("2099-01-01")), HasSubstr("-32601")));
  EXPECT_THAT(exchange.server().heard(), IsEmpty());
}

TEST(ModernSession, GetsLogLinesOnlyWhileItsOwnCallWantsThem) {
  Exchange exchange(config::Share::Auto);
  FakeClient& first = modern_client(exchange);
  FakeClient& second = modern_client(exchange);
  first.heard();
  second.heard();
  const std::string log =
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})";
  second.say(modern("1", "tools/call"));
  exchange.server().say(log);
  exchange.settle();
  first.say(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":)"
      R"("2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info"}}})");
  exchange.settle();
  exchange.server().say(log);
  exchange.settle();
  EXPECT_THAT(first.heard(), ElementsAre(log));
  EXPECT_THAT(second.heard(), IsEmpty());
}

}  // namespace
}  // namespace corral::tests
