// The names of clients' commands: one for each program, and never that of another server.
#include "daemon/command_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::daemon {
namespace {

using testing::MatchesRegex;
using Words = std::vector<std::string>;

class NamesOfCommands : public testing::Test {
 protected:
  std::string name(const Words& argv, const std::string& chosen = "") {
    return names_.name_for(argv, chosen, "/", "/usr/bin:/bin",
                           [](const std::string& name) { return name == "files"; });
  }

  CommandNames names_;
};

TEST_F(NamesOfCommands, AreTheSameForOneProgram) {
  EXPECT_EQ(name({"npx", "-y", "some-server"}), "some-server");
  EXPECT_EQ(name({"npx", "some-server@2", "--fast"}), "some-server");
  EXPECT_EQ(name({"pnpm", "dlx", "some-server"}), "some-server");
}

TEST_F(NamesOfCommands, OfTwoProgramsDiffer) {
  EXPECT_EQ(name({"/one/server-x"}), "server-x");
  const std::string other = name({"/two/server-x"});
  EXPECT_THAT(other, MatchesRegex("server-x-[0-9a-f]{6}"));
  EXPECT_EQ(name({"/two/server-x", "--again"}), other);
  EXPECT_EQ(name({"/one/server-x"}), "server-x");

  CommandNames later;
  EXPECT_EQ(later.name_for({"/two/server-x"}, "", "/", "", [](const std::string&) { return true; }), other)
      << "the digits belong to the program";
}

TEST_F(NamesOfCommands, OfAConfiguredServerAreItsOwn) {
  EXPECT_THAT(name({"/opt/files"}), MatchesRegex("files-[0-9a-f]{6}"));
}

TEST_F(NamesOfCommands, AreWhatTheUserChooses) {
  EXPECT_EQ(name({"npx", "-y", "some-server"}, "mine"), "mine");
  EXPECT_EQ(name({"npx", "-y", "some-server"}, "mine"), "mine");
  EXPECT_THAT(name({"npx", "-y", "other-server"}, "mine"), MatchesRegex("mine-[0-9a-f]{6}"));
  EXPECT_THAT(name({"npx", "-y", "other-server"}, "files"), MatchesRegex("files-[0-9a-f]{6}"));
}

TEST_F(NamesOfCommands, AreRememberedWithTheirDigits) {
  name({"npx", "-y", "some-server"}, "mine");
  const std::string other = name({"npx", "-y", "other-server"}, "mine");

  EXPECT_EQ(names_.all(), (Words{"mine", other}));
}

TEST_F(NamesOfCommands, DoNotFillTheDaemon) {
  for (int one = 0; one < 5000; ++one) name({"/opt/server"}, "name-" + std::to_string(one));
  EXPECT_THAT(name({"/opt/server"}, "one-more"), MatchesRegex("one-more-[0-9a-f]{6}"));
  EXPECT_EQ(name({"/opt/server"}, "name-17"), "name-17");
}

}  // namespace
}  // namespace corral::daemon
