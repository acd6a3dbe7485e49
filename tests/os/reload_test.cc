// Another configuration while sessions run: who is touched gets it, who is not does not notice, and a broken
// file changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kRefused = 125;

class Reload : public HubTest {
 protected:
  std::string entry(const std::string& name, const std::string& more = "") const {
    std::string line;
    for (const std::string& word : rude()) line += (line.empty() ? "\"" : ",\"") + word + "\"";
    return '"' + name + R"(":{"command":)" + line.substr(0, line.find(',')) + R"(,"args":[)" +
           line.substr(line.find(',') + 1) + R"(],"env":{"CORRAL_TEST_TAG":")" + tag() + '"' + more +
           R"(},"corral":{"share":"session","stdin_grace":"200ms","term_grace":"200ms"}})";
  }
  std::string configuration(const std::string& entries) const {
    return R"({"mcpServers":{)" + entries + R"(},"corral":{"drain":"200ms"}})";
  }

  static void write(const std::string& file, const std::string& text) {
    std::ofstream(file) << text;
    chmod(file.c_str(), 0644);
  }
  std::string config() const { return path("config.json"); }
  /// As careful editors do it.
  void replace(const std::string& text) const {
    write(path("config.json.new"), text);
    ASSERT_EQ(rename(path("config.json.new").c_str(), config().c_str()), 0);
  }

  void begin() {
    write(config(), configuration(entry("one") + "," + entry("two")));
    begin_with(config());
  }
  void begin_with(const std::string& file) {
    serving_ = std::make_unique<Serving>(serve({"--config", file}));
    ASSERT_TRUE(ready()) << errors();
  }
  Serving& serving() { return *serving_; }
  bool has_server(const std::string& name) const {
    return status().find(R"({"name":")" + name + '"') != std::string::npos;
  }

 private:
  std::unique_ptr<Serving> serving_;
};

TEST_F(Reload, TouchesOnlyTheServersThatChanged) {
  begin();
  McpClient one(connect({"one"}));
  McpClient two(connect({"two"}));
  ASSERT_TRUE(one.initialize()) << errors_of_shim();
  ASSERT_TRUE(two.initialize()) << errors_of_shim();
  const std::string old_one = one.call("pid");
  const std::string old_two = two.call("pid");

  replace(configuration(entry("one", R"(,"MORE":"1")") + "," + entry("two") + "," + entry("three")));
  ASSERT_TRUE(eventually([&] { return has_server("three"); })) << errors();
  ASSERT_TRUE(eventually([&] { return is_gone(std::stoi(old_one)); }));

  const std::string new_one = one.call("pid");
  EXPECT_NE(new_one, old_one);
  EXPECT_GT(std::atoi(new_one.c_str()), 0) << new_one;
  EXPECT_EQ(two.call("pid"), old_two);
  std::ifstream variables("/proc/" + new_one + "/environ", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(variables)), {});
  EXPECT_THAT(all, HasSubstr("MORE=1"));
}

TEST_F(Reload, TellsWhoAsksWhatHasChanged) {
  begin();
  write(config(), configuration(entry("one", R"(,"MORE":"1")") + "," + entry("three")));

  // Whichever comes first, the watch on the file or this one, the other finds nothing new.
  const Words said = say("reload", {"--json"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out,
              testing::AnyOf(HasSubstr(R"({"changed":["one"],"added":["three"],"removed":["two"],)"),
                             HasSubstr(R"({"changed":[],"added":[],"removed":[],)")));
  EXPECT_TRUE(has_server("three"));
  EXPECT_FALSE(has_server("two"));
  EXPECT_THAT(errors(), HasSubstr("changed one; added three; removed two"));
}

TEST_F(Reload, ADescriptionIsShownByEveryPageAndItsChangeRestartsNothing) {
  const auto described = [this](const std::string& text) {
    std::string one = entry("one");
    return configuration(one.replace(one.find(R"("share")"), 0, R"("description":")" + text + R"(",)"));
  };
  write(config(), described("Reads the notes of the team."));
  begin_with(config());
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const std::string server = client.call("pid");
  for (const std::vector<std::string>& page :
       {std::vector<std::string>{"ps", "-v"}, {"info"}, {"tools", "one"}}) {
    const Words said = say(page.front(), {page.begin() + 1, page.end()});
    EXPECT_THAT(said.out, HasSubstr("Reads the notes of the team.")) << page.front() << ": " << said.err;
  }

  write(config(), described("Keeps the notes of the team."));
  const Words said = say("reload");

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(eventually([&] { return say("ps", {"-v"}).out.find("Keeps the notes") != std::string::npos; }));
  EXPECT_EQ(client.call("pid"), server);
}

TEST_F(Reload, ARemovedServerEndsItsSessions) {
  begin();
  McpClient client(connect({"two"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const std::string server = client.call("pid");

  replace(configuration(entry("one")));

  EXPECT_TRUE(client.wait().has_value());
  EXPECT_TRUE(eventually([&] { return is_gone(std::stoi(server)); }));
  EXPECT_THAT(errors_of_shim(), HasSubstr("server two is no longer in " + config()));
  McpClient late(connect({"two"}));
  EXPECT_EQ(late.wait(), kRefused);
}

TEST_F(Reload, ABrokenFileChangesNothingAndSaysWhy) {
  begin();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const std::string server = client.call("pid");

  write(config(), "{\"mcpServers\":\n  {\"one\":");
  const Words said = say("reload");

  EXPECT_EQ(said.code, kRefused);
  EXPECT_THAT(said.err, HasSubstr(config() + ":2:"));
  EXPECT_THAT(said.err, HasSubstr("; nothing was changed"));
  EXPECT_THAT(status(), HasSubstr(R"("config_error":")" + config() + ":2:"));
  EXPECT_THAT(say("status").out, HasSubstr("cannot be used"));
  EXPECT_THAT(errors(), HasSubstr("; nothing was changed"));
  EXPECT_EQ(client.call("pid"), server);

  write(config(), configuration(entry("one") + "," + entry("two")));
  EXPECT_TRUE(eventually([&] { return status().find(R"("config_error":null)") != std::string::npos; }));
  EXPECT_EQ(client.call("pid"), server);
}

TEST_F(Reload, AFileThatIsGoneIsAMistake) {
  begin();

  unlink(config().c_str());
  const Words said = say("reload");

  EXPECT_EQ(said.code, kRefused);
  EXPECT_THAT(said.err, HasSubstr("; nothing was changed"));
  EXPECT_TRUE(has_server("one"));

  write(config(), configuration(entry("three")));
  EXPECT_TRUE(eventually([&] { return has_server("three"); }))
      << "created again, and not noticed: " << errors();
}

TEST_F(Reload, SighupDoesIt) {
  begin();
  // A file that was not touched: nobody but the signal can have asked.
  serving().signal(SIGHUP);

  EXPECT_TRUE(eventually([&] { return errors().find("configuration (SIGHUP): read") != std::string::npos; }))
      << errors();
  EXPECT_TRUE(answers());
}

TEST_F(Reload, AFileIsNoticedInAFolderThatWasNotThere) {
  const std::string folder = path("home") + "/corral";  // XDG_CONFIG_HOME of the daemon
  Serving daemon(serve({}));
  ASSERT_TRUE(ready()) << errors();

  ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
  write(folder + "/config.json", configuration(entry("one")));

  EXPECT_TRUE(eventually([&] { return has_server("one"); })) << errors();
}

TEST_F(Reload, AFileBehindALinkIsNoticed) {
  mkdir(path("elsewhere").c_str(), 0755);
  write(path("elsewhere") + "/real.json", configuration(entry("one")));
  ASSERT_EQ(symlink((path("elsewhere") + "/real.json").c_str(), config().c_str()), 0);
  begin_with(config());

  write(path("elsewhere") + "/real.json", configuration(entry("one") + "," + entry("two")));

  EXPECT_TRUE(eventually([&] { return has_server("two"); })) << errors();
}

TEST_F(Reload, NewSessionsOfADisabledServerAreRefusedAndOldOnesEnd) {
  begin();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const std::string server = client.call("pid");
  std::string disabled = entry("one");
  disabled.insert(disabled.find("\"command\""), "\"disabled\":true,");

  replace(configuration(disabled + "," + entry("two")));

  EXPECT_TRUE(client.wait().has_value());
  EXPECT_TRUE(eventually([&] { return is_gone(std::stoi(server)); }));
  EXPECT_THAT(errors_of_shim(), HasSubstr("server one is disabled"));
}

TEST_F(Reload, WithoutADaemonNothingIsRead) {
  const Words said = say("reload");

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("no daemon is running"));
}

}  // namespace
}  // namespace corral::os_tests
