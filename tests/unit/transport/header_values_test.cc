#include "transport/header_values.h"

#include <gtest/gtest.h>

namespace corral::transport {
namespace {

bool takes_json(std::vector<std::string> values) {
  http::Request request;
  for (std::string& value : values) request.headers.push_back({"aCCEPT", std::move(value)});
  return accepts(request, "application/json");
}

TEST(Accept, IsEverythingIfNothingIsSaid) {
  EXPECT_TRUE(takes_json({}));
  EXPECT_FALSE(takes_json({""})) << "but not if nothing is what is said";
}

TEST(Accept, NamesTheTypeOrItsFamilyOrAll) {
  for (const char* value :
       {"application/json", "APPLICATION/Json", "text/html , application/json", "\tapplication/json ;q=1",
        "application/*", "Application/*", "*/*", "text/*,*/*;q=0.1", ",,application/json,",
        "text/event-stream;a=b;c, application/json; charset=utf-8"}) {
    EXPECT_TRUE(takes_json({value})) << value;
  }
  EXPECT_TRUE(takes_json({"text/html", "application/json"})) << "in a second header";
  for (const char* value :
       {"text/html", "text/*", "application", "application/", "application/jso", "/*", "*",
        "application/jsonl", "json", "application/xml, text/json", "xapplication/*"}) {
    EXPECT_FALSE(takes_json({value})) << value;
  }
}

TEST(Accept, IsDecidedByTheClosestRange) {
  EXPECT_FALSE(takes_json({"*/*, application/json;q=0"}));
  EXPECT_FALSE(takes_json({"application/json;q=0, */*"}));
  EXPECT_TRUE(takes_json({"*/*;q=0, application/json"}));
  EXPECT_TRUE(takes_json({"application/*, */*;q=0"}));
  EXPECT_FALSE(takes_json({"application/*;q=0, */*"}));
  EXPECT_FALSE(takes_json({"*/*, application/*;q=0"}));
  EXPECT_TRUE(takes_json({"application/*;q=0, application/json"}));
  EXPECT_TRUE(takes_json({"application/json;q=0, application/json"})) << "the last of equals";
}

TEST(Accept, IsRefusedOnlyByAWeightOfNothing) {
  for (const char* weight : {"q=0", "q=0.0", "q=0.000", "Q=0", " q = 0 ", "a=b;q=0", "q=0;q=1"})
    EXPECT_FALSE(takes_json({"application/json;" + std::string(weight)})) << weight;
  for (const char* weight : {"q=1", "q=0.001", "q=0.5", "q=", "q", "q=x", "q=0x", "x=0", "q=.0", ""})
    EXPECT_TRUE(takes_json({"application/json;" + std::string(weight)})) << weight;
}

TEST(MediaType, IsInSmallLettersWithoutItsParameters) {
  EXPECT_EQ(media_type(" Application/JSON ; charset=utf-8"), "application/json");
  EXPECT_EQ(media_type("text/plain"), "text/plain");
  EXPECT_EQ(media_type(" \t "), "");
  EXPECT_EQ(media_type(""), "");
}

TEST(HeaderSafe, IsWhatAHeaderCanHold) {
  EXPECT_TRUE(is_header_safe(""));
  EXPECT_TRUE(is_header_safe(" a\t~"));
  for (const char* value : {"\x1f", "\x7f", "a\nb", "\x80", "\xc3\xa4"})
    EXPECT_FALSE(is_header_safe(value)) << value;
}

TEST(HeaderToken, IsWhatAHeaderMayBeCalled) {
  for (const char* name : {"a", "Z", "z", "A", "0", "9", "X-a_b.c!#$%&'*+^`|~"})
    EXPECT_TRUE(is_token(name)) << name;
  for (const char* name : {"", " ", "a b", "a:", "a/b", "\"a\"", "[", "@", "{", "\x80", "(a)"})
    EXPECT_FALSE(is_token(name)) << name;
}

TEST(MirroredValue, IsWrittenPlainlyOrInBase64) {
  EXPECT_EQ(mirrored_value("plain"), "plain");
  EXPECT_EQ(mirrored_value(""), "");
  EXPECT_EQ(mirrored_value("=?base64?w6Q=?="), "\xc3\xa4");
  EXPECT_EQ(mirrored_value("=?base64?YQ==?="), "a");
  EXPECT_EQ(mirrored_value("=?base64?YWI=?="), "ab");
  EXPECT_EQ(mirrored_value("=?base64?YWJj?="), "abc");
  EXPECT_EQ(mirrored_value("=?base64?AAAA?="), std::string(3, '\0'));
  EXPECT_EQ(mirrored_value("=?base64?Pj4+Pz8/?="), ">>>\?\?\?");
  EXPECT_EQ(mirrored_value("=?base64?enowOTk=?="), "zz099");
  EXPECT_EQ(mirrored_value("=?base64?\?="), "") << "nothing";
}

TEST(MirroredValue, IsPlainIfItOnlyBeginsOrEndsLikeBase64) {
  for (const char* value : {"=?base64?=", "=?base64?YQ==", "YQ==?=", "=?Base64?YQ==?=", " =?base64?YQ==?="})
    EXPECT_EQ(mirrored_value(value), value);
}

TEST(MirroredValue, HasOneWritingInBase64) {
  for (const char* value :
       {"YQ", "YQ=", "YR==", "YWJ=", "Y===", "====", "Y!==", "YWJjZ", "YW\tj", "YQ==YQ==", "-_-_", "=YQ="})
    EXPECT_EQ(mirrored_value("=?base64?" + std::string(value) + "?="), std::nullopt) << value;
  EXPECT_EQ(mirrored_value("\xc3\xa4"), std::nullopt);
}

TEST(Accept, CountsTheWidestRangeAsWell) {
  EXPECT_TRUE(takes_json({"*/*"}));
  EXPECT_FALSE(takes_json({"*/*;q=0"}));
  EXPECT_TRUE(takes_json({"*/*;q=0, */*"}));
}

}  // namespace
}  // namespace corral::transport
