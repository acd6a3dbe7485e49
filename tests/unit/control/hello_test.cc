// What is said at the daemon's socket: every message comes back as it was, and no line from outside breaks
// anything.
#include "control/hello.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "control/control_socket.h"

namespace corral::control {
namespace {

Hello full_hello() {
  Hello hello;
  hello.version = "1.2.3";
  hello.argv = {"npx", "-y", "a \"server\"", "back\\slash", "new\nline", ""};
  hello.cwd = "/srv/somebody";
  hello.environment = {"PATH=/bin", "EMPTY=", "ODD=\x01\x1f\x7f", "LATIN=\xe4\xff", "UTF8=\xc3\xa4"};
  hello.share = "session";
  hello.quiet = true;
  hello.ignore = {"cwd", "PATH", "EDITOR"};
  hello.client = 4711;
  hello.descriptors = {"input", "output", "client"};
  return hello;
}

/// Without the line end.
std::string line_of(const std::string& encoded) { return encoded.substr(0, encoded.size() - 1); }

std::string complaint(const std::string& line) {
  const Result<Hello> hello = decode_hello(line);
  return hello ? "" : hello.error().message;
}

constexpr const char* kCommon =
    R"("protocol":3,"verb":"connect","version":"1","cwd":"/","descriptors":["input","output"])";

std::string connect_with(const std::string& members) {
  return std::string("{") + kCommon + "," + members + "}";
}

std::string create_with(const std::string& members) {
  return R"({"protocol":3,"verb":"session-create","cwd":"/",)" + members + "}";
}

std::string too_many_names() {
  std::string names = "\"a\"";
  for (std::size_t i = 0; i < kMostServers; ++i) names += ",\"a\"";
  return names;
}

TEST(Hello, ComesBackAsItWas) {
  const Hello sent = full_hello();

  const Result<Hello> received = decode_hello(line_of(encode(sent)));

  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(received->protocol, kProtocol);
  EXPECT_EQ(received->verb, Verb::Connect);
  EXPECT_EQ(received->version, sent.version);
  EXPECT_EQ(received->server, sent.server);
  EXPECT_EQ(received->argv, sent.argv);
  EXPECT_EQ(received->cwd, sent.cwd);
  EXPECT_EQ(received->environment, sent.environment);
  EXPECT_EQ(received->share, sent.share);
  EXPECT_EQ(received->quiet, sent.quiet);
  EXPECT_EQ(received->ignore, sent.ignore);
  EXPECT_EQ(received->client, sent.client);
  EXPECT_EQ(received->descriptors, sent.descriptors);
}

TEST(Hello, IsOneLine) {
  const std::string text = encode(full_hello());

  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

TEST(Hello, KeepsEveryByteOfAPathAndAVariable) {
  EXPECT_EQ(encode(full_hello()),
            "{\"protocol\":" + std::to_string(kProtocol) +
                R"(,"verb":"connect","version":"1.2.3","argv":["npx","-y","a \"server\"","back\\slash",)"
                R"("new\u000aline",""],"cwd":"/srv/somebody","share":"session","quiet":true,)"
                R"("ignore":["cwd","PATH","EDITOR"],"client":4711,"descriptors":["input","output","client"],)"
                "\"environment\":[\"PATH=/bin\",\"EMPTY=\",\"ODD=\\u0001\\u001f\x7f\",\"LATIN=\xe4\xff\","
                "\"UTF8=\xc3\xa4\"]}\n");
}

TEST(Hello, OfStatusAndShutdownNeedsNothingElse) {
  for (const Verb verb : {Verb::Status, Verb::Shutdown}) {
    Hello hello;
    hello.verb = verb;

    const Result<Hello> received = decode_hello(line_of(encode(hello)));

    ASSERT_TRUE(received) << received.error().message;
    EXPECT_EQ(received->verb, verb);
  }
}

TEST(Hello, OfASessionAndARootComesBackAsItWas) {
  Hello sent = full_hello();
  sent.argv.clear();
  sent.ignore.clear();
  sent.server = "files";
  sent.session = "s-0123456789abcdef";
  sent.root = "/srv/a project";
  sent.share = "root";

  const Result<Hello> received = decode_hello(line_of(encode(sent)));

  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(received->session, sent.session);
  EXPECT_EQ(received->root, sent.root);
  EXPECT_EQ(received->share, "root");
}

TEST(Hello, OfANewSessionComesBackAsItWas) {
  Hello sent;
  sent.verb = Verb::SessionCreate;
  sent.servers = {"files", "memory"};
  sent.commands = {{"npx", "-y", "server"}, {"node", "two words.js", ""}};
  sent.cwd = "/srv/me";
  sent.environment = {"PATH=/bin", "LATIN=\xe4"};
  sent.owner = 4711;
  sent.ttl = std::chrono::minutes(10);

  const Result<Hello> received = decode_hello(line_of(encode(sent)));

  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(received->verb, Verb::SessionCreate);
  EXPECT_EQ(received->servers, sent.servers);
  EXPECT_EQ(received->commands, sent.commands);
  EXPECT_EQ(received->cwd, sent.cwd);
  EXPECT_EQ(received->environment, sent.environment);
  EXPECT_EQ(received->owner, sent.owner);
  EXPECT_EQ(received->ttl, sent.ttl);
}

TEST(Hello, OfAVerbForOneServerNamesIt) {
  for (const Verb verb : {Verb::Restart, Verb::Stop, Verb::Start}) {
    Hello hello;
    hello.verb = verb;
    hello.server = "files";

    const Result<Hello> received = decode_hello(line_of(encode(hello)));

    ASSERT_TRUE(received) << received.error().message;
    EXPECT_EQ(received->verb, verb);
    EXPECT_EQ(received->server, "files");
  }
}

TEST(Hello, OfTheEndOfASessionNamesIt) {
  Hello hello;
  hello.verb = Verb::SessionEnd;
  hello.session = "s-1";

  const Result<Hello> received = decode_hello(line_of(encode(hello)));

  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(received->session, "s-1");
}

TEST(Hello, IsWrittenInTheNewestProtocol) {
  Hello hello;
  for (const Verb verb :
       {Verb::Connect, Verb::Status, Verb::Shutdown, Verb::Reload, Verb::Restart, Verb::Stop, Verb::Start,
        Verb::SessionCreate, Verb::SessionEnd, Verb::SessionList, Verb::Info, Verb::Events, Verb::Metrics}) {
    hello.verb = verb;
    EXPECT_TRUE(encode(hello).starts_with("{\"protocol\":" + std::to_string(kProtocol) + ","))
        << encode(hello);
  }
}

TEST(Hello, OfEventsSaysWhichAndHowLongItWaits) {
  Hello hello;
  hello.verb = Verb::Events;
  hello.protocol = 3;
  hello.after = 41;
  hello.limit = 7;
  hello.wait = std::chrono::seconds(20);

  const Result<Hello> received = decode_hello(line_of(encode(hello)));

  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(received->after, 41U);
  EXPECT_EQ(received->limit, 7U);
  EXPECT_EQ(received->wait, std::chrono::seconds(20));
}

TEST(Hello, OfEventsHasBounds) {
  const std::string begin = R"({"protocol":3,"verb":"events","version":"0")";

  EXPECT_TRUE(decode_hello(begin + "}"));
  EXPECT_FALSE(decode_hello(begin + R"(,"limit":0})"));
  EXPECT_FALSE(decode_hello(begin + R"(,"limit":1001})"));
  EXPECT_FALSE(decode_hello(begin + R"(,"wait_ms":60001})"));
  EXPECT_FALSE(decode_hello(begin + R"(,"after":-1})"));
}

TEST(Hello, OfAStatusMayAskForWhatTheTreesUse) {
  Hello hello;
  hello.verb = Verb::Status;
  hello.measure = true;

  const Result<Hello> received = decode_hello(line_of(encode(hello)));

  ASSERT_TRUE(received) << received.error().message;
  EXPECT_TRUE(received->measure);
}

TEST(Hello, OfTheOldestProtocolIsServed) {
  const Result<Hello> hello = decode_hello(connect_with(R"("server":"a")"));

  ASSERT_TRUE(hello) << hello.error().message;
  EXPECT_EQ(hello->protocol, kOldestProtocol);
}

TEST(Hello, IgnoresMembersOfNewerPrograms) {
  EXPECT_EQ(complaint(connect_with(R"("server":"a","later":{"x":[1,null]})")), "");
}

TEST(Hello, IgnoresEntriesThatAreNotVariables) {
  const Result<Hello> hello =
      decode_hello(connect_with(R"("server":"a","environment":["A=1","junk","=C:","","B=="])"));

  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->environment, (std::vector<std::string>{"A=1", "B=="}));
}

TEST(Hello, OfAnotherProtocolIsNotJudged) {
  for (const int protocol : {kProtocol + 1, kProtocol + 1000, kOldestProtocol - 1, 1, 0, -1}) {
    const Result<Hello> hello =
        decode_hello("{\"protocol\":" + std::to_string(protocol) + ",\"verb\":\"dance\",\"argv\":7}");

    ASSERT_TRUE(hello) << protocol;
    EXPECT_EQ(hello->protocol, protocol);
  }
}

struct Hostile {
  const char* name;
  std::string line;
  const char* complaint;
};

void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

class HostileHello : public testing::TestWithParam<Hostile> {};

TEST_P(HostileHello, IsAnErrorThatSaysSo) {
  EXPECT_NE(complaint(GetParam().line).find(GetParam().complaint), std::string::npos)
      << complaint(GetParam().line);
}

std::vector<Hostile> hostile_hellos() {
  return {
      {"Empty", "", "not valid JSON"},
      {"Garbage", "GET / HTTP/1.1", "not valid JSON"},
      {"Half", R"({"protocol":3)", "not valid JSON"},
      {"TwoObjects", R"({"protocol":3}{})", "not valid JSON"},
      {"Array", "[1]", "not a JSON object"},
      {"Deep", std::string(100000, '['), "not valid JSON"},
      {"NoProtocol", R"({"verb":"status"})", "'protocol' is missing"},
      {"ProtocolAsText", R"({"protocol":"1"})", "'protocol' must be"},
      {"ProtocolAsFraction", R"({"protocol":1.5})", "'protocol' must be"},
      {"ProtocolTooLarge", R"({"protocol":99999999999})", "'protocol' must be"},
      {"ProtocolBeyondNumbers", R"({"protocol":1e999})", "'protocol' must be"},
      {"UnknownVerb", R"({"protocol":3,"verb":"dance"})", "'verb' must be one of"},
      {"NoVerb", R"({"protocol":3})", "'verb' must be one of"},
      {"ArgvAsText", connect_with(R"("argv":"npx")"), "'argv' must be an array"},
      {"ArgvOfNumbers", connect_with(R"("argv":[1])"), "'argv' must contain only strings"},
      {"NulInArgv", connect_with(R"("argv":["a\u0000b"])"), "without NUL"},
      {"NulInServer", connect_with(R"("server":"a\u0000b")"), "without NUL"},
      {"NoProgram", connect_with(R"("argv":[""])"), "'argv' must begin"},
      {"Nothing", connect_with(R"("share":"shared")"), "'server' or 'argv'"},
      {"Both", connect_with(R"("server":"a","argv":["b"])"), "'server' or 'argv'"},
      {"Quiet", connect_with(R"("server":"a","quiet":"yes")"), "'quiet'"},
      {"Share", connect_with(R"("server":"a","share":"everybody")"), "'share' must be"},
      {"IgnoreAsText", connect_with(R"("argv":["a"],"ignore":"cwd")"), "'ignore' must be an array"},
      {"IgnoreOfAnEntry", connect_with(R"("server":"a","ignore":["cwd"])"), "'ignore' is only for a command"},
      {"IgnoreNothing", connect_with(R"("argv":["a"],"ignore":[""])"), "'ignore' has a word"},
      {"IgnoreAValue", connect_with(R"("argv":["a"],"ignore":["A=B"])"), "without a value"},
      {"IgnoreNul", connect_with(R"("argv":["a"],"ignore":["A\u0000"])"), "without NUL"},
      {"IgnoreACredential", connect_with(R"("argv":["a"],"ignore":["cwd","API_TOKEN"])"), "credential"},
      {"IgnoreALongWord", connect_with(R"("argv":["a"],"ignore":[")" + std::string(257, 'A') + "\"]"),
       "256 bytes"},
      {"IgnoreTooMuch", connect_with(R"("argv":["a"],"ignore":[)" + too_many_names() + "]"), "at most 64"},
      {"NegativeClient", connect_with(R"("server":"a","client":-1)"), "'client' must be"},
      {"RelativeDirectory", connect_with(R"("server":"a","cwd":"tmp")"), "'cwd' must be"},
      {"InputTwice", connect_with(R"("server":"a","descriptors":["input","input","output"])"),
       "'descriptors'"},
      {"UnknownDescriptor", connect_with(R"("server":"a","descriptors":["input","output","x"])"),
       "'descriptors'"},
      {"RelativeRoot", connect_with(R"("server":"a","root":"srv")"), "'root' must be"},
      {"NulInSession", connect_with(R"("server":"a","session":"s\u0000")"), "without NUL"},
      {"RestartOfNothing", R"({"protocol":3,"verb":"restart"})", "'server' must name"},
      {"StopOfANumber", R"({"protocol":3,"verb":"stop","server":1})", "'server' must be a string"},
      {"EndOfNothing", R"({"protocol":3,"verb":"session-end","session":""})", "'session' must name"},
      {"CreateNowhere", R"({"protocol":3,"verb":"session-create","servers":["a"]})", "'cwd' must be"},
      {"NamelessServer", create_with(R"("servers":[""])"), "'servers' must contain names"},
      {"CommandsFlat", create_with(R"("commands":["npx"])"), "'commands' must be an array"},
      {"CommandsAsText", create_with(R"("commands":"npx")"), "'commands' must be an array"},
      {"EmptyCommand", create_with(R"("commands":[[]])"), "'commands' must contain"},
      {"CommandOfNoProgram", create_with(R"("commands":[["","a"]])"), "'commands' must contain"},
      {"NulInCommand", create_with(R"("commands":[["a\u0000"]])"), "without NUL"},
      {"NegativeOwner", create_with(R"("owner":-1)"), "'owner' must be"},
      {"HugeOwner", create_with(R"("owner":4294967297)"), "'owner' must be"},
      {"NegativeTtl", create_with(R"("ttl_ms":-1)"), "'ttl_ms' must be"},
      {"EndlessTtl", create_with(R"("ttl_ms":9223372036854775807)"), "'ttl_ms' must be"},
      {"TtlAsText", create_with(R"("ttl_ms":"10m")"), "'ttl_ms' must be"},
      {"TooManyServers", create_with(R"("servers":[)" + too_many_names() + "]"), "at most 64"},
      {"NoDescriptor", connect_with(R"("server":"a","descriptors":[])"), "'descriptors'"},
  };
}

INSTANTIATE_TEST_SUITE_P(Lines, HostileHello, testing::ValuesIn(hostile_hellos()),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(Hello, WithHundredsOfThousandsOfValuesIsRefused) {
  std::string odd = "1";
  for (int i = 0; i < 300'000; ++i) odd += ",1";

  const Result<Hello> hello = decode_hello(R"({"protocol":3,"verb":"status","odd":[)" + odd + "]}");

  ASSERT_FALSE(hello);
  EXPECT_NE(hello.error().message.find("262144 values"), std::string::npos) << hello.error().message;
}

TEST(Reply, ComesBackAsItWas) {
  using Kind = Reply::Kind;
  const std::vector<Reply> replies = {
      {Kind::Accepted, "", 0, 0, 1, "0.1.0"},       {Kind::RunIt, "you are \"confined\"\n", 0, 0, 0, ""},
      {Kind::Refused, "no", 69, 0, 3, "0.3.0"},     {Kind::Note, "a \xff byte", 0, 0, 0, ""},
      {Kind::Stderr, "", 0, 4096, 0, ""},           {Kind::Status, R"({"a":[1,"b"]})", 0, 0, 0, ""},
      {Kind::Exit, "the server left", 3, 0, 0, ""}, {Kind::Result, R"({"ended":[]})", 0, 0, 0, ""},
  };
  for (const Reply& sent : replies) {
    const std::string text = encode(sent);

    const Result<Reply> received = decode_reply(line_of(text));

    ASSERT_TRUE(received) << text << received.error().message;
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    EXPECT_EQ(received->kind, sent.kind) << text;
    EXPECT_EQ(received->text, sent.text) << text;
    EXPECT_EQ(received->code, sent.code) << text;
    EXPECT_EQ(received->size, sent.size) << text;
    EXPECT_EQ(received->protocol, sent.protocol) << text;
    EXPECT_EQ(received->version, sent.version) << text;
  }
}

TEST(Reply, StatusOfSeveralLinesBecomesOne) {
  const std::string text = encode(Reply{Reply::Kind::Status, "{\n  \"a\": 1\n}\n", 0, 0, 0, ""});

  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_EQ(decode_reply(line_of(text))->text, R"({"a":1})");
}

TEST(Reply, HostileOnesAreErrors) {
  for (const char* line :
       {"", "x", "[]", "{}", R"({"reply":"dance"})", R"({"reply":"stderr","size":-1})",
        R"({"reply":"exit","code":"0"})", R"({"reply":"note","text":1})", R"({"reply":"status"})",
        R"({"reply":"result"})", R"({"reply":"result","text":"x"})"}) {
    EXPECT_FALSE(decode_reply(line)) << line;
  }
}

TEST(ReplyReader, FindsTheSameRepliesHoweverTheyArrive) {
  const std::string bytes("a\nb\0\n\n{", 7);
  const std::string stream = encode(Reply{Reply::Kind::Accepted, "", 0, 0, 1, "1"}) +
                             encode(Reply{Reply::Kind::Stderr, "", 0, bytes.size(), 0, ""}) + bytes +
                             encode(Reply{Reply::Kind::Stderr, "", 0, 0, 0, ""}) +
                             encode(Reply{Reply::Kind::Exit, "", 7, 0, 0, ""});
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    ReplyReader reader;
    std::vector<Reply> replies;

    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.add(std::string_view(stream).substr(at, piece));
      while (auto reply = reader.take()) {
        ASSERT_TRUE(*reply) << reply->error().message;
        replies.push_back(**reply);
      }
    }

    ASSERT_EQ(replies.size(), 4U) << piece;
    EXPECT_EQ(replies[1].text, bytes) << piece;
    EXPECT_EQ(replies[2].text, "") << piece;
    EXPECT_EQ(replies[3].code, 7) << piece;
  }
}

TEST(ReplyReader, RefusesToGatherWhatHasNoEnd) {
  ReplyReader reader;
  reader.add("{\"reply\":\"stderr\",\"size\":999999999999}\n");

  const auto reply = reader.take();

  ASSERT_TRUE(reply.has_value());
  EXPECT_FALSE(*reply);
}

TEST(Hello, OfANewSessionMayNameALeapYearAtMost) {
  constexpr std::int64_t kLeapYear = 366LL * 24 * 3600 * 1000;
  EXPECT_TRUE(decode_hello(create_with(R"("servers":["a"],"ttl_ms":)" + std::to_string(kLeapYear))));
  EXPECT_FALSE(decode_hello(create_with(R"("servers":["a"],"ttl_ms":)" + std::to_string(kLeapYear + 1))));
}

TEST(Hello, OfANewSessionNeedsNoTimeAndNoOwner) {
  const Result<Hello> received =
      decode_hello(R"({"protocol":3,"verb":"session-create","servers":["a"],"cwd":"/"})");
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(received->ttl.count(), 0);
  EXPECT_EQ(received->owner, 0);
  EXPECT_EQ(encode(*received).find("ttl_ms"), std::string::npos);
  EXPECT_EQ(encode(*received).find("owner"), std::string::npos);
}

TEST(Reply, OfADaemonThatEndsIsKnownByItsWords) {
  Reply reply;
  reply.kind = Reply::Kind::RunIt;
  reply.text = kShuttingDown;
  EXPECT_TRUE(reply.is_from_ending_daemon());
  reply.text = "you are more confined than the daemon";
  EXPECT_FALSE(reply.is_from_ending_daemon());
  reply.kind = Reply::Kind::Refused;
  reply.text = kShuttingDown;
  EXPECT_FALSE(reply.is_from_ending_daemon()) << "nothing has to be run";
}

}  // namespace
}  // namespace corral::control
