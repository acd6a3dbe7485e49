#include "survey/listeners.h"

#include <gtest/gtest.h>

#include "survey/temp_files.h"

namespace corral::survey {
namespace {

TEST(Listeners, AreTheSocketsInStateListen) {
  const char* text =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 00 "
      "100\n"
      "   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 00 "
      "20\n";

  EXPECT_EQ(parse_listening_sockets(text), (std::vector<ListeningSocket>{{4711, 8080, 1000}}));
}

TEST(Listeners, BothEndsOfEstablishedConnectionsAreKnown) {
  const char* text =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 4713 1 00\n"
      "   1: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 0 1 00\n"
      "   2: 0100007F:1F91 0100007F:C351 06 00000000:00000000 00:00000000 00000000  1000        0 0 1 00\n";

  TcpSockets sockets;
  parse_tcp_sockets(text, sockets);

  EXPECT_EQ(sockets.connections, (std::vector<TcpConnection>{{"0100007F:C350", "0100007F:1F90", 50000, 4713},
                                                             {"0100007F:1F90", "0100007F:C350", 8080, 0}}))
      << "also before it is accepted";
  EXPECT_EQ(sockets.inodes, std::vector<std::uint64_t>{4713});
}

TEST(Listeners, AnIpv4AddressLooksTheSameInAnIpv6Socket) {
  const char* text =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:C350 01 "
      "00000000:00000000 00:00000000 00000000  1000        0 4713 1 00\n"
      "   1: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:C350 01 "
      "00000000:00000000 00:00000000 00000000  1000        0 4714 1 00\n";

  TcpSockets sockets;
  parse_tcp_sockets(text, sockets);

  ASSERT_EQ(sockets.connections.size(), 2U);
  EXPECT_EQ(sockets.connections[0], (TcpConnection{"0100007F:1F90", "0100007F:C350", 8080, 4713}));
  EXPECT_EQ(sockets.connections[1].local, "00000000000000000000000001000000:1F90") << "::1 is not mapped";
}

TEST(Listeners, OfATextThatIsNoneAreNone) {
  EXPECT_TRUE(parse_listening_sockets("").empty());
  EXPECT_TRUE(parse_listening_sockets("heading\nshort line\n\n0: a b 0A\n0: a b 0A c d e f g x\n").empty());
}

constexpr const char* kOneListener =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 00\n";

using ListenersOf = TempFiles;

TEST_F(ListenersOf, AMachineWithoutIpv6AreComplete) {
  write("tcp", kOneListener);

  const TcpSockets sockets = read_tcp_sockets(root());

  EXPECT_TRUE(sockets.complete);
  EXPECT_EQ(sockets.listening.size(), 1U);
}

TEST_F(ListenersOf, AMachineWhoseListsCannotBeReadAreNotComplete) {
  EXPECT_FALSE(read_tcp_sockets(root()).complete) << "there is none";
  write("tcp", kOneListener);
  std::filesystem::create_directory(root() + "/tcp6");
  EXPECT_FALSE(read_tcp_sockets(root()).complete) << "one cannot be read";
  EXPECT_EQ(read_tcp_sockets(root()).listening.size(), 1U) << "what there is counts";
}

}  // namespace
}  // namespace corral::survey
