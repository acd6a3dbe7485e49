#include "serve/instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cerrno>
#include <cstring>
#include <thread>

#include "control/daemon_request.h"
#include "control/runtime_dir.h"
#include "serve/pid_file.h"

namespace corral::serve {
namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kAnswerPatience{2000};

bool same_file(int fd, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return fstat(fd, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

/// Fills in the members from the daemon's status.
void read_status(const std::string& text, Running& running) {
  boost::system::error_code error;
  const json::value status = json::parse(text, error);
  const auto* const object = error ? nullptr : status.if_object();
  const json::value* const daemon = object == nullptr ? nullptr : object->if_contains("daemon");
  if (daemon == nullptr || !daemon->is_object()) return;
  const json::value* const pid = daemon->get_object().if_contains("pid");
  const json::value* const version = daemon->get_object().if_contains("version");
  if (pid != nullptr && pid->is_int64()) running.pid = static_cast<pid_t>(pid->get_int64());
  if (version != nullptr && version->is_string()) running.version = version->get_string().c_str();
}

}  // namespace

Result<UniqueFd> take_lock(const std::string& runtime_dir) {
  const std::string path = control::lock_path(runtime_dir);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.valid()) {
      return Error{"the lock '" + path + "' cannot be opened: " + strerror(errno) +
                   "; remove it, or choose another --runtime-dir"};
    }
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return UniqueFd();
      return Error{"'" + path + "' cannot be locked: " + strerror(errno) +
                   "; choose a --runtime-dir on a local disk"};
    }
    if (same_file(file.get(), path)) return file;  // else the file was removed in between
  }
  return Error{"another program keeps removing the lock '" + path +
               "': stop it from cleaning this directory"};
}

bool is_our_lock(int fd, const std::string& runtime_dir) {
  return same_file(fd, control::lock_path(runtime_dir)) && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

bool await_free_lock(const std::string& runtime_dir, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const UniqueFd file(open(control::lock_path(runtime_dir).c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid()) return true;
  for (auto pause = std::chrono::milliseconds(2);;
       pause = std::min(pause * 2, std::chrono::milliseconds(50))) {
    // Released at once. A daemon that starts at this moment tries again, because nothing answers yet.
    if (flock(file.get(), LOCK_SH | LOCK_NB) == 0) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
}

std::string describe(const Running& running) {
  std::string text = running.pid > 0 ? "pid " + std::to_string(running.pid) : "pid not known";
  text += running.version.empty() ? ", version not known" : ", version " + running.version;
  return text + ", in " + running.runtime_dir;
}

std::optional<Running> find_running(const std::string& runtime_dir, const std::string& pid_file) {
  const control::DaemonAnswer status =
      control::ask_daemon(runtime_dir, control::status_hello(), kAnswerPatience);
  if (status.kind == control::DaemonAnswer::Kind::NoDaemon) return std::nullopt;
  Running running;
  running.runtime_dir = runtime_dir;
  if (status.ok()) read_status(status.text, running);
  if (running.pid > 0 && !running.version.empty()) return running;
  const std::optional<PidRecord> record = read_pid_file(pid_file);
  if (record) {
    running.pid = record->pid;
    running.version = record->version;
  }
  return running;
}

}  // namespace corral::serve
