#include "http/connection_quota.h"

#include <gtest/gtest.h>

namespace corral::http {
namespace {

Peer ours() { return {Peer::Socket::Tcp, true, 1, 0, "127.0.0.1:1"}; }
Peer other(std::string address) { return {Peer::Socket::Tcp, false, 0, 0, std::move(address)}; }

TEST(ConnectionQuota, KeepsAQuarterForOurOwnUser) {
  ConnectionQuota quota(8, 0);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(quota.admit(other("10.0.0." + std::to_string(i) + ":5")));

  EXPECT_FALSE(quota.admit(other("10.0.0.9:5")));
  EXPECT_TRUE(quota.admit(ours()));
  EXPECT_TRUE(quota.admit(ours()));
  EXPECT_TRUE(quota.full());
  EXPECT_FALSE(quota.admit(ours()));
  quota.release(other("10.0.0.3:77"));
  EXPECT_TRUE(quota.admit(other("10.0.0.9:5")));
}

TEST(ConnectionQuota, LimitsOurOwnUserToTheConnectionsOfOne) {
  ConnectionQuota quota(100, 2);
  EXPECT_TRUE(quota.admit(ours()));
  EXPECT_TRUE(quota.admit(ours()));

  EXPECT_FALSE(quota.admit(ours()));
  EXPECT_FALSE(quota.full()) << "others are admitted";
  EXPECT_TRUE(quota.admit(other("10.0.0.1:5")));
  quota.release(ours());
  EXPECT_TRUE(quota.admit(ours()));
}

TEST(ConnectionQuota, CountsAllOthersOnThisMachineAsOne) {
  ConnectionQuota quota(100, 2);
  EXPECT_TRUE(quota.admit(other("127.0.0.1:5")));
  EXPECT_TRUE(quota.admit(other("[::1]:5")));

  EXPECT_FALSE(quota.admit(other("127.9.9.9:5")));
  EXPECT_FALSE(quota.admit(other("::ffff:127.0.0.1")));
  EXPECT_FALSE(quota.admit({Peer::Socket::Unix, false, 0, 7, "somebody"}));
  EXPECT_TRUE(quota.admit(ours())) << "the user is not one of them";
}

TEST(ConnectionQuota, CountsAnAddressWhateverItsPort) {
  ConnectionQuota quota(100, 1);
  EXPECT_TRUE(quota.admit(other("10.0.0.1:5")));
  EXPECT_FALSE(quota.admit(other("10.0.0.1:6")));
  EXPECT_TRUE(quota.admit(other("[fe80::1]:5")));
  EXPECT_FALSE(quota.admit(other("fe80::1"))) << "the same without a port";
  EXPECT_TRUE(quota.admit(other("[fe80::2]:5")));

  quota.release(other("10.0.0.1:5"));
  EXPECT_TRUE(quota.admit(other("10.0.0.1:7")));
}

}  // namespace
}  // namespace corral::http
