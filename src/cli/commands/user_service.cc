#include "cli/commands/user_service.h"

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

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/unique_fd.h"
#include "config/configuration.h"
#include "serve/daemon_environment.h"
#include "serve/service_units.h"

namespace corral::cli {
namespace {

namespace fs = std::filesystem;

std::string whole_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Error not_ours(const std::string& path) {
  return Error{"'" + path + "' exists and was not written by corral: move it away, then try again"};
}

Error cannot_write(const std::string& path, int error) {
  return Error{"'" + path + "' cannot be written: " + strerror(error)};
}

/// Writes a temporary file next to it and renames that, so that a reader never sees half a file.
Result<void> put_in_place(const UnitFile& file) {
  const std::string beside = file.path + ".new-" + std::to_string(getpid());
  UniqueFd opened(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!opened.valid()) return cannot_write(beside, errno);
  const ssize_t written = write(opened.get(), file.text.data(), file.text.size());
  const bool whole = written == static_cast<ssize_t>(file.text.size()) && fsync(opened.get()) == 0;
  if (whole && rename(beside.c_str(), file.path.c_str()) == 0) return {};
  const int error = errno;
  unlink(beside.c_str());
  return cannot_write(file.path, error);
}

}  // namespace

UnitState state_of(const std::string& path) {
  std::error_code unknown;
  if (!fs::exists(fs::symlink_status(path, unknown))) return UnitState::Missing;
  const bool plain = fs::is_regular_file(fs::symlink_status(path, unknown));
  return plain && serve::has_unit_mark(whole_text(path)) ? UnitState::Ours : UnitState::Foreign;
}

Result<std::vector<std::string>> write_units(const std::vector<UnitFile>& files) {
  for (const UnitFile& file : files) {
    if (state_of(file.path) == UnitState::Foreign) return not_ours(file.path);
  }
  std::vector<std::string> changed;
  for (const UnitFile& file : files) {
    if (whole_text(file.path) == file.text) continue;
    std::error_code failed;
    fs::create_directories(fs::path(file.path).parent_path(), failed);
    if (failed) return cannot_write(file.path, failed.value());
    const Result<void> put = put_in_place(file);
    if (!put) return put.error();
    changed.push_back(file.path);
  }
  return changed;
}

Result<bool> remove_unit(const std::string& path) {
  const UnitState state = state_of(path);
  if (state == UnitState::Missing) return false;
  if (state == UnitState::Foreign) return not_ours(path);
  if (unlink(path.c_str()) == 0) return true;
  return Error{"'" + path + "' cannot be removed: " + strerror(errno)};
}

std::string unit_folder() {
  return (fs::path(config::default_file()).parent_path().parent_path() / "systemd" / "user").string();
}

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
