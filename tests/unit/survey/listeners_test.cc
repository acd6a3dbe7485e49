#include "survey/listeners.h"

#include <gtest/gtest.h>

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

TEST(Listeners, OfATextThatIsNoneAreNone) {
  EXPECT_TRUE(parse_listening_sockets("").empty());
  EXPECT_TRUE(parse_listening_sockets("heading\nshort line\n\n0: a b 0A\n0: a b 0A c d e f g x\n").empty());
}

}  // namespace
}  // namespace corral::survey
