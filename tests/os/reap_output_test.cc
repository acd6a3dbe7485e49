// What doctor, who and reap print: four blocks in order, no line that wraps, nothing that a terminal would
// obey and nothing that is nobody's business.
#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json.hpp>
#include <sstream>

#include "support/eventually.h"
#include "support/survey_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

/// Lines that are made to be pasted stay whole, and so does a word such as a long path.
bool must_stay_whole(const std::string& line) {
  if (line.starts_with("  next") || line.starts_with("tip: to end all")) return true;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (columns(word) > 60) return true;
  }
  return false;
}

std::string too_long(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (columns(line) > width && !must_stay_whole(line)) found += line + '\n';
  }
  return found;
}

bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return byte == '\n' || (byte >= 0x20 && byte < 0x7f); });
}

/// No control characters but line ends, also not those that UTF-8 can hide (C1).
bool obeys_nothing(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7f) return false;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return false;
  }
  return true;
}

class ReapOutput : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    configure_codex(server());
  }
  std::vector<std::vector<std::string>> every_view(pid_t pid) const {
    return {{"doctor"},
            {"doctor", "-v"},
            {"doctor", "--json"},
            {"who", word(pid)},
            {"who", "--json", word(pid)},
            {"reap", "--match", tag()},
            {"reap", "-v", "--match", tag()}};
  }
};

TEST_F(ReapOutput, HasFourBlocksInOrder) {
  Holder dead(client("codex", 3, server_line()), 3);
  Holder holder(client("codex", 2, server_line()), 2);
  dead.die();

  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"reap", "--match", tag()}, {"reap", "--match", tag(), "--yes"}}) {
    const Said said = run_corral(words);
    const std::size_t found = said.out.find("Found: ");
    const std::size_t kept = said.out.find("\nKept: ");
    const std::size_t ended = said.out.find("\nEnded: ");
    const std::size_t remaining = said.out.find("\nRemaining: ");

    EXPECT_EQ(found, 0U) << said.out;
    EXPECT_LT(found, kept);
    EXPECT_LT(kept, ended);
    EXPECT_LT(ended, remaining);
    EXPECT_LT(remaining, said.out.size());
    EXPECT_THAT(said.out.substr(remaining), HasSubstr("tip: "));
    EXPECT_THAT(said.out, HasSubstr("Codex"));
  }
  EXPECT_TRUE(living(dead.servers()).empty());
}

/// What doctor says to type next is right, works as it stands, and helps.
TEST_F(ReapOutput, NamesACommandThatWorksWhenPasted) {
  Holder dead(client("codex", 2, server_line()), 2);
  dead.die();
  const boost::json::value said = doctor();
  const boost::json::object* found = finding(said, "orphan", dead.server());
  ASSERT_NE(found, nullptr);
  const std::string next = text_of(*found, "next");
  ASSERT_TRUE(next.starts_with("corral reap "));

  Launch launch = corral_launch({});
  // With our own tag on top, because this machine may have orphans of others.
  launch.argv = {"sh", "-c",
                 "PATH=" + programs().corral.substr(0, programs().corral.rfind('/')) + ":$PATH; " + next +
                     " --match " + tag() + " --yes"};
  Session session(launch);
  session.output_to_end();

  EXPECT_EQ(session.wait(), 0) << errors();
  EXPECT_TRUE(living(dead.servers()).empty());
}

TEST_F(ReapOutput, FitsTheTerminal) {
  const std::string deep =
      ".config/Claude/" + std::string(90, 'd') + "/files-server-with-a-very-long-name-indeed";
  const std::string program = install(programs().adversary, deep);
  write("home/.claude.json",
        R"({"mcpServers":{"a server with quite a long name":{"command":")" + program + R"("}}})");
  Holder claude(client("claude", 14, {program, "--tag=" + tag(), "--life=60", "--ignore-eof"}), 14);
  Holder dead(client("codex", 2, wrapped_line()), 2);
  dead.die();

  for (const std::size_t width : {80U, 40U}) {
    for (const std::vector<std::string>& words : every_view(claude.server())) {
      if (std::find(words.begin(), words.end(), "--json") != words.end()) continue;
      const Said said = run_corral(words, {"COLUMNS=" + std::to_string(width), "LC_ALL=C.UTF-8"});

      EXPECT_EQ(said.code, 0) << said.err;
      if (width == 80) {
        EXPECT_EQ(too_long(said.out, width), "") << testing::PrintToString(words);
      } else {
        EXPECT_NE(said.out, "");  // a word may be longer than that; it must still be there
      }
    }
  }
}

TEST_F(ReapOutput, IsPlainAsciiWhereTheLocaleAsksForIt) {
  Holder dead(client("codex", 14, server_line()), 14);
  dead.die();

  for (const std::string locale : {"LC_ALL=C", "LC_ALL=POSIX", "LANG=de_DE.ISO-8859-1"}) {
    for (const std::vector<std::string>& words : every_view(dead.server())) {
      const Said said = run_corral(words, {locale, "COLUMNS=40"});
      EXPECT_EQ(said.code, 0);
      const bool json = std::find(words.begin(), words.end(), "--json") != words.end();  // is always UTF-8
      EXPECT_TRUE(json || is_plain(said.out)) << locale << said.out;
    }
  }
}

TEST_F(ReapOutput, NeverPassesOnWhatATerminalWouldObey) {
  const std::string hostile =
      "servers/\x1b[2J\x1b]0;owned\x07\xc2\x9b"
      "31m\nEnded: 0\r\xff\xfe\xe2\x80\xae";
  const std::string program = install(programs().adversary, hostile + "/files-server\x1b[31m");
  std::string escaped;
  for (const char byte : program)
    escaped += byte == '\xff' || byte == '\xfe' ? std::string("?") : std::string(1, byte);
  Holder helper(client("codex", 1,
                       {"sh", "-c", "exec \"$0\" \"$@\" # mcp-server", program, "--tag=" + tag(), "--life=60",
                        "--ignore-eof"}),
                1);
  Holder known(client("codex", 1,
                      {"sh", "-c", server() + " --ignore-eof --tag=" + tag() + " # \x1b[2J\n\xff\a; :\n:"}),
               1);
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); }));

  for (const pid_t pid : {helper.server(), known.server()}) {
    std::vector<std::vector<std::string>> views = every_view(pid);
    std::erase_if(views, [](const auto& words) { return words.front() == "who" && words[1] == "--json"; });
    for (const std::vector<std::string>& words : views) {
      const Said said = run_corral(words, {"LC_ALL=C.UTF-8"});
      EXPECT_EQ(said.code, 0) << said.err;
      EXPECT_TRUE(obeys_nothing(said.out)) << testing::PrintToString(said.out);
      EXPECT_TRUE(obeys_nothing(said.err)) << testing::PrintToString(said.err);
      EXPECT_EQ(said.out.find("\xff"), std::string::npos);
    }
  }
}

TEST_F(ReapOutput, KeepsSecrets) {
  write("home/.claude.json",
        R"({"mcpServers":{"x":{"command":")" + server() +
            R"(","args":["--token","configured-s3cret"],"env":{"API_KEY":"env-s3cret"}}}})");
  Launch launch = client(
      "codex", 2,
      {"sh", "-c", "\"$0\" \"$1\" \"$2\"; : --token abc-s3cret", server(), "--tag=" + tag(), "--ignore-eof"});
  launch.env.push_back("GITHUB_TOKEN=env-of-s3cret");
  launch.env.push_back("CLAUDE_CODE_ENTRYPOINT=value-s3cret");
  Holder dead(launch, 2);
  Launch other = client("codex", 1,
                        {"sh", "-c", "exec sleep 60", "mcp-server", "--api-key", "sk-s3cret0123456789",
                         "--password=pw-s3cret", "PGPASSWORD=s3cret", "https://user:s3cret@example.org/"});
  Holder words(other, 1);
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); }));
  dead.die();

  for (const pid_t pid : {dead.server(), words.server(), words.pid()}) {
    for (const std::vector<std::string>& view : every_view(pid)) {
      const Said said = run_corral(view);
      EXPECT_THAT(said.out + said.err, Not(HasSubstr("s3cret"))) << testing::PrintToString(view);
    }
  }
}

TEST_F(ReapOutput, SaysWhatCouldNotBeEndedAndWhy) {
  if (!running_as_root()) GTEST_SKIP() << "only root can make a set-uid copy of another user's program";
  const std::string setuid = install(programs().adversary, "servers/setuid");
  ASSERT_EQ(chmod(setuid.c_str(), 04755), 0);
  Holder dead(
      client("codex", 1, server_line({"--ignore-eof", "--setuid-program=" + setuid, "--grow=setuid:1"})), 1);
  ASSERT_TRUE(eventually([&] { return processes().size() >= 3; })) << errors();
  dead.die();

  const Said said = run_corral({"reap", "--orphans", "--match", tag(), "--yes"}, {"COLUMNS=120"});

  EXPECT_EQ(said.code, 1) << said.out;
  EXPECT_THAT(said.out, HasSubstr("not ended"));
  EXPECT_THAT(said.out, HasSubstr("belongs to another user: run corral as that user"));
  EXPECT_THAT(said.out, HasSubstr("sudo -u USER corral reap"));
  EXPECT_FALSE(lives(dead.server()));
}

}  // namespace
}  // namespace corral::os_tests
