#include "serve/service.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "control/runtime_dir.h"
#include "keeper/janitor.h"
#include "proc/command_lookup.h"
#include "serve/config_source.h"
#include "serve/daemon_environment.h"
#include "serve/http_socket.h"
#include "serve/instance_lock.h"
#include "serve/served_command.h"
#include "serve/start.h"

namespace corral::serve {
namespace {

int descriptor(const std::string& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > STDERR_FILENO ? number : -1;
}

/// The arguments that the first process passed to the daemon: optionally a command, then the janitor's
/// arguments.
struct FromJanitor {
  int command = -1;  // the descriptor of its file
  int lock = -1;
  int lifeline = -1;
};

/// The janitor's arguments are not for users: a process that a user starts with them does not hold the lock.
std::optional<FromJanitor> parse_janitor_words(const std::vector<std::string>& words) {
  constexpr std::size_t kOwn = 3;
  constexpr std::size_t kWithCommand = 5;
  const bool has_command = words.size() == kWithCommand && words[0] == kServedCommand;
  if (words.size() != kOwn && !has_command) return std::nullopt;
  const std::size_t first = has_command ? 2 : 0;
  if (words[first] != keeper::kUnderJanitor) return std::nullopt;
  return FromJanitor{has_command ? descriptor(words[1]) : -1, descriptor(words[first + 1]),
                     descriptor(words[first + 2])};
}

int serve_under_janitor(const ServeOptions& options) {
  const std::optional<FromJanitor> words = parse_janitor_words(options.from_janitor);
  if (!words || words->lifeline < 0 || options.runtime_dir.empty() ||
      !is_our_lock(words->lock, options.runtime_dir)) {
    log_line("the arguments '" + std::string(keeper::kUnderJanitor) +
             "' and '@command' are reserved for corral; see `corral serve --help`");
    return 1;
  }
  ServeOptions complete = options;
  if (words->command >= 0) {
    const UniqueFd file(words->command);
    const Result<void> read = read_served_command(file.get(), complete);
    if (!read) {
      log_line("cannot start: " + read.error().message);
      return 1;
    }
  }
  return run_daemon(complete, UniqueFd(words->lock), UniqueFd(words->lifeline));
}

/// A directory for "any free port" has the pid of its creator in its name, so it is never used again.
void remove_left_folders(const std::string& usual) {
  constexpr std::string_view kBeginning = "http-0-";
  std::error_code unknown;
  for (const auto& entry : std::filesystem::directory_iterator(usual, unknown)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kBeginning)) continue;
    // Until it holds the lock, only the pid shows that its creator is running.
    if (std::filesystem::exists("/proc/" + name.substr(kBeginning.size()), unknown)) continue;
    const Result<UniqueFd> lock = take_lock(entry.path().string());
    if (lock && lock->valid()) std::filesystem::remove_all(entry.path(), unknown);
  }
}

/// A separate directory for each port, beside that of the user's daemon, which stays as it is.
Result<std::string> folder_for_command(std::uint16_t port) {
  const Result<std::string> usual = choose_runtime_dir(control::candidates("", geteuid()));
  if (!usual) return usual.error();
  if (port == 0) remove_left_folders(*usual);
  const std::string name =
      "/http-" + std::to_string(port) + (port == 0 ? "-" + std::to_string(getpid()) : "");
  return {boost::system::in_place_value, *usual + name};
}

/// Fills in the defaults for `serve -- COMMAND`: port, runtime directory, cwd, environment.
Result<void> complete_for_command(ServeOptions& options) {
  if (!options.config.empty()) {
    return Error{"a command after -- is served alone, without a configuration: omit --config"};
  }
  if (options.automatic) return Error{"--auto cannot be used with a command: omit it"};
  if (!options.port) options.port = kUsualPort;
  std::error_code unknown;
  options.cwd = std::filesystem::current_path(unknown).string();
  options.environment = served_environment(environ);
  const Result<proc::Executable> found = proc::find_command(options.command.front(), options.environment, "");
  if (!found) return found.error();
  if (!options.runtime_dir.empty()) return {};
  const Result<std::string> folder = folder_for_command(*options.port);
  if (!folder) return folder.error();
  options.runtime_dir = *folder;
  return {};
}

/// Before a running daemon is asked to end: whether another can start with these files and options.
Result<void> check_successor(const ServeOptions& options) {
  ConfigSource source = options.command.empty() ? ConfigSource(options.config) : ConfigSource::without_file();
  const Result<config::Configuration> configuration = source.read();
  if (!configuration) return configuration.error();
  return check_locks(options, *configuration);
}

}  // namespace

std::string pid_file_of(const ServeOptions& options, const std::string& runtime_dir) {
  if (options.pid_file.empty()) return control::pid_path(runtime_dir);
  return std::filesystem::absolute(options.pid_file).string();
}

bool is_from_janitor(const std::vector<std::string>& words) { return parse_janitor_words(words).has_value(); }

int serve(const ServeOptions& options) {
  if (!options.from_janitor.empty()) return serve_under_janitor(options);
  const Result<void> null = check_null_device();
  if (!null) return fail_to_serve(null.error().message);
  ServeOptions complete = options;
  if (!options.command.empty()) {
    const Result<void> completed = complete_for_command(complete);
    if (!completed) {
      std::cerr << "corral serve: " << completed.error().message << '\n';
      return 1;
    }
  }
  if (options.replace) {
    const Result<void> able = check_successor(complete);
    if (!able) return fail_to_serve(able.error().message + " No daemon was ended.");
  }
  return options.background ? start_in_background(complete) : start(complete);
}

}  // namespace corral::serve
