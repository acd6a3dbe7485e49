#include "http/request_parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace corral::http {
namespace {

using namespace std::string_literals;

constexpr std::size_t kHeadCap = 2048;
constexpr std::size_t kBodyCap = 100;

struct Outcome {
  int status = 0;  // of the fault; 0 = complete, -1 = wants more
  RequestHead head;
  std::string rest;
  bool head_first = false;  // it said so when the head was there
};

Outcome parse(std::string_view text, std::size_t piece) {
  RequestParser parser(kHeadCap, kBodyCap, nullptr);
  Outcome outcome{-1, {}, "", false};
  while (!text.empty()) {
    std::string_view bytes = text.substr(0, piece);
    const std::size_t given = bytes.size();
    auto progress = parser.put(bytes);
    if (progress == RequestParser::Progress::Head) {
      outcome.head_first = true;
      progress = parser.put(bytes);
    }
    text.remove_prefix(given - bytes.size());
    if (progress == RequestParser::Progress::Bad) {
      outcome.status = parser.fault().status;
      EXPECT_FALSE(parser.fault().sentence.empty());
      return outcome;
    }
    if (progress == RequestParser::Progress::Complete) {
      outcome.status = 0;
      outcome.head = parser.take();
      outcome.rest = text;
      return outcome;
    }
    EXPECT_TRUE(bytes.empty());
  }
  return outcome;
}

/// The same however the bytes come.
Outcome parse(std::string_view text) {
  const Outcome whole = parse(text, text.size());
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
    const Outcome pieces = parse(text, piece);
    EXPECT_EQ(pieces.status, whole.status) << text << " in pieces of " << piece;
    EXPECT_EQ(pieces.rest, whole.rest) << text << " in pieces of " << piece;
    EXPECT_EQ(pieces.status == 0 ? *pieces.head.request.body : "",
              whole.status == 0 ? *whole.head.request.body : "");
  }
  return whole;
}

std::string get(std::string_view headers) {
  return std::string("GET / HTTP/1.1\r\nHost: a\r\n").append(headers).append("\r\n");
}
std::string post(std::string_view headers, std::string_view body) {
  return std::string("POST / HTTP/1.1\r\nHost: a\r\n").append(headers).append("\r\n").append(body);
}

TEST(RequestParser, TakesARequestApart) {
  const Outcome outcome = parse(
      "POST /mcp/files?root=%2Fa HTTP/1.1\r\nHost: localhost:1\r\nX:  a b \t\r\nContent-Length: "
      "4\r\n\r\nbodyGET");

  ASSERT_EQ(outcome.status, 0);
  const Request& request = outcome.head.request;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/mcp/files");
  EXPECT_EQ(request.query, "root=%2Fa");
  EXPECT_EQ(request.header("host"), "localhost:1");
  EXPECT_EQ(request.header("x"), "a b");
  EXPECT_EQ(*request.body, "body");
  EXPECT_EQ(outcome.rest, "GET");
  EXPECT_TRUE(outcome.head.keep_alive);
  EXPECT_TRUE(outcome.head_first) << "the owner may look at the head before the body comes";
}

TEST(RequestParser, KnowsWhetherTheClientWantsToGoOn) {
  EXPECT_TRUE(parse(get("")).head.keep_alive);
  EXPECT_FALSE(parse(get("Connection: x, Close\r\n")).head.keep_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.0\r\n\r\n").head.keep_alive);
  EXPECT_TRUE(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").head.keep_alive);
}

TEST(RequestParser, TakesTheWholeURLIfItNamesTheSameHost) {
  const Outcome outcome = parse("GET http://A:1/x?y HTTP/1.1\r\nHost: a:1\r\n\r\n");
  EXPECT_EQ(outcome.head.request.path, "/x");
  EXPECT_EQ(outcome.head.request.query, "y");
  EXPECT_EQ(parse("GET http://a?y HTTP/1.1\r\nHost: a\r\n\r\n").head.request.path, "/");
  EXPECT_EQ(parse("GET http://b/x HTTP/1.1\r\nHost: a\r\n\r\n").status, 400);
  EXPECT_EQ(parse("GET http://a@b/x HTTP/1.1\r\nHost: a\r\n\r\n").status, 400);
}

TEST(RequestParser, UndoesChunks) {
  const Outcome outcome =
      parse(post("Transfer-Encoding: Chunked\r\n",
                 "5;a=\"b;c\"\r\nhello\r\n00A\r\n, world...\r\n0\r\nTrailer: x\r\nHost: b\r\n\r\nnext"));

  ASSERT_EQ(outcome.status, 0);
  EXPECT_EQ(*outcome.head.request.body, "hello, world...");
  EXPECT_EQ(outcome.rest, "next");
  EXPECT_EQ(outcome.head.request.count("Host"), 1U) << "a trailer is not a header";
  EXPECT_EQ(*parse(post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n")).head.request.body, "");
}

TEST(RequestParser, WaitsForTheRest) {
  for (const std::string& whole : {post("Content-Length: 3\r\n", "abc"),
                                   post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\nA: b\r\n\r\n")}) {
    ASSERT_EQ(parse(whole).status, 0);
    for (std::size_t size = 1; size < whole.size(); ++size)
      EXPECT_EQ(parse(whole.substr(0, size), 5).status, -1);
  }
}

TEST(RequestParser, IgnoresEmptyLinesBeforeARequestButNotForEver) {
  EXPECT_EQ(parse("\r\n\r\n" + get("")).status, 0);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "\r\n";
  EXPECT_EQ(parse(many).status, 400);
  EXPECT_EQ(parse("\n" + get("")).status, 400);
}

TEST(RequestParser, AsksForTheBodyOnlyIfItIsExpectedTo) {
  EXPECT_TRUE(parse(post("Content-Length: 1\r\nExpect: 100-Continue\r\n", "x")).head.expects_continue);
  EXPECT_FALSE(parse(post("Content-Length: 1\r\n", "x")).head.expects_continue);
  EXPECT_EQ(parse(post("Content-Length: 1\r\nExpect: a miracle\r\n", "x")).status, 417);
}

/// As a connection does: what a head meant is put back when its request has been dealt with.
Request next_of(LastHead& last, std::string_view text, bool in_pieces = false) {
  RequestParser parser(kHeadCap, kBodyCap, nullptr, &last);
  auto progress = RequestParser::Progress::More;
  while (!text.empty() && progress != RequestParser::Progress::Complete) {
    std::string_view bytes = in_pieces ? text.substr(0, 3) : text;
    const std::size_t given = bytes.size();
    progress = parser.put(bytes);
    text.remove_prefix(given - bytes.size());
  }
  EXPECT_EQ(progress, RequestParser::Progress::Complete);
  RequestHead head = parser.take();
  const Request request = head.request;
  head.request.body = nullptr;
  last.head = std::move(head);
  return request;
}

TEST(RequestParser, TakesTheHeadThatItKnowsFromTheLastTime) {
  LastHead last;
  for (const bool in_pieces : {false, true}) {
    for (const std::string body : {"one", "two"}) {
      const Request request = next_of(last, post("X: y\r\nContent-Length: 3\r\n", body), in_pieces);
      EXPECT_EQ(*request.body, body);
      EXPECT_EQ(request.header("X"), "y");
      EXPECT_EQ(request.headers.size(), 3U);
    }
  }
  EXPECT_EQ(last.text, post("X: y\r\nContent-Length: 3\r\n", ""));
}

TEST(RequestParser, DoesNotTakeAHeadForAnother) {
  LastHead last;
  EXPECT_EQ(*next_of(last, post("X: y\r\nContent-Length: 3\r\n", "one")).body, "one");
  EXPECT_EQ(*next_of(last, post("X: y\r\nContent-Length: 4\r\n", "four")).body, "four");
  EXPECT_EQ(next_of(last, post("X: z\r\nContent-Length: 4\r\n", "four")).header("X"), "z");
  EXPECT_EQ(*next_of(last, get("X: z\r\n")).body, "");
  EXPECT_EQ(*next_of(last, get("X: z\r\n")).body, "") << "nothing of the last body";
}

TEST(RequestParser, KeepsNoHeadThatIsLong) {
  LastHead last;
  const std::string longer = get("X: " + std::string(LastHead::kLongest, 'x') + "\r\n");
  EXPECT_EQ(next_of(last, longer).header("X").size(), LastHead::kLongest);
  EXPECT_EQ(last.text, "");
  EXPECT_EQ(next_of(last, get("")).headers.size(), 1U);
}

TEST(RequestParser, HasCaps) {
  EXPECT_EQ(parse(get("X: " + std::string(kHeadCap - 100, 'x') + "\r\n")).status, 0);
  EXPECT_EQ(parse(get("X: " + std::string(kHeadCap, 'x') + "\r\n")).status, 431);
  EXPECT_EQ(parse("GET /" + std::string(kHeadCap, 'x'), 100).status, 431) << "also without a line end";
  EXPECT_EQ(parse(post("Content-Length: 100\r\n", std::string(100, 'x'))).status, 0);
  EXPECT_EQ(parse(post("Content-Length: 101\r\n", "")).status, 413) << "before any of it came";
  EXPECT_EQ(parse(post("Content-Length: 18446744073709551615\r\n", "")).status, 413);
  EXPECT_EQ(parse(post("Transfer-Encoding: chunked\r\n", "65\r\n")).status, 413);
  EXPECT_EQ(parse(post("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n64\r\n")).status, 413);
  EXPECT_EQ(parse(post("Transfer-Encoding: chunked\r\n", "1;" + std::string(5000, 'x'))).status, 400);
  EXPECT_EQ(parse(post("Transfer-Encoding: chunked\r\n", "0\r\nA: " + std::string(5000, 'x'))).status, 400);

  RequestParser parser(1 << 20, 0, nullptr);
  std::string headers = "Host: a\r\n";
  for (int i = 0; i < 300; ++i) headers += "A: b\r\n";
  const std::string text = "GET / HTTP/1.1\r\n" + headers + "\r\n";
  std::string_view bytes = text;
  ASSERT_EQ(parser.put(bytes), RequestParser::Progress::Bad);
  EXPECT_EQ(parser.fault().status, 431);
}

struct Smuggled {
  std::string text;
  int status;
};

/// Where another reader of the same bytes might see another request.
TEST(RequestParser, RefusesBodiesWhoseEndCanBeSeenInTwoPlaces) {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::vector<Smuggled> cases = {
      {post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n"), 400},
      {post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"), 400},
      {post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc"), 400},
      {post("Content-Length: 3, 3\r\n", "abc"), 400},
      {post("Content-Length: +3\r\n", "abc"), 400},
      {post("Content-Length: -3\r\n", "abc"), 400},
      {post("Content-Length: 0x3\r\n", "abc"), 400},
      {post("Content-Length: 3 3\r\n", "abc"), 400},
      {post("Content-Length: 3;\r\n", "abc"), 400},
      {post("Content-Length:\r\n", "abc"), 400},
      {post("Content-Length: 18446744073709551619\r\n", "abc"), 400},
      {post("Content-Length : 3\r\n", "abc"), 400},
      {post("Content-Length: 3\r\nTransfer-Encoding: identity\r\n", "abc"), 400},
      {post("Transfer-Encoding: identity\r\n", "abc"), 501},
      {post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501},
      {post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"), 501},
      {post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 501},
      {post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n"), 501},
      {post("Transfer-Encoding:\r\n", "0\r\n\r\n"), 501},
      {post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding: chun\vked\r\n", "0\r\n\r\n"), 400},
      {post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"), 400},
      {post("X: a\r\n\tb\r\n", ""), 400},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post(chunked, "3\nabc\r\n0\r\n\r\n"), 400},
      {post(chunked, "3\r\nabcd\r\n0\r\n\r\n"), 400},
      {post(chunked, "3\r\nabc\n0\r\n\r\n"), 400},
      {post(chunked, "3\rabc\r\n0\r\n\r\n"), 400},
      {post(chunked, "0x3\r\nabc\r\n0\r\n\r\n"), 400},
      {post(chunked, "+3\r\nabc\r\n0\r\n\r\n"), 400},
      {post(chunked, "-1\r\n"), 400},
      {post(chunked, " 3\r\nabc\r\n0\r\n\r\n"), 400},
      {post(chunked, "3 \r\nabc\r\n0\r\n\r\n"), 400},
      {post(chunked, "3;a\nb\r\nabc\r\n0\r\n\r\n"), 400},
      {post(chunked, "\r\n"), 400},
      {post(chunked, "10000000000000003\r\nabc\r\n"), 400},
      {post(chunked, "0\r\nA: b\n\r\n"), 400},
      {post(chunked, "0\r\n\r\r\n"), 400},
  };
  for (const Smuggled& one : cases) EXPECT_EQ(parse(one.text).status, one.status) << one.text;
}

TEST(RequestParser, RefusesHeadsThatAreNotWellFormed) {
  const std::vector<Smuggled> cases = {
      {"GET / HTTP/1.1\nHost: a\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: b\rY: c\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n"s, 400},
      {"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"s, 400},
      {"GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {get("Host: a\r\n"), 400},
      {get("hOST: b\r\n"), 400},
      {get("Ho st: b\r\n"), 400},
      {get("X\r\n"), 400},
      {get(": x\r\n"), 400},
      {get("X\x80: x\r\n"), 400},
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /\tx HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / x HTTP/1.1\r\nHost: a\r\n\r\n", 505},
      {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /x#y HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET file:///etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 505},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
      {"GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505},
      {"GET / http/1.1\r\nHost: a\r\n\r\n", 505},
      {"GET /\r\n\r\n", 400},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"\x16\x03\x01\x02", 400},
  };
  for (const Smuggled& one : cases) EXPECT_EQ(parse(one.text).status, one.status) << one.text;
}

TEST(RequestParser, SplitsEveryFormOfATarget) {
  struct Target {
    const char* text;
    const char* path;
    const char* query;
  };
  for (const Target& one :
       {Target{"/", "/", ""}, Target{"/a?", "/a", ""}, Target{"/a?b?c", "/a", "b?c"}, Target{"/?b", "/", "b"},
        Target{"http://a", "/", ""}, Target{"http://a?b", "/", "b"}, Target{"HTTP://A/c", "/c", ""},
        Target{"http://a/?d=e", "/", "d=e"}}) {
    const Outcome outcome = parse("GET " + std::string(one.text) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_EQ(outcome.status, 0) << one.text;
    EXPECT_EQ(outcome.head.request.path, one.path) << one.text;
    EXPECT_EQ(outcome.head.request.query, one.query) << one.text;
  }
  for (const char* text : {"http://", "http:/a", "http://a#b", "?a", "http://ab/"})
    EXPECT_EQ(parse("GET " + std::string(text) + " HTTP/1.1\r\nHost: a\r\n\r\n").status, 400) << text;
}

TEST(RequestParser, HasCapsToTheByte) {
  const std::size_t rest = get("X: \r\n").size();
  EXPECT_EQ(parse(get("X: " + std::string(kHeadCap - rest, 'x') + "\r\n")).status, 0);
  EXPECT_EQ(parse(get("X: " + std::string(kHeadCap - rest + 1, 'x') + "\r\n")).status, 431);
  std::string headers;
  for (int i = 0; i < 255; ++i) headers += "A:\r\n";  // and the Host
  EXPECT_EQ(parse(get(headers)).status, 0);
  EXPECT_EQ(parse(get(headers + "A:\r\n")).status, 431);
  std::string lines;
  for (int i = 0; i < 8; ++i) lines += "\r\n";
  EXPECT_EQ(parse(lines + get("")).status, 0);
  EXPECT_EQ(parse("\r\n" + lines + get("")).status, 400);
  EXPECT_EQ(parse(post("Transfer-Encoding: chunked\r\n", "64\r\n" + std::string(100, 'x') + "\r\n0\r\n\r\n"))
                .status,
            0);
  for (const auto& [length, status] : {std::pair{4096, 0}, std::pair{4097, 400}}) {
    const std::string skipped(static_cast<std::size_t>(length) - 1, 'x');
    EXPECT_EQ(parse(post("Transfer-Encoding: chunked\r\n", "1;" + skipped + "x\r\na\r\n0\r\n\r\n")).status,
              status == 0 ? 0 : 400);
    EXPECT_EQ(parse(post("Transfer-Encoding: chunked\r\n", "0\r\n:" + skipped + "\r\n\r\n")).status, status);
  }
  EXPECT_EQ(parse(post("Transfer-Encoding: chunked\r\n", "000000000000001\r\na\r\n0\r\n\r\n")).status, 0);
  EXPECT_EQ(parse(post("Transfer-Encoding: chunked\r\n", "0000000000000001\r\na\r\n0\r\n\r\n")).status, 400);
}

}  // namespace
}  // namespace corral::http
