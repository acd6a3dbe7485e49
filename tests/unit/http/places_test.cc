#include "http/places.h"

#include <gtest/gtest.h>

namespace corral::http {
namespace {

Peer ours() { return {Peer::Door::Tcp, true, 1, 0, "127.0.0.1:1"}; }
Peer other(std::string address) { return {Peer::Door::Tcp, false, 0, 0, std::move(address)}; }

TEST(Places, KeepAQuarterForOurOwnUser) {
  Places places(8, 0);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(places.enter(other("10.0.0." + std::to_string(i) + ":5")));

  EXPECT_FALSE(places.enter(other("10.0.0.9:5")));
  EXPECT_TRUE(places.enter(ours()));
  EXPECT_TRUE(places.enter(ours()));
  EXPECT_TRUE(places.full());
  EXPECT_FALSE(places.enter(ours()));
  places.leave(other("10.0.0.3:77"));
  EXPECT_TRUE(places.enter(other("10.0.0.9:5")));
}

TEST(Places, CountAllOthersOnThisMachineAsOne) {
  Places places(100, 2);
  EXPECT_TRUE(places.enter(other("127.0.0.1:5")));
  EXPECT_TRUE(places.enter(other("[::1]:5")));

  EXPECT_FALSE(places.enter(other("127.9.9.9:5")));
  EXPECT_FALSE(places.enter(other("::ffff:127.0.0.1")));
  EXPECT_FALSE(places.enter({Peer::Door::Unix, false, 0, 7, "whoever"}));
  EXPECT_TRUE(places.enter(ours())) << "who is not one of them";
}

TEST(Places, CountAnAddressWhateverItsPort) {
  Places places(100, 1);
  EXPECT_TRUE(places.enter(other("10.0.0.1:5")));
  EXPECT_FALSE(places.enter(other("10.0.0.1:6")));
  EXPECT_TRUE(places.enter(other("[fe80::1]:5")));
  EXPECT_FALSE(places.enter(other("fe80::1"))) << "the same without a port";
  EXPECT_TRUE(places.enter(other("[fe80::2]:5")));

  places.leave(other("10.0.0.1:5"));
  EXPECT_TRUE(places.enter(other("10.0.0.1:7")));
}

}  // namespace
}  // namespace corral::http
