#include "http/sse.h"

#include <gtest/gtest.h>

#include "http/pieces.h"

namespace corral::http {
namespace {

using std::chrono::milliseconds;

std::vector<std::string> written(const Event& event) {
  Pieces exchange;
  write_event(exchange, event);
  return exchange.pieces;
}

TEST(ServerSentEvents, AreOnePieceWithEveryFieldOnItsLine) {
  using All = std::vector<std::string>;
  EXPECT_EQ(written({"7", "endpoint", {"{}", nullptr}, milliseconds(1500)}),
            All{"event: endpoint\nid: 7\nretry: 1500\ndata: {}\n\n"});
  EXPECT_EQ(written({"", "", {"{}", nullptr}, std::nullopt}), All{"data: {}\n\n"});
  EXPECT_EQ(written({"8", "", {"", nullptr}, std::nullopt}), All{"id: 8\ndata:\n\n"});
  EXPECT_EQ(written({"", "", {"", nullptr}, milliseconds(0)}), All{"retry: 0\ndata:\n\n"});
}

TEST(ServerSentEvents, HaveNoLineEndInTheirData) {
  EXPECT_EQ(written({"", "", {"{\r\n\"a\":\n1}\r", nullptr}, std::nullopt}),
            std::vector<std::string>{"data: {  \"a\": 1} \n\n"});
}

TEST(ServerSentEvents, GiveALargeMessageAwayWithoutACopy) {
  const auto owner = std::make_shared<const std::string>(std::size_t{16} << 10, 'x');
  Pieces exchange;
  write_event(exchange, {"1", "", {*owner, owner}, std::nullopt});

  EXPECT_EQ(exchange.pieces, (std::vector<std::string>{"id: 1\ndata: ", *owner, "\n\n"}));
  EXPECT_EQ(exchange.owners.at(1), owner);
}

TEST(ServerSentEvents, CopyALargeMessageIfTheyMust) {
  std::string text(std::size_t{16} << 10, 'x');
  const std::string plain = "data: " + text + "\n\n";
  EXPECT_EQ(written({"", "", {text, nullptr}, std::nullopt}), std::vector<std::string>{plain}) << "no owner";

  for (const char end : {'\n', '\r'}) {
    const auto broken = std::make_shared<const std::string>(text + end);
    EXPECT_EQ(written({"", "", {*broken, broken}, std::nullopt}),
              (std::vector<std::string>{"data: " + text + " \n\n"}));
  }
  text.pop_back();
  const auto small = std::make_shared<const std::string>(text);
  EXPECT_EQ(written({"", "", {*small, small}, std::nullopt}).size(), 1U) << "one write is cheaper";
}

TEST(ServerSentEvents, HaveACommentThatSaysNothing) {
  Pieces exchange;
  write_comment(exchange);
  EXPECT_EQ(exchange.pieces, std::vector<std::string>{":\n\n"});
}

TEST(ServerSentEvents, BeginWithWhatKeepsOthersFromHoldingThemBack) {
  std::string all;
  for (const Header& header : event_stream_headers()) all += header.name + "=" + header.value + ";";
  EXPECT_EQ(all, "Content-Type=text/event-stream;Cache-Control=no-cache;X-Accel-Buffering=no;");
}

}  // namespace
}  // namespace corral::http
