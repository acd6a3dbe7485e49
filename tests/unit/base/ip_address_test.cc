#include "base/ip_address.h"

#include <gtest/gtest.h>

namespace corral {
namespace {

TEST(IpAddress, KnowsWhatOnlyThisMachineReaches) {
  for (const char* text : {"127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"}) {
    ASSERT_TRUE(parse_ip_address(text)) << text;
    EXPECT_TRUE(parse_ip_address(text)->is_loopback()) << text;
  }
  // An address of IPv4 in the clothes of IPv6 is one more way in that nobody needs.
  for (const char* text : {"0.0.0.0", "::", "192.168.1.4", "128.0.0.1", "fe80::1", "::ffff:127.0.0.1"}) {
    ASSERT_TRUE(parse_ip_address(text)) << text;
    EXPECT_FALSE(parse_ip_address(text)->is_loopback()) << text;
  }
}

TEST(IpAddress, IsNotANameOrAShortForm) {
  for (const char* text : {"", "example.org", "127.1", "1.2.3.4:80", "[::1", "::1%lo", "[]", " 127.0.0.1"}) {
    EXPECT_FALSE(parse_ip_address(text)) << text;
  }
  EXPECT_FALSE(parse_ip_address(std::string_view("127.0.0.1\0x", 11)));
}

TEST(IpAddress, IsWrittenAsAUrlWantsIt) {
  IpAddress six = *parse_ip_address("::1");
  six.set_port(8765);

  EXPECT_EQ(six.host(), "[::1]");
  EXPECT_EQ(six.port(), 8765);
  EXPECT_EQ(parse_ip_address("localhost")->host(), "127.0.0.1");
}

}  // namespace
}  // namespace corral
