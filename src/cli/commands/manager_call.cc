#include "cli/commands/manager_call.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/unique_fd.h"
#include "serve/daemon_environment.h"

namespace corral::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kManagerPatience{30};
constexpr std::size_t kLongestWord = 8192;

/// It is our own child and not reaped yet, so its pid cannot belong to another process.
int wait_for_exit(pid_t child) {
  const auto deadline = steady_clock::now() + kManagerPatience;
  int status = 0;
  for (milliseconds pause(2); steady_clock::now() < deadline; pause = std::min(pause * 2, milliseconds(50))) {
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::this_thread::sleep_for(pause);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return -1;
}

std::string text_in(int file) {
  std::array<char, kLongestWord> bytes;
  const ssize_t got = pread(file, bytes.data(), bytes.size(), 0);
  std::string text(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

ManagerCall call_manager(const std::vector<std::string>& words) {
  std::vector<std::string> line = {"systemctl", "--user"};
  line.insert(line.end(), words.begin(), words.end());
  const UniqueFd answer(memfd_create("corral-answer", MFD_CLOEXEC));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, answer.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, answer.get(), STDERR_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, "systemctl", &files, nullptr, serve::as_pointers(line).data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return {-1, "cannot run systemctl"};
  const int code = wait_for_exit(child);
  return {code, text_in(answer.get())};
}

bool manager_answers() { return call_manager({"show", "--property=Version", "--value"}).worked(); }

}  // namespace corral::cli
