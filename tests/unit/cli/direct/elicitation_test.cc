#include "cli/direct/elicitation.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace corral::cli {
namespace {

std::string expected(std::string_view schema) { return expectation(boost::json::parse(schema)); }

TEST(Elicitation, WhatAFieldTakesIsSaidInWords) {
  EXPECT_EQ(expected(R"({"type":"boolean"})"), "y or n");
  EXPECT_EQ(expected(R"({"type":"integer","minimum":1,"maximum":9})"), "integer, from 1, to 9");
  EXPECT_EQ(expected(R"({"type":"string","enum":["a","b"],"enumNames":["A","b"]})"), "one of: a (A), b");
}

TEST(Elicitation, NothingInASchemaSteersTheTerminal) {
  EXPECT_EQ(expected(R"({"type":"x\u001b]0;owned\u0007\u009b2J\ny"})"), "x�]0;owned��2J y");
  EXPECT_EQ(expected(R"({"type":"string","enum":["a\u001b[2J"]})"), "one of: a�[2J");
}

}  // namespace
}  // namespace corral::cli
