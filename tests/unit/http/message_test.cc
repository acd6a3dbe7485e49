#include "http/message.h"

#include <gtest/gtest.h>

namespace corral::http {
namespace {

TEST(Message, FindsHeadersWithoutRegardToCase) {
  Request request;
  request.headers = {{"Mcp-Session-Id", "one"}, {"ACCEPT", "a"}, {"accept", "b"}};

  EXPECT_EQ(request.header("mcp-session-id"), "one");
  EXPECT_EQ(request.header("Accept"), "a") << "the first";
  EXPECT_EQ(request.count("Accept"), 2U);
  EXPECT_EQ(request.find("Accep"), nullptr);
  EXPECT_EQ(request.header("Accept-"), "");
}

TEST(Message, ReadsAValueOfTheQuery) {
  EXPECT_EQ(query_value("root=%2Fhome%2Fme&x=1", "root"), "/home/me");
  EXPECT_EQ(query_value("a=1&root=a+b%20c", "root"), "a b c");
  EXPECT_EQ(query_value("%72oot=1", "root"), "1") << "names are written with escapes too";
  EXPECT_EQ(query_value("root=1&root=2", "root"), "1") << "the first";
  EXPECT_EQ(query_value("root=a=b", "root"), "a=b");
  EXPECT_EQ(query_value("root", "root"), "");
  EXPECT_EQ(query_value("xroot=1&rootx=2", "root"), "");
  EXPECT_EQ(query_value("", "root"), "");
}

TEST(Message, LeavesAnInvalidEscapeAsItIs) {
  EXPECT_EQ(query_value("root=100%", "root"), "100%");
  EXPECT_EQ(query_value("root=%4", "root"), "%4");
  EXPECT_EQ(query_value("root=%zz%4g%41", "root"), "%zz%4gA");
  EXPECT_EQ(query_value("&&=&root=x", "root"), "x");
}

}  // namespace
}  // namespace corral::http
