// `corral call` with a person in front of it: progress, questions, and Ctrl+C, on a real terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "support/eventually.h"
#include "support/hub_test.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

class DirectTerminal : public HubTest {
 protected:
  void SetUp() override {
    HubTest::SetUp();
    std::ofstream(path("list")) << "ask\nprogress\nsilent\nvisit\nvisit-first\n";
    chmod(path("list").c_str(), 0644);
    for (const char* const name : {"cancelled", "silent"}) {
      std::ofstream(path(name)).close();
      chmod(path(name).c_str(), 0666);
    }
    add_server("rude",
               {"--list=" + path("list"), "--cancelled=" + path("cancelled"), "--silent=" + path("silent")},
               R"("share":"session","stdin_grace":"200ms","term_grace":"200ms")");
    start_daemon();
  }

  Launch person_calls(const std::vector<std::string>& words) {
    Launch launch = command("call", words);
    launch.in = Stdio::Terminal;
    launch.terminal = &terminal_;
    launch.before_exec = [job = as_foreground_job(terminal_)] {
      dup2(0, 2);
      job();
    };
    return launch;
  }

  Terminal terminal_;
};

TEST_F(DirectTerminal, ProgressIsShownOnOneLine) {
  Session session(person_calls({"rude", "progress", "arg=8"}));

  EXPECT_TRUE(terminal_.shows("\r\x1b[K1 ppp")) << terminal_.screen();
  EXPECT_TRUE(terminal_.shows("\r\x1b[K2 ppp")) << terminal_.screen();
  EXPECT_EQ(session.output_to_end(), "2\n");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(DirectTerminal, AQuestionIsAskedFieldByFieldUntilTheAnswerFits) {
  Session session(person_calls({"rude", "ask", "arg=who are you"}));

  ASSERT_TRUE(terminal_.shows("The server asks: who are you")) << terminal_.screen();
  ASSERT_TRUE(terminal_.shows("[y]es, [n]o, [c]ancel: ")) << terminal_.screen();
  terminal_.type("y\n");
  ASSERT_TRUE(terminal_.shows("age (integer, from 1): ")) << terminal_.screen();
  terminal_.type("old\n");
  ASSERT_TRUE(terminal_.shows("Invalid value, expected: integer, from 1")) << terminal_.screen();
  terminal_.type("12345678901234567890123\n");
  ASSERT_TRUE(terminal_.shows("size (one of: small, large) [\"small\"]: ")) << terminal_.screen();
  terminal_.type("\n");

  EXPECT_EQ(session.output_to_end(), "accept 12345678901234567890123 small\n");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(DirectTerminal, AQuestionCanBeDeclined) {
  Session session(person_calls({"rude", "ask", "arg=who are you"}));

  ASSERT_TRUE(terminal_.shows("[c]ancel: ")) << terminal_.screen();
  terminal_.type("n\n");

  EXPECT_EQ(session.output_to_end(), "decline  \n");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(DirectTerminal, AnAddressIsShownAndNeverOpened) {
  Session session(person_calls({"rude", "visit", "arg=https://example.org/login"}));

  ASSERT_TRUE(terminal_.shows("The server asks: log in")) << terminal_.screen();
  ASSERT_TRUE(terminal_.shows("  https://example.org/login")) << terminal_.screen();
  ASSERT_TRUE(terminal_.shows("Will you visit it? [y]es, [n]o, [c]ancel: ")) << terminal_.screen();
  terminal_.type("y\n");

  EXPECT_EQ(session.output_to_end(), "accept  \n");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(DirectTerminal, AnAddressThatMustBeVisitedFirstIsNamed) {
  const Words said = say("call", {"rude", "visit-first", "arg=https://example.org/login"});

  EXPECT_EQ(said.code, 3);
  EXPECT_THAT(said.err,
              testing::HasSubstr("log in first (error -32042); visit https://example.org/login, then"));
}

TEST_F(DirectTerminal, CtrlDCancelsTheQuestionAlone) {
  Session session(person_calls({"rude", "ask", "arg=who are you"}));

  ASSERT_TRUE(terminal_.shows("[c]ancel: ")) << terminal_.screen();
  terminal_.type("y\n");
  ASSERT_TRUE(terminal_.shows("age (")) << terminal_.screen();
  terminal_.type("\x04");

  EXPECT_EQ(session.output_to_end(), "cancel  \n");
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(DirectTerminal, NobodyIsAskedWithoutATerminal) {
  const Words said = say("call", {"rude", "ask", "arg=who are you"});

  EXPECT_EQ(said.out, "  \n")
      << "no action in the answer: the capability was not declared, and the question refused";
  EXPECT_THAT(said.err, testing::Not(testing::HasSubstr("The server asks")));
}

class DirectKeys : public DirectTerminal, public testing::WithParamInterface<const char*> {};

TEST_P(DirectKeys, CtrlCCancelsTheCallAndEndsTheSession) {
  Session session(person_calls({"rude", GetParam(), "arg=who are you"}));
  if (std::string(GetParam()) == "ask") {
    ASSERT_TRUE(terminal_.shows("[c]ancel: ")) << terminal_.screen();
  } else {
    ASSERT_TRUE(eventually([&] { return file("silent") == "."; })) << status();
  }

  terminal_.type(Terminal::kCtrlC);

  EXPECT_EQ(session.wait(), 130);
  EXPECT_TRUE(eventually([&] { return file("cancelled") == "."; }));
  EXPECT_TRUE(eventually([&] {
    const auto all = processes();
    return std::none_of(all.begin(), all.end(),
                        [](const Process& each) { return each.comm == "rude-server"; });
  })) << testing::PrintToString(processes());
}

INSTANTIATE_TEST_SUITE_P(While, DirectKeys, testing::Values("silent", "ask"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace corral::os_tests
