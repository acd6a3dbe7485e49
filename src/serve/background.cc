// `corral serve --background`: starts the daemon in its own session and waits only until it answers.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <thread>

#include "base/log_file.h"
#include "control/daemon_request.h"
#include "control/runtime_dir.h"
#include "serve/daemon_environment.h"
#include "serve/instance_lock.h"
#include "serve/start.h"

namespace corral::serve {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kStartPatience{90};  // --replace may have to wait for a drain
constexpr std::size_t kShown = 4096;                // bytes of the log, if the start failed

std::vector<std::string> words_for(const ServeOptions& options, const std::string& runtime_dir) {
  std::vector<std::string> words = {"corral", "serve", "--runtime-dir", runtime_dir};
  if (!options.config.empty()) {
    words.insert(words.end(), {"--config", std::filesystem::absolute(options.config).string()});
  }
  words.insert(words.end(), {"--pid-file", pid_file_of(options, runtime_dir)});
  if (!options.state_dir.empty()) {
    words.insert(words.end(), {"--state-dir", std::filesystem::absolute(options.state_dir).string()});
  }
  if (options.automatic) words.emplace_back("--auto");
  if (options.replace) words.emplace_back("--replace");
  if (options.port) words.insert(words.end(), {"--port", std::to_string(*options.port)});
  if (!options.bind.empty()) words.insert(words.end(), {"--bind", options.bind});
  if (!options.log.empty()) words.insert(words.end(), {"--log", options.log});
  if (options.command.empty()) return words;
  words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  return words;
}

int spawn_detached(std::vector<std::string> words, std::vector<std::string> variables, int log, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, log, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, log, STDERR_FILENO);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawn(&pid, "/proc/self/exe", &files, &attributes, as_pointers(words).data(),
                                as_pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

/// The part of the log that was written since the start.
std::string log_since(int log, off_t from) {
  std::array<char, kShown> text;
  const ssize_t got = pread(log, text.data(), text.size(), from);
  return got <= 0 ? "" : std::string(text.data(), static_cast<std::size_t>(got));
}

/// The URL for clients, if there is one: a port that the daemon chose itself is written nowhere else.
std::string url_told_by(const Running& running) {
  const control::DaemonAnswer answer = control::ask_daemon(running.runtime_dir, control::status_hello());
  boost::system::error_code error;
  const boost::json::value status =
      answer.ok() ? boost::json::parse(answer.text, error) : boost::json::value();
  const boost::json::value* const url = error ? nullptr : status.find_pointer("/http/url", error);
  return url != nullptr && url->is_string() ? std::string(url->get_string()) : "";
}

int tell(const std::string& how, const Running& running) {
  const std::string url = url_told_by(running);
  std::cout << "corral serve: " << how << ", pid " << running.pid << ", socket "
            << control::socket_path(running.runtime_dir) << (url.empty() ? "" : ", " + url) << '\n';
  return 0;
}

}  // namespace

int start_in_background(const ServeOptions& options) {
  const std::vector<std::string> places = control::candidates(options.runtime_dir, geteuid());
  const Result<std::string> runtime_dir = choose_runtime_dir(places);
  if (!runtime_dir) return fail_to_serve(runtime_dir.error().message);
  const std::string pid_file = pid_file_of(options, *runtime_dir);
  std::optional<Running> before = find_running(*runtime_dir, pid_file);
  if (before && !options.replace) return tell("already running", *before);
  const std::string log_path = control::log_path(*runtime_dir);
  const UniqueFd log = open_log_file(log_path);
  if (!log.valid()) return fail_to_serve("cannot open the log '" + log_path + "': " + strerror(errno));
  const off_t from = std::max<off_t>(lseek(log.get(), 0, SEEK_END), 0);
  pid_t janitor = 0;
  const int error = spawn_detached(
      words_for(options, *runtime_dir),
      options.command.empty() ? detached_environment(environ) : options.environment, log.get(), janitor);
  if (error != 0) return fail_to_serve(std::string("cannot start the daemon: ") + strerror(error));
  const auto deadline = steady_clock::now() + kStartPatience;
  for (milliseconds pause(2); steady_clock::now() < deadline; pause = std::min(pause * 2, milliseconds(50))) {
    const std::optional<Running> running = find_running(*runtime_dir, pid_file);
    if (running && (!before || running->pid != before->pid)) return tell("started", *running);
    int status = 0;
    if (waitpid(janitor, &status, WNOHANG) == janitor) {
      // Another daemon may have started first, in this runtime directory or another.
      for (const std::string& place : places) {
        const std::optional<Running> other = find_running(place, control::pid_path(place));
        if (other && !options.replace) return tell("already running", *other);
      }
      std::cerr << log_since(log.get(), from);
      return fail_to_serve("the daemon did not start; its log is " + log_path);
    }
    std::this_thread::sleep_for(pause);
  }
  return fail_to_serve("the daemon does not answer; its log is " + log_path);
}

}  // namespace corral::serve
