// What a running daemon notices about files: that a client has put an adopted entry back, and that another
// corral is installed than the one that runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kConfigured =
    R"({"mcpServers": {"files": {"command": "files-server", "args": ["--token", "s3cret"]}}})";

class DaemonNews : public HubTest {
 protected:
  void write_for_client(const std::string& text) const {
    const std::string folder = path("home/.cursor");
    std::filesystem::create_directories(folder);
    for (const std::string& open : {path("home"), folder})
      std::filesystem::permissions(open, std::filesystem::perms(0777));
    const std::string file = folder + "/mcp.json";
    std::ofstream(file + ".new") << text;
    chmod((file + ".new").c_str(), 0666);
    const auto uid = uid_of(User::Ordinary);
    EXPECT_TRUE(!uid || chown((file + ".new").c_str(), *uid, *uid) == 0);
    chmod((file + ".new").c_str(), 0644);
    std::filesystem::rename(file + ".new", file);
  }
  std::string said_by(const std::vector<std::string>& words) const {
    Launch launch = command("version");
    launch.argv = {programs().corral};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    Session session(launch);
    std::string out = session.output_to_end();
    session.wait();
    return out;
  }
};

TEST_F(DaemonNews, AnEntryThatAClientPutsBackIsAnEventOnce) {
  set_options(R"("watch":{"interval":"1s"})");
  write_for_client(kConfigured);
  ASSERT_THAT(said_by({"adopt", "cursor", "--yes"}), HasSubstr("1 server of Cursor goes through corral now"));
  start_daemon();

  write_for_client(kConfigured);

  const auto events = [this] { return say("events", {"--kind", "drift"}).out; };
  EXPECT_TRUE(eventually([&] { return events().find("drift") != std::string::npos; })) << errors();
  EXPECT_THAT(events(), AllOf(HasSubstr("files of Cursor"), HasSubstr("was put back"),
                              HasSubstr("`corral adopt cursor`"), Not(HasSubstr("s3cret"))));
  write_for_client(std::string(kConfigured) + "\n");
  write_for_client(R"({"mcpServers": {}})");
  EXPECT_TRUE(eventually([&] { return events().find("no longer there") != std::string::npos; }));
  const std::string all = events();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2) << all;
}

TEST_F(DaemonNews, AnotherProgramAtItsPathIsNamedByPsAndStatus) {
  const std::string program = path("bin/corral");
  std::filesystem::create_directories(path("bin"));
  std::filesystem::create_directories(path("libexec/corral"));
  std::filesystem::copy_file(programs().corral, program);
  std::filesystem::copy_file(programs().keeper, path("libexec/corral/corral-keeper"));
  Launch launch = serve();
  launch.argv.front() = program;
  Serving serving(launch);
  ASSERT_TRUE(ready()) << errors();
  EXPECT_THAT(say("ps").out, Not(HasSubstr("note:")));
  EXPECT_THAT(status(),
              AllOf(HasSubstr("\"program\":\"" + program + '"'), HasSubstr(R"("program_replaced":false)")));

  std::filesystem::copy_file(programs().corral, program + ".new");
  std::filesystem::rename(program + ".new", program);

  EXPECT_THAT(status(), HasSubstr(R"("program_replaced":true)"));
  for (const char* const command : {"ps", "status"}) {
    EXPECT_THAT(say(command).out,
                AllOf(HasSubstr("note: another program was installed at"), HasSubstr("--replace")));
  }
  EXPECT_THAT(say("info", {"--json"}).out, HasSubstr("program_replaced"));
}

}  // namespace
}  // namespace corral::os_tests
