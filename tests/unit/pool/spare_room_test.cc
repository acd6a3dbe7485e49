// A token's part of the instances, and those that are kept ready for it.
#include <gtest/gtest.h>

#include "session/exchange.h"

namespace corral::tests {
namespace {

TEST(SpareRoom, ATokenAtItsQuarterLosesNoInstanceToASpare) {
  Shares shares;
  Exchange exchange(config::Share::Session);
  pool::Limits limits;
  limits.max_instances = 8;  // a quarter: two
  exchange.pool.set_limits(limits);
  exchange.spec->account = &shares.account("token:ci");
  exchange.spec->entry.warm = 1;
  exchange.spec->entry.park = true;
  const auto connect = [&] {
    exchange.connect().say(kInitialize);
    exchange.settle();
    for (FakeServer& server : exchange.spawner.servers) exchange.answer_handshake(server);
  };
  connect();
  ASSERT_EQ(exchange.started(), 2U) << "one for the session, one that is kept ready";

  connect();

  EXPECT_EQ(exchange.started(), 2U) << "there is no room for another spare";
  EXPECT_FALSE(exchange.server(0).input_closed());
  EXPECT_FALSE(exchange.server(1).input_closed());
}

}  // namespace
}  // namespace corral::tests
