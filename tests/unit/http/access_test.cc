#include "http/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::http {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kSecret = "crl_0123456789abcdef0123456789abcdef";
constexpr const char* kHost = "127.0.0.1:8765";

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    rules.port = 8765;
    peer.ours = true;
    tokens = {{"ci", kSecret, {"files"}}, {"all", "crl_ffffffffffffffffffffffffffffffff", {}}};
  }

  Access check(Headers headers) const {
    Request request;
    request.method = "POST";
    request.path = "/mcp/files";
    request.headers = std::move(headers);
    request.body = std::make_shared<const std::string>();
    request.peer = std::make_shared<const Peer>(peer);
    return check_access(request, rules, tokens);
  }
  int with_host(const std::string& host) const { return check({{"Host", host}}).status; }
  int with_origin(const std::string& origin) const {
    return check({{"Host", kHost}, {"Origin", origin}}).status;
  }
  Access with_authorization(const std::string& value) const {
    return check({{"Host", kHost}, {"Authorization", value}});
  }

  AccessRules rules;
  Peer peer;
  std::vector<Token> tokens;
};

// ---- Host

TEST_F(AccessTest, TakesTheNamesOfThisMachineWithOurPortOnly) {
  for (const char* host : {"127.0.0.1:8765", "localhost:8765", "LocalHost:8765", "[::1]:8765"}) {
    EXPECT_EQ(with_host(host), 200) << host;
  }
  for (const char* host : {"127.0.0.1",
                           "localhost",
                           "[::1]",
                           "localhost:8766",
                           "localhost:08765",
                           "localhost:",
                           "localhost:8765x",
                           "evil.example:8765",
                           "localhost.evil.example:8765",
                           "localhost.:8765",
                           "127.0.0.1.evil.example:8765",
                           "user@localhost:8765",
                           "localhost:8765/",
                           "localhost:8765,evil.example",
                           "[::1",
                           "[]:8765",
                           "::1:8765",
                           "[::1]8765",
                           "localhost:87650000000",
                           " localhost:8765",
                           "",
                           "2130706433:8765",
                           "0.0.0.0:8765"}) {
    EXPECT_EQ(with_host(host), 403) << host;
  }
  EXPECT_EQ(with_host(std::string(5000, 'a')), 403);
}

TEST_F(AccessTest, AHostOf255CharactersIsTheLongest) {
  const std::string longest(255, 'a');
  rules.hosts = {longest, longest + "a"};

  EXPECT_EQ(with_host(longest), 200);
  EXPECT_EQ(with_host(longest + "a"), 403);
}

TEST_F(AccessTest, NeedsExactlyOneHost) {
  EXPECT_EQ(check({}).status, 403);
  EXPECT_EQ(check({{"Host", kHost}, {"host", kHost}}).status, 403);
}

TEST_F(AccessTest, ThePortMayBeLeftOutWhereItIsTheUsualOne) {
  rules.port = 80;

  EXPECT_EQ(with_host("localhost"), 200);
  EXPECT_EQ(with_host("localhost:80"), 200);
}

TEST_F(AccessTest, AConfiguredNameComesWithThePortOfWhateverStandsInFront) {
  rules.hosts = {"mcp.example", "[fd00::7]"};

  for (const char* host : {"mcp.example", "MCP.example:443", "[fd00::7]:8765"})
    EXPECT_EQ(with_host(host), 200) << host;
  EXPECT_EQ(with_host("other.example"), 403);
}

TEST_F(AccessTest, AcceptsTheAddressAtWhichItListens) {
  for (const char* address : {"127.0.0.2", "[fd00::1]"}) {
    rules.address = address;
    EXPECT_EQ(with_host(std::string(address) + ":8765"), 200) << address;
    EXPECT_EQ(with_host(std::string(address) + ":1"), 403) << "another port";
    EXPECT_THAT(check({{"Host", "evil.example"}}).message, HasSubstr("http://" + rules.address + ":8765/"));
  }
}

TEST_F(AccessTest, AcceptsAnyValidHostAtTheUnixSocket) {
  peer.socket = Peer::Socket::Unix;

  EXPECT_EQ(with_host("whatever"), 200);
  EXPECT_EQ(with_host("what ever"), 403);
  EXPECT_EQ(check({}).status, 403);
}

// ---- Origin

TEST_F(AccessTest, TakesOnlyPagesThatAreListed) {
  rules.origins = {"https://app.example", "http://localhost:6274"};

  for (const char* origin : {"http://localhost:6274", "HTTPS://APP.example"})
    EXPECT_EQ(with_origin(origin), 200) << origin;
  EXPECT_EQ(check({{"Host", kHost}, {"Origin", "http://localhost:6274"}}).allowed_origin,
            "http://localhost:6274");
}

TEST_F(AccessTest, TakesItsOwnOriginWhichNobodyElseCanServe) {
  EXPECT_EQ(with_origin("http://127.0.0.1:8765"), 200);
  rules.address = "127.0.0.2";
  EXPECT_EQ(check({{"Host", "127.0.0.2:8765"}, {"Origin", "http://127.0.0.2:8765"}}).status, 200);
  EXPECT_EQ(with_origin("http://127.0.0.1:8765"), 403) << "somebody else may listen there";
  peer.socket = Peer::Socket::Unix;
  EXPECT_EQ(with_origin("http://127.0.0.2:8765"), 403);
}

/// Another user of the machine may serve it, and the user's browser would speak for it.
TEST_F(AccessTest, RefusesPagesOfThisMachineThatAreNotListed) {
  rules.origins = {"http://localhost:6274"};

  for (const char* origin : {"http://localhost:3000", "https://127.0.0.1", "http://[::1]:1",
                             "http://localhost", "http://127.0.0.1:6274", "http://localhost:8765",
                             "http://[::1]:8765", "https://127.0.0.1:8765", "http://127.0.0.1:87650"}) {
    const Access access = check({{"Host", kHost}, {"Origin", origin}});
    EXPECT_EQ(access.status, 403) << origin;
    EXPECT_EQ(access.allowed_origin, "") << origin;
    EXPECT_THAT(access.message, HasSubstr("`origins`"));
  }
}

TEST_F(AccessTest, RefusesPagesOfElsewhere) {
  rules.origins = {"https://app.example", "null", ""};  // those two are never to be had

  for (const char* origin :
       {"null", "", "https://evil.example", "http://app.example", "https://app.example:444",
        "http://localhost.evil.example", "http://localhost@evil.example", "file://localhost",
        "localhost:3000", "http://localhost:3000/path", "http://localhost http://localhost", "http://"}) {
    EXPECT_EQ(with_origin(origin), 403) << origin;
  }
  EXPECT_EQ(check({{"Host", kHost}, {"Origin", "http://localhost"}, {"Origin", "http://localhost"}}).status,
            403);
}

TEST_F(AccessTest, RefusesWhatAPageElsewhereLoadsWithoutSayingWhoItIs) {
  rules.origins = {"https://app.example"};
  EXPECT_EQ(check({{"Host", kHost}, {"Sec-Fetch-Site", "cross-site"}}).status, 403);
  EXPECT_EQ(check({{"Host", kHost}, {"Sec-Fetch-Site", "none"}}).status, 200);
  EXPECT_EQ(
      check({{"Host", kHost}, {"Origin", "https://app.example"}, {"Sec-Fetch-Site", "cross-site"}}).status,
      200);
}

// ---- who it is

TEST_F(AccessTest, OurOwnUserNeedsNoTokenAndMayUseEverything) {
  const Access access = check({{"Host", kHost}});

  EXPECT_EQ(access.status, 200);
  EXPECT_EQ(access.principal.name, "user");
  EXPECT_TRUE(access.principal.may_use("anything"));
}

TEST_F(AccessTest, EverybodyElseNeedsOne) {
  peer.ours = false;
  EXPECT_EQ(check({{"Host", kHost}}).status, 401);
  EXPECT_THAT(check({{"Host", kHost}}).message, HasSubstr("corral token create NAME"));

  peer.ours = true;
  rules.trust_own_user = false;
  EXPECT_EQ(check({{"Host", kHost}}).status, 401);
}

TEST_F(AccessTest, AProxyOfOurOwnUserSpeaksForOthers) {
  for (const char* mark : {"forwarded", "X-Forwarded-For", "X-Real-IP", "Via"}) {
    EXPECT_EQ(check({{"Host", kHost}, {mark, "203.0.113.7"}}).status, 401) << mark;
    EXPECT_EQ(
        check({{"Host", kHost}, {mark, "1"}, {"Authorization", std::string("Bearer ") + kSecret}}).status,
        200);
  }
}

TEST_F(AccessTest, ATokenOpensItsServers) {
  peer.ours = false;

  const Access access = with_authorization(std::string("bearer  ") + kSecret);

  EXPECT_EQ(access.status, 200);
  EXPECT_EQ(access.principal.name, "token:ci");
  EXPECT_TRUE(access.principal.may_use("files"));
  EXPECT_FALSE(access.principal.may_use("memory"));
  EXPECT_TRUE(with_authorization("Bearer crl_ffffffffffffffffffffffffffffffff").principal.may_use("memory"));
}

TEST_F(AccessTest, ATokenMustBeRightEvenIfTheCallerNeedsNone) {
  tokens.push_back({"broken", "", {}});
  const std::string right = std::string("Bearer ") + kSecret;

  for (const std::string& value :
       {right + "0", right.substr(0, right.size() - 1), right + " ", "Bearer " + std::string(kSecret + 1),
        std::string("Bearer"), std::string("Bearer "), std::string("Basic ") + kSecret, std::string(kSecret),
        std::string(), "Bearer " + std::string(30000, 'a'), right + right.substr(7)}) {
    EXPECT_EQ(with_authorization(value).status, 401) << value;
  }
  EXPECT_EQ(check({{"Host", kHost}, {"Authorization", right}, {"Authorization", right}}).status, 401);
  EXPECT_EQ(with_authorization(right).principal.name, "token:ci");
}

TEST_F(AccessTest, NoAnswerHoldsTheTokenOrAnInvalidOrigin) {
  const Access wrong = with_authorization("Bearer crl_wrong");
  const Access strange = check({{"Host", kHost}, {"Origin", "http://\"<script>"}});

  EXPECT_THAT(wrong.message, Not(HasSubstr("crl_")));
  EXPECT_THAT(strange.message, Not(HasSubstr("script")));
}

TEST_F(AccessTest, TakesOneOriginAtMost) {
  const Header own{"Origin", "http://" + std::string(kHost)};
  EXPECT_EQ(check({{"Host", kHost}, own}).status, 200);
  const Access twice = check({{"Host", kHost}, own, own});
  EXPECT_EQ(twice.status, 403);
  EXPECT_EQ(twice.message, "The Origin header was sent twice. Send it once, or not at all.");
  EXPECT_EQ(check({{"Host", kHost}, own, own, own}).status, 403);
}

}  // namespace
}  // namespace corral::http
