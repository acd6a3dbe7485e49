// What `corral who` says of a server that runs. Of one process only: what else runs here is not ours to know.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "cli/file_commands.h"

namespace corral::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

/// A process that a client is configured to start, which waits on one of our pipes.
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
    // While it is being executed it has no arguments, and is not the server that it will be.
    std::array<char, 6> echoed{};
    EXPECT_EQ(::write(in_[1], "ready\n", echoed.size()), 6);
    EXPECT_EQ(::read(out_[0], echoed.data(), echoed.size()), 6);
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
  EXPECT_THAT(seen.out, HasSubstr("\n  what    not a known MCP server, "));
  EXPECT_THAT(seen.out, HasSubstr("\n  below   " + std::to_string(getpid()) + " "));
  EXPECT_THAT(seen.out, HasSubstr("\n  stdin   a pipe" + held));
  EXPECT_THAT(seen.out, HasSubstr("\n  stdout  a pipe" + held));
}

}  // namespace
}  // namespace corral::cli
