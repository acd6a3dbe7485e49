#include "http/response_head.h"

#include <gtest/gtest.h>

namespace corral::http {
namespace {

TEST(ResponseHead, SaysWhereTheBodyEndsAndWhatBecomesOfTheConnection) {
  EXPECT_EQ(
      response_head(200, {{"Content-Type", "text/plain"}}, {Framing::Kind::Length, 0}, Afterwards::StaysOpen),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(response_head(200, {}, {Framing::Kind::Chunked, 0}, Afterwards::Closes),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(response_head(204, {}, {}, Afterwards::StaysOpenAsRequested),
            "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(response_head(299, {}, {Framing::Kind::UntilClose, 0}, Afterwards::Closes),
            "HTTP/1.1 299 \r\nConnection: close\r\n\r\n");
}

TEST(ResponseHead, LetsNobodyWriteASecondHeaderIntoAValue) {
  const std::string head =
      response_head(200, {{"Echo", "a\r\nSet-Cookie: b\nc"}, {"B\r\nad", "x"}}, {}, Afterwards::StaysOpen);

  EXPECT_EQ(head, "HTTP/1.1 200 OK\r\nEcho: a  Set-Cookie: b c\r\nB  ad: x\r\n\r\n");
}

TEST(ResponseHead, WritesChunkSizesInHex) {
  EXPECT_EQ(chunk_head(1), "1\r\n");
  EXPECT_EQ(chunk_head(0xabcdef), "abcdef\r\n");
}

TEST(ResponseHead, WritesErrorsAsJson) {
  const Response response = error_response(413, "a \"large\" one");

  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.body, "{\"error\":\"a \\\"large\\\" one\"}\n");
}

}  // namespace
}  // namespace corral::http
