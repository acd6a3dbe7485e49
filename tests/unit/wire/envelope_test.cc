#include "wire/envelope.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace corral::wire {
namespace {

using namespace std::string_literals;

struct Scanned {
  explicit Scanned(std::string text) : line(std::move(text)), envelope(scan(line)) {}

  std::string_view operator[](Span span) const { return span.in(line); }

  std::string line;
  Envelope envelope;
};

std::string with_id(std::string_view id) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"ping"})";
}

TEST(Envelope, FindsThePartsOfARequestInAnyOrder) {
  const Scanned first(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}})");
  const Scanned last(
      R"({ "params" : {"name":"x"} , "method" : "tools/call" , "id" : 7 , "jsonrpc" : "2.0" })");

  for (const Scanned* s : {&first, &last}) {
    EXPECT_EQ(s->envelope.kind, Kind::Request) << s->envelope.fault;
    EXPECT_EQ((*s)[s->envelope.id], "7");
    EXPECT_EQ(method_name(s->envelope, s->line), "tools/call");
    EXPECT_EQ((*s)[s->envelope.params], R"({"name":"x"})");
    EXPECT_FALSE(s->envelope.result.present());
    EXPECT_FALSE(s->envelope.error.present());
    EXPECT_STREQ(s->envelope.fault, "");
  }
}

TEST(Envelope, TellsTheKindsApart) {
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","method":"a"})").kind, Kind::Notification);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":1,"method":"a"})").kind, Kind::Request);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind, Kind::Response);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":1,"result":null})").kind, Kind::Response);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}})").kind, Kind::Response);
  EXPECT_EQ(scan(R"([{"jsonrpc":"2.0","id":1,"method":"a"}])").kind, Kind::Batch);
  EXPECT_EQ(scan("[]").kind, Kind::Batch);
  EXPECT_EQ(scan("[").kind, Kind::NotJson);
  EXPECT_EQ(scan("{}").kind, Kind::NotRpc);
  EXPECT_EQ(scan("1").kind, Kind::NotRpc);
  EXPECT_EQ(scan("Server running on stdio").kind, Kind::NotJson);
}

TEST(Envelope, KeepsTheTextOfAnId) {
  for (const char* id : {"1", "\"1\"", "1.0", "1e2", "-0", "0", "-5", "18446744073709551617", "1e999", "\"\"",
                         R"("a\"b")", R"("\u0031")", "\"ü\"", "123456789012345678901234567890"}) {
    const Scanned s(with_id(id));

    EXPECT_EQ(s.envelope.kind, Kind::Request) << id;
    EXPECT_EQ(s[s.envelope.id], id);
  }
}

TEST(Envelope, RefusesAnIdThatIsNeitherStringNorNumber) {
  for (const char* id : {"null", "true", "false", "[]", "[1]", "{}", R"({"id":1})"}) {
    const Scanned s(with_id(id));

    EXPECT_EQ(s.envelope.kind, Kind::NotRpc) << id;
    EXPECT_FALSE(s.envelope.id.present()) << id;
    EXPECT_STREQ(s.envelope.fault, "\"id\" is neither a string nor a number");
  }
}

TEST(Envelope, LetsAnErrorComeWithoutAKnownId) {
  for (const char* line : {R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}})",
                           R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}})"}) {
    EXPECT_EQ(scan(line).kind, Kind::Response) << line;
    EXPECT_FALSE(scan(line).id.present());
  }
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","id":null,"result":{}})").kind, Kind::NotRpc);
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","result":{}})").kind, Kind::NotRpc);
}

TEST(Envelope, IgnoresAnIdThatStandsElsewhere) {
  const Scanned s(
      R"({"jsonrpc":"2.0","method":"a","params":{"id":1,"x":[{"id":2}],"t":"\"id\":3"},"Id":4,"id ":5})");

  EXPECT_EQ(s.envelope.kind, Kind::Notification) << s.envelope.fault;
  EXPECT_FALSE(s.envelope.id.present());
}

TEST(Envelope, ReadsKeysThatAreWrittenWithEscapes) {
  const Scanned s(
      R"({"jsonrpc":"2.0","\u0069d":3,"m\u0065thod":"a","par\u0061ms":{"\u005fmeta":{"progress\u0054oken":"t"}}})");

  EXPECT_EQ(s.envelope.kind, Kind::Request) << s.envelope.fault;
  EXPECT_EQ(s[s.envelope.id], "3");
  EXPECT_EQ(s[s.envelope.progress_token], "\"t\"");
}

TEST(Envelope, DecodesAMethodOnlyIfItMust) {
  const Scanned plain(R"({"jsonrpc":"2.0","method":"tools/list"})");
  const Scanned escaped(R"({"jsonrpc":"2.0","method":"tools\/li\u0073t"})");

  EXPECT_TRUE(plain.envelope.method_decoded.empty());
  EXPECT_EQ(method_name(plain.envelope, plain.line), "tools/list");
  EXPECT_EQ(method_name(escaped.envelope, escaped.line), "tools/list");
  EXPECT_EQ(escaped[escaped.envelope.method], R"(tools\/li\u0073t)");
}

TEST(Envelope, RefusesASecondOfEveryKeyThatItUses) {
  const std::string p = "io.modelcontextprotocol/";
  const std::vector<std::string> lines = {
      R"({"jsonrpc":"2.0","jsonrpc":"2.0","method":"a"})",
      R"({"jsonrpc":"2.0","id":1,"method":"a","id":1})",
      R"({"jsonrpc":"2.0","id":1,"method":"a","\u0069d":2})",
      R"({"jsonrpc":"2.0","\u0069\u0064":1,"method":"a","i\u0064":2})",
      R"({"jsonrpc":"2.0","id":1,"method":"a","method":"b"})",
      R"({"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"a"})",
      R"({"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}})",
      R"({"jsonrpc":"2.0","id":1,"result":{},"result":{}})",
      R"({"jsonrpc":"2.0","id":1,"error":{},"error":{}})",
      R"({"jsonrpc":"2.0","method":"a","params":{"_meta":{},"_meta":{}}})",
      R"({"jsonrpc":"2.0","method":"a","params":{"_meta":{},"\u005fmeta":{}}})",
      R"({"jsonrpc":"2.0","method":"a","params":{"progressToken":1,"progressToken":1}})",
      R"({"jsonrpc":"2.0","method":"a","params":{"requestId":1,"requestId":1}})",
      R"({"jsonrpc":"2.0","method":"a","params":{"_meta":{"progressToken":1,"progressToken":1}}})",
      R"({"jsonrpc":"2.0","method":"a","params":{"_meta":{")" + p + R"(logLevel":1,")" + p +
          R"(logLevel":1}}})",
      R"({"jsonrpc":"2.0","method":"a","params":{"_meta":{")" + p + R"(subscriptionId":1,")" + p +
          R"(subscriptionId":1}}})",
      R"({"jsonrpc":"2.0","method":"a","params":{"_meta":{")" + p + R"(protocolVersion":1,")" + p +
          R"(protocolVersion":1}}})",
  };
  for (const std::string& line : lines) {
    EXPECT_EQ(scan(line).kind, Kind::NotRpc) << line;
    EXPECT_EQ(std::string(scan(line).fault).rfind("a second ", 0), 0U) << line << ": " << scan(line).fault;
  }
  EXPECT_EQ(scan(R"({"jsonrpc":"2.0","method":"a","x":1,"x":2,"params":{"y":1,"y":2}})").kind,
            Kind::Notification)
      << "other keys are not ours to judge";
}

TEST(Envelope, OffersNoIdWhenThereWereTwo) {
  EXPECT_FALSE(scan(R"({"jsonrpc":"2.0","id":1,"method":"a","id":2})").id.present());
  EXPECT_FALSE(scan(R"({"jsonrpc":"2.0","id":1,"id":2,"id":3,"method":"a"})").id.present());
}

TEST(Envelope, OffersTheIdOfAMessageThatItRefuses) {
  for (const char* line :
       {R"({"id":5,"method":"a"})", R"({"jsonrpc":"1.0","method":"a","id":5})",
        R"({"jsonrpc":"2.0","method":"a","params":[1],"id":5})", R"({"jsonrpc":"2.0","id":5})",
        R"({"jsonrpc":"2.0","method":"a","method":"b","id":5})"}) {
    const Scanned s(line);

    EXPECT_EQ(s.envelope.kind, Kind::NotRpc) << line;
    EXPECT_EQ(s[s.envelope.id], "5") << line;
    EXPECT_FALSE(s.envelope.method.present()) << line;
  }
  EXPECT_FALSE(scan(R"({"jsonrpc":"2.0","id":5,"method":"a",})").id.present()) << "not JSON, no id";
}

/// They are kept as long as their calls are open.
TEST(Envelope, RefusesIdsAndTokensOfMoreThanAKilobyte) {
  const auto request = [](const std::string& id, const std::string& token) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"x","params":{"_meta":{"progressToken":)" + token +
           "}}}";
  };
  const std::string longest = '"' + std::string(1022, 'x') + '"';
  const std::string longer = '"' + std::string(1023, 'x') + '"';

  EXPECT_EQ(scan(request(longest, longest)).kind, Kind::Request);
  const std::string id = request(longer, "1");
  EXPECT_EQ(scan(id).kind, Kind::NotRpc);
  EXPECT_FALSE(scan(id).id.present()) << "it is not given back either";
  const std::string token = request("7", longer);
  EXPECT_EQ(scan(token).kind, Kind::NotRpc);
  EXPECT_EQ(scan(token).id.in(token), "7");
  EXPECT_EQ(scan(request(std::string(1025, '1'), "1")).kind, Kind::NotRpc);
  const std::string answer = R"({"jsonrpc":"2.0","id":)" + longer + R"(,"result":{}})";
  EXPECT_EQ(scan(answer).kind, Kind::NotRpc) << "nor of whom answers";
}

TEST(Envelope, SaysWhatIsWrongWithAMessage) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {R"({"method":"a"})", "no \"jsonrpc\""},
      {R"({"jsonrpc":"1.0","method":"a"})", "\"jsonrpc\" is not \"2.0\""},
      {R"({"jsonrpc":2.0,"method":"a"})", "\"jsonrpc\" is not \"2.0\""},
      {R"({"jsonrpc":"2.0","method":1})", "\"method\" is not a string"},
      {R"({"jsonrpc":"2.0","method":""})", "\"method\" is empty"},
      {R"({"jsonrpc":"2.0","method":"a","params":[]})", "\"params\" is not an object"},
      {R"({"jsonrpc":"2.0","method":"a","params":null})", "\"params\" is not an object"},
      {R"({"jsonrpc":"2.0","method":"a","params":{"_meta":1}})", "\"_meta\" is not an object"},
      {R"({"jsonrpc":"2.0","id":1})", "no \"method\", \"result\" or \"error\""},
      {R"({"jsonrpc":"2.0","id":1,"method":"a","result":1})",
       "a \"method\" beside a \"result\" or an \"error\""},
      {R"({"jsonrpc":"2.0","id":1,"result":1,"error":{}})", "a \"result\" beside an \"error\""},
      {R"({"jsonrpc":"2.0","id":1,"error":"x"})", "\"error\" is not an object"},
      {R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"progressToken":null}}})",
       "\"progressToken\" is neither a string nor a number"},
      {R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{}}})",
       "\"progressToken\" is neither a string nor a number"},
      {R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}})",
       "\"requestId\" is neither a string nor a number"},
  };
  for (const auto& [line, fault] : rows) {
    EXPECT_EQ(scan(line).kind, Kind::NotRpc) << line;
    EXPECT_STREQ(scan(line).fault, fault) << line;
  }
}

TEST(Envelope, FindsWhatStandsInMeta) {
  const Scanned s(
      R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"_meta":{"progressToken":"t","io.modelcontextprotocol/)"
      R"(protocolVersion":"2026-07-28","io.modelcontextprotocol/subscriptionId":4,"io.modelcontextprotocol/logLevel":)"
      R"("info","progressToken2":9}}})");

  EXPECT_EQ(s[s.envelope.progress_token], "\"t\"");
  EXPECT_EQ(s[s.envelope.protocol_version], "\"2026-07-28\"");
  EXPECT_EQ(s[s.envelope.subscription_id], "4");
  EXPECT_EQ(s[s.envelope.log_level], "\"info\"");
  EXPECT_EQ(s[s.envelope.meta].front(), '{');
  EXPECT_EQ(s[s.envelope.meta].back(), '}');
  EXPECT_FALSE(s.envelope.direct_token.present());
}

TEST(Envelope, LooksForATokenOnlyWhereItIsOne) {
  const Scanned progress(
      R"({"jsonrpc":"2.0","params":{"progressToken":3},"method":"notifications/progress"})");
  const Scanned cancelled(
      R"({"jsonrpc":"2.0","method":"notifications\/cancelled","params":{"requestId":"r"}})");
  const Scanned other(
      R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"requestId":{},"progressToken":[]}})");
  const Scanned deeper(
      R"({"jsonrpc":"2.0","id":1,"method":"x","params":{"arguments":{"_meta":{"progressToken":1}}},"_meta":{"progressToken":2}})");

  EXPECT_EQ(progress[progress.envelope.direct_token], "3");
  EXPECT_EQ(cancelled[cancelled.envelope.request_id], "\"r\"");
  EXPECT_EQ(other.envelope.kind, Kind::Request);
  EXPECT_FALSE(other.envelope.direct_token.present());
  EXPECT_FALSE(other.envelope.request_id.present());
  EXPECT_FALSE(deeper.envelope.progress_token.present());
}

TEST(Envelope, ScansATenMegabyteStringWithTheIdBehindIt) {
  const std::string blob(10'000'000, 'A');
  const Scanned s(R"({"jsonrpc":"2.0","result":{"data":")" + blob + R"("},"id":12})");
  const Scanned broken(R"({"jsonrpc":"2.0","result":{"data":")" + blob + "\x01" + R"("},"id":12})");

  EXPECT_EQ(s.envelope.kind, Kind::Response);
  EXPECT_EQ(s[s.envelope.id], "12");
  EXPECT_EQ(broken.envelope.kind, Kind::NotJson);
}

TEST(Envelope, HasABoundOnTheNumberOfValues) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const auto with_values = [](std::size_t count) {
    std::string elements = "1";
    for (std::size_t i = 4; i < count; ++i) elements += ",1";  // version, id and array are values, too
    return Scanned(R"({"jsonrpc":"2.0","id":7,"result":[)" + elements + "]}").envelope;
  };

  EXPECT_EQ(with_values(kMost).kind, Kind::Response);
  EXPECT_EQ(with_values(kMost + 1).kind, Kind::NotJson);
  EXPECT_STREQ(with_values(kMost + 1).fault, "more than 1,048,576 values in one message");
}

TEST(Envelope, CountsEveryMethodAsAValue) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::string text = R"({"jsonrpc":"2.0","id":7)";
  for (std::size_t i = 2; i < kMost; ++i) text += R"(,"method":"")";
  EXPECT_STREQ(Scanned(text + "}").envelope.fault, "\"method\" is empty");

  const Envelope beyond = Scanned(text + R"(,"method":""})").envelope;

  EXPECT_EQ(beyond.kind, Kind::NotJson);
  EXPECT_STREQ(beyond.fault, "more than 1,048,576 values in one message");
}

TEST(Envelope, RefusesAMethodOfMoreThan1024BytesWithoutDecodingIt) {
  const auto with_method = [](const std::string& method) {
    return Scanned(R"({"jsonrpc":"2.0","id":7,"method":")" + method + R"("})").envelope;
  };
  EXPECT_EQ(with_method(std::string(1024, 'm')).kind, Kind::Request);

  for (const std::string& method : {std::string(1025, 'm'), "\\n" + std::string(1023, 'm')}) {
    const Envelope refused = with_method(method);
    EXPECT_EQ(refused.kind, Kind::NotRpc);
    EXPECT_STREQ(refused.fault, "a \"method\" of more than 1024 bytes");
    EXPECT_TRUE(refused.id.present());
    EXPECT_TRUE(refused.method_decoded.empty());
  }
}

TEST(Envelope, ReadsRunsOfEscapes) {
  EXPECT_EQ(Scanned(R"({"jsonrpc":"2.0","id":"\n\\\"\u0041\n","method":"a"})").envelope.kind, Kind::Request);
  EXPECT_EQ(Scanned(R"({"jsonrpc":"2.0","id":"\n\x","method":"a"})").envelope.kind, Kind::NotJson);
  EXPECT_EQ(Scanned("{\"jsonrpc\":\"2.0\",\"id\":\"\\n\\").envelope.kind, Kind::NotJson);
}

TEST(Envelope, SeesKeysThatSomeParsersTakeForOthers) {
  const auto misleads = [](const std::string& key) {
    return Scanned(R"({"jsonrpc":"2.0","id":1,"method":"a","params":{},")" + key + R"(":1})")
        .envelope.lookalike;
  };
  for (const char* key : {"Method", "METHOD", "PARAMS", "paramS", "\\u004dethod", "param\xC5\xBF",
                          "param\\u017F", "Id", "ID", "\\u0049d", "id\\u0000", "method\\u0000, and more"}) {
    EXPECT_TRUE(misleads(key)) << key;
  }
  for (const char* key : {"methods", "metho", "x-method", "ids", "_meta", "_Meta", "param", "i", ""}) {
    EXPECT_FALSE(misleads(key)) << key;
  }
  EXPECT_FALSE(Scanned(R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"Method":1}})").envelope.lookalike);
}

TEST(Envelope, SeesSuchKeysInParamsToo) {
  const auto scanned = [](const std::string& params) {
    return Scanned(R"({"jsonrpc":"2.0","id":1,"method":"a","params":{)" + params + "}}").envelope;
  };
  for (const char* params :
       {R"("_META":{})", R"("_meta":{"ProgressToken":1})", R"("_meta":{"progre\u017FsToken":1})",
        "\"_meta\":{\"progressTo\xE2\x84\xAA"
        "en\":1}",
        R"("_meta":{"progresstoken":1,"progressToken":2})"}) {
    EXPECT_TRUE(scanned(params).lookalike) << params;
  }
  for (const char* params : {R"("Id":1)", R"("_metas":{})", R"("_meta":{"token":1,"_Meta":2})",
                             R"("arguments":{"_Meta":{"ProgressToken":1}})"}) {
    EXPECT_FALSE(scanned(params).lookalike) << params;
  }
  EXPECT_TRUE(scanned(R"("requestId":1,"RequestID":2)").lookalike_request_id);
  EXPECT_FALSE(scanned(R"("requestId":1,"arguments":{"RequestID":2})").lookalike_request_id);
}

TEST(OwnNumber, TakesWhatWeWriteAlsoBetweenQuotes) {
  EXPECT_EQ(own_number("1"), 1U);
  EXPECT_EQ(own_number("0"), 0U);
  EXPECT_EQ(own_number("9007199254740991"), 9007199254740991U);
  EXPECT_EQ(own_number("\"17\""), 17U);
  EXPECT_FALSE(plain_number("\"17\""));
  for (const char* text :
       {"", "-1", "+1", "01", "1.0", "1e2", "\"\"", "\"01\"", "\"1", "1\"", "\" 1\"", "\"\"1\"\"", " 1", "1 ",
        "9007199254740992", "null", "99999999999999999", "18446744073709551617"}) {
    EXPECT_FALSE(own_number(text)) << text;
  }
}

}  // namespace
}  // namespace corral::wire
