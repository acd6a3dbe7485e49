// Clients whose session goes on without the process that began it: a background process that keeps the pipes
// when the interface has gone, and a launcher that dies before the real client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "support/eventually.h"
#include "support/hub_test.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

bool is_gone(pid_t pid) {
  return eventually([pid] { return kill(pid, 0) != 0; });
}

class Unattended : public HubTest {
 protected:
  /// A copy of the program under the name of a known client.
  std::string named(const std::string& program, const std::string& name) const {
    const std::string copy = path(name);
    if (!std::filesystem::exists(copy)) std::filesystem::copy_file(program, copy);
    return copy;
  }
  void begin(const std::string& options) {
    add_server("rude", {}, R"("share":"session")" + options);
    start_daemon();
    start_background("door");
  }
  /// A background process that waits at this socket.
  void start_background(const std::string& door) {
    Launch launch = connect({"rude"});
    const std::vector<std::string> words = launch.argv;
    launch.argv = {named(BACKGROUND_CLIENT_BIN, "codex"), "app-server", path(door)};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    launch.in = launch.out = Stdio::Null;
    backgrounds_.push_back(std::make_unique<Session>(launch));
  }
  Launch interface(const std::string& door = "door") const {
    Launch launch = connect({"rude"});
    launch.argv = {named(BACKGROUND_CLIENT_BIN, "interface"), "attach", path(door)};
    return launch;
  }
  /// The pid of the server that the interface uses. The interface is gone when this returns.
  pid_t use_and_leave(const std::string& door) {
    McpClient client(interface(door));
    if (!client.initialize()) return 0;
    const std::string server = client.call("pid");
    client.session().close_stdin();
    EXPECT_TRUE(client.wait().has_value());
    return static_cast<pid_t>(std::stol(server));
  }
  void end_backgrounds() {
    for (const auto& background : backgrounds_) {
      kill(background->pid(), SIGTERM);
      EXPECT_TRUE(background->wait().has_value());
    }
  }

  std::vector<std::unique_ptr<Session>> backgrounds_;
};

enum class End { Exit, Term, Kill, Terminal };

class UnattendedAfter : public Unattended, public testing::WithParamInterface<End> {};

TEST_P(UnattendedAfter, ThePrivateTreeIsParkedAndTheNextCallStartsAnother) {
  begin(R"(,"unattended":"1s")");
  Terminal terminal;
  Launch launch = interface();
  if (GetParam() == End::Terminal) launch.terminal = &terminal;
  auto first = std::make_unique<McpClient>(launch);
  ASSERT_TRUE(first->initialize()) << errors_of_shim();
  const auto server = static_cast<pid_t>(std::stol(first->call("pid")));
  ASSERT_GT(server, 0);

  switch (GetParam()) {
    case End::Exit: first->session().close_stdin(); break;
    case End::Term: kill(first->session().pid(), SIGTERM); break;
    case End::Kill: kill(first->session().pid(), SIGKILL); break;
    case End::Terminal: terminal.close_window(); break;
  }
  ASSERT_TRUE(first->wait().has_value());

  EXPECT_TRUE(is_gone(server)) << status();
  EXPECT_TRUE(eventually([this] { return status().find(R"("state":"parked")") != std::string::npos; }))
      << status();
  EXPECT_THAT(say("events", {"--kind", "unattended"}).out, AllOf(HasSubstr("Codex"), HasSubstr("parked")));
  McpClient second(interface());
  const std::string pid = second.call("pid");
  EXPECT_NE(pid, std::to_string(server));
  EXPECT_THAT(second.others(), testing::Contains(HasSubstr("its state in memory is lost")));
  end_backgrounds();
}

std::string name_of_end(const testing::TestParamInfo<End>& end) {
  switch (end.param) {
    case End::Exit: return "Exit";
    case End::Term: return "Term";
    case End::Kill: return "Kill";
    case End::Terminal: return "Terminal";
  }
  return "?";
}

INSTANTIATE_TEST_SUITE_P(Ends, UnattendedAfter,
                         testing::Values(End::Exit, End::Term, End::Kill, End::Terminal), name_of_end);

TEST_F(Unattended, WhatIsNotSwitchedOnIsNamedByPsWithTheLine) {
  begin("");
  ASSERT_GT(use_and_leave("door"), 0) << errors_of_shim();

  EXPECT_TRUE(eventually([this] {
    return say("ps").out.find("note: rude: nobody has been attached to Codex") != std::string::npos;
  })) << say("ps").out;
  EXPECT_THAT(say("ps").out, HasSubstr("\"unattended\""));
  end_backgrounds();
}

TEST_F(Unattended, AnInterfaceThatStaysKeepsTheServer) {
  begin(R"(,"unattended":"1s")");
  McpClient stays(interface());
  ASSERT_TRUE(stays.initialize()) << errors_of_shim();
  const std::string server = stays.call("pid");

  // Another one, which began later, is parked meanwhile.
  start_background("other");
  const pid_t other = use_and_leave("other");
  ASSERT_GT(other, 0) << errors_of_shim();
  EXPECT_TRUE(is_gone(other)) << status();

  EXPECT_EQ(stays.call("pid"), server);
  end_backgrounds();
}

// ---- a launcher that dies first

class Launcher : public Unattended {
 protected:
  /// A client of this name that starts `corral connect` by a shell, which can be killed alone.
  Launch behind_a_launcher(const std::string& name) {
    add_server("rude", {}, R"("share":"session")");
    start_daemon();
    Launch launch = connect({"rude"});
    std::string line = "exec 3<&0;";
    for (const std::string& word : launch.argv) line += " '" + word + "'";
    launch.argv = {named(RELAY_CLIENT_BIN, name), "sh", "-c", line + " <&3 3<&- & exec 3<&-; wait"};
    return launch;
  }
  /// Returns the server's pid after the launcher was killed; 0 if the session did not begin.
  pid_t kill_launcher(McpClient& client) {
    if (!client.initialize()) return 0;
    const auto server = static_cast<pid_t>(std::stol(client.call("pid")));
    for (const std::string& line : client.others()) {
      if (line.starts_with("!server ")) kill(static_cast<pid_t>(std::stol(line.substr(8))), SIGKILL);
    }
    return server;
  }
};

TEST_F(Launcher, ThatDiesDoesNotEndTheSessionOfTheRealClient) {
  McpClient client(behind_a_launcher("gemini"));
  const pid_t server = kill_launcher(client);
  ASSERT_GT(server, 0) << errors_of_shim();

  const std::string real = R"("client":{"pid":)" + std::to_string(client.session().pid()) + ",";
  EXPECT_TRUE(eventually([&] { return status().find(real) != std::string::npos; })) << status();
  EXPECT_EQ(client.call("pid"), std::to_string(server));
  // A shim that hears nothing leaves 5 s after the process that had started it.
  std::this_thread::sleep_for(std::chrono::seconds(6));
  EXPECT_EQ(client.call("pid"), std::to_string(server)) << errors_of_shim();
  kill(client.session().pid(), SIGKILL);
  EXPECT_TRUE(is_gone(server)) << "it ends with the real client";
}

TEST_F(Launcher, ThatDiesEndsTheSessionIfNoKnownClientHoldsThePipes) {
  McpClient client(behind_a_launcher("something"));
  const pid_t server = kill_launcher(client);
  ASSERT_GT(server, 0) << errors_of_shim();

  EXPECT_TRUE(is_gone(server));
}

}  // namespace
}  // namespace corral::os_tests
