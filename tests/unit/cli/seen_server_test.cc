// What `corral who` and `corral doctor` say of a server that runs, for people. They only look.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "file_commands.h"

namespace corral::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// A process that a client is configured to start, which waits on a pipe of ours.
class SeenServer : public FileCommands {
 protected:
  SeenServer() {
    EXPECT_EQ(pipe2(in_, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out_, O_CLOEXEC), 0);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in_[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out_[1], STDOUT_FILENO);
    std::filesystem::copy_file("/bin/cat", folder_ + "/seen-8153");
    std::filesystem::permissions(folder_ + "/seen-8153", std::filesystem::perms(0755));
    write(".cursor/mcp.json", R"({"mcpServers":{"seen":{"command":")" + folder_ +
                                  R"(/seen-8153"},)"
                                  R"("far":{"url":"https://a.example/mcp"}}})");
    std::string name = folder_ + "/seen-8153";
    char* argv[] = {name.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, name.c_str(), &files, nullptr, argv, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    close(in_[0]);
    close(out_[1]);
  }
  ~SeenServer() override {
    close(in_[1]);
    close(out_[0]);
    int status = 0;
    waitpid(pid_, &status, 0);
  }
  std::string pid() const { return std::to_string(pid_); }

  int in_[2] = {-1, -1};
  int out_[2] = {-1, -1};
  pid_t pid_ = 0;
};

TEST_F(SeenServer, HasAStory) {
  const Seen seen = run({"who", pid()});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  const std::string us = "[a-z_]+ .pid " + std::to_string(getpid()) + ".";
  for (const std::string& line :
       {pid() + ": ~/seen-8153", std::string("  what    the MCP server seen-8153, serving, [0-9]+s old"),
        "  client  " + us, std::string("          [^ ].*[ \n]old,[ \n]+in[ \n]+/"),
        std::string("  root    /.*"),
        std::string("  memory  [0-9.]+ [KM]B .resident [0-9.]+ [KM]B, swapped [0-9.]+ [KM]?B."),
        "  tree    " + pid() + " ~/seen-8153",
        std::string("  because 'seen' in ~/.cursor/mcp.json names its command .configuration."),
        "  because its stdin leads to " + us + ", .*"}) {
    EXPECT_THAT("\n" + seen.out, ContainsRegex("\n" + line));
  }
  EXPECT_THAT(run({"who", "--json", pid()}).out, HasSubstr("\"pid\":" + pid() + ","));
}

TEST_F(SeenServer, HoldsTheOtherEndOfAStrangersPipe) {
  std::filesystem::remove(folder_ + "/.cursor/mcp.json");

  const std::string held = ", whose other end is held by " + std::to_string(getpid()) + " ";
  const Seen seen = run({"who", pid()});
  EXPECT_THAT(seen.out, HasSubstr("\n  what    no MCP server that we know of, "));
  EXPECT_THAT(seen.out, HasSubstr("\n  below   " + std::to_string(getpid()) + " "));
  EXPECT_THAT(seen.out, HasSubstr("\n  stdin   a pipe" + held));
  EXPECT_THAT(seen.out, HasSubstr("\n  stdout  a pipe" + held));
}

TEST_F(SeenServer, IsInTheDoctorsList) {
  const Seen seen = run({"doctor", "-v", "--keep", "0"});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  const std::string us = "[a-z_]+ .pid " + std::to_string(getpid()) + ".";
  for (const std::string& block :
       {std::string("^[0-9]+ MCP servers? runs? here .[0-9]+ process.*, for [0-9]+ running clients?. [0-9]+ "
                    "findings?:"),
        "\n\npile-up: 1 copy of seen-8153 held by " + us + "\n  1 process, [0-9.]+ [KM]B, age [0-9]+s\n" +
            "  why   One client seldom needs more than 0 of one server.\n  next  corral reap --pile-ups "
            "--parent " +
            std::to_string(getpid()) + " --keep 0\n",
        std::string("\n\nServers that run\n  PID "),
        "\n  " + pid() + " +serving +[0-9]+s +1 +[0-9.]+ [KM]B .*seen-8153 +" + us,
        "\n\n  " + pid() +
            ": ~/seen-8153\n    configuration: 'seen' in ~/.cursor/mcp.json names its command\n",
        std::string("\n\nClients that run\n  "),
        std::string("\n\nServers that clients are configured to start\n  NAME"),
        std::string("\n  seen +cursor +~/.cursor/mcp.json +~/seen-8153\n"),
        std::string("\n  far +cursor +~/.cursor/mcp.json +.by URL.\n"),
        std::string("\n\nWhat `corral run` can do here\n  auto    a keeper"),
        std::string("\n  strict  (works|refused: .*)\n")}) {
    EXPECT_THAT(seen.out, ContainsRegex(block));
  }
  EXPECT_THAT(seen.out, Not(HasSubstr("shows the evidence for each server")));
}

TEST_F(SeenServer, IsAFindingOnlyBeyondTheNumberThatMayBe) {
  EXPECT_EQ(run({"doctor", "--exit-code", "--keep", "0"}).code, 1);
  const Seen brief = run({"doctor", "--keep", "0"});
  EXPECT_EQ(brief.code, 0);
  EXPECT_THAT(brief.out,
              testing::EndsWith(
                  "`corral doctor -v` shows the evidence for each server, `corral who PID` for one.\n"));
  EXPECT_THAT(brief.out, Not(HasSubstr("names its command")));
  EXPECT_THAT(run({"doctor", "--keep", "1"}).out, Not(HasSubstr("1 copy of seen-8153")));
  EXPECT_THAT(run({"doctor", "--json"}).out, HasSubstr("\"pid\":" + pid() + ","));
}

TEST_F(SeenServer, IsWhatADryRunOfReapWouldEnd) {
  const Seen seen = run({"reap", "--dry-run", "--pile-ups", "--match", "seen-8153", "--keep", "0"});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  const std::string us = std::to_string(getpid());
  for (const std::string& block :
       {std::string("^Found: [0-9]+ MCP servers?\n  [0-9]+ process"), "\n  " + pid() + " +serving ",
        std::string("\n\nKept: [0-9]+ servers?\n"),
        std::string("\n\nEnded: nothing, this is a dry run. It would end 1 server\n"),
        "\n  1 copy of seen-8153 beyond the newest 0, held by [a-z_]+ .pid " + us + ".:",
        std::string("\n\nRemaining: [0-9]+ MCP servers?\n"),
        std::string(
            "\n\ntip: to end all of these without being asked: corral reap --pile-ups --keep 0 --match "
            "seen-8153 --yes\n")}) {
    EXPECT_THAT(seen.out, ContainsRegex(block));
  }
  EXPECT_EQ(kill(pid_, 0), 0);
  const Seen none = run({"reap", "--dry-run", "--match", "seen-8153", "--keep", "1"});
  EXPECT_THAT(none.out, HasSubstr("It would end 0 servers\n"));
  EXPECT_THAT(none.out, HasSubstr("in use by a client, and not beyond its 1 newest\n"));
  EXPECT_THAT(none.out,
              HasSubstr("\ntip: nothing to end; `corral doctor -v` says why each server is kept\n"));
}

}  // namespace
}  // namespace corral::cli
