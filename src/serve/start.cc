#include "serve/start.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <thread>

#include "control/daemon_request.h"
#include "control/runtime_dir.h"
#include "keeper/inherited.h"
#include "keeper/janitor.h"
#include "keeper/kernel.h"
#include "proc/keeper_spawner.h"
#include "serve/activation.h"
#include "serve/daemon_environment.h"
#include "serve/instance_lock.h"
#include "serve/served_command.h"

namespace corral::serve {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

// The janitor of a killed daemon ends within this time.
constexpr milliseconds kLockPatience =
    std::chrono::duration_cast<milliseconds>(keeper::kKeepersFinish + keeper::kLastKills) + seconds(2);
constexpr seconds kReplacePatience{
    60};  // the other daemon drains first, for as long as its configuration allows

/// What `corral serve` needs before it can become the janitor, or the daemon that is already running.
struct Claim {
  std::string runtime_dir;
  UniqueFd lock;
  std::optional<Running> other;
};

/// With --replace, asks the running daemon to end. Its answer does not matter: the lock shows when it has
/// ended.
bool ask_to_leave(const std::string& runtime_dir) {
  return control::ask_daemon(runtime_dir, control::verb_hello(control::Verb::Shutdown), kReplacePatience)
      .ok();
}

/// A daemon may also run in another of the usual directories, if the process that started it could not use
/// the first.
std::optional<Running> running_elsewhere(const ServeOptions& options, const std::vector<std::string>& places,
                                         const std::string& runtime_dir) {
  for (const std::string& place : places) {
    if (place == runtime_dir || !control::check_runtime_dir(place)) continue;
    std::optional<Running> running = find_running(place, control::pid_path(place));
    if (!running) continue;
    if (!options.replace || !ask_to_leave(place) || !await_free_lock(place, kLockPatience)) return running;
  }
  return std::nullopt;
}

Error nobody_answers(const std::string& runtime_dir) {
  return Error{"'" + control::lock_path(runtime_dir) +
               "' is held, but no daemon answers at the socket: it is stopped or hangs; `fuser -v " +
               control::lock_path(runtime_dir) + "` shows which process holds it"};
}

Result<Claim> claim(const ServeOptions& options) {
  const std::vector<std::string> places = control::candidates(options.runtime_dir, geteuid());
  const Result<std::string> runtime_dir = choose_runtime_dir(places);
  if (!runtime_dir) return runtime_dir.error();
  Claim claim{*runtime_dir, {}, running_elsewhere(options, places, *runtime_dir)};
  if (claim.other) return claim;
  bool asked = false;
  const auto deadline =
      steady_clock::now() + kLockPatience + (options.replace ? kReplacePatience : seconds(0));
  for (milliseconds pause(5); steady_clock::now() < deadline;
       pause = std::min(pause * 2, milliseconds(100))) {
    Result<UniqueFd> lock = take_lock(*runtime_dir);
    if (!lock) return lock.error();
    claim.lock = std::move(*lock);
    if (claim.lock.valid() && passed_to_us() > 0)
      return claim;  // the socket that answers is the one that was passed
    // A daemon may be running although the lock is free: a program that cleans /tmp may have removed the lock
    // file.
    claim.other = find_running(*runtime_dir, pid_file_of(options, *runtime_dir));
    if (!claim.other && claim.lock.valid()) return claim;
    if (claim.other && (!options.replace || asked)) return claim;
    if (claim.other) asked = ask_to_leave(*runtime_dir);
    claim.lock.reset();
    // Nothing answers but the lock is held: a daemon is starting or ending.
    std::this_thread::sleep_for(pause);
  }
  return nobody_answers(*runtime_dir);
}

/// `served` has the command of `serve -- COMMAND`; invalid = there is none.
std::vector<std::string> janitor_words(const ServeOptions& options, const Claim& claim,
                                       const std::string& corral, const UniqueFd& served) {
  std::vector<std::string> words = {
      keeper::kJanitorName, claim.runtime_dir, std::to_string(claim.lock.get()), corral, "serve",
      "--runtime-dir",      claim.runtime_dir};
  if (!options.config.empty()) {
    words.insert(words.end(), {"--config", std::filesystem::absolute(options.config).string()});
  }
  words.insert(words.end(), {"--pid-file", pid_file_of(options, claim.runtime_dir)});
  if (!options.state_dir.empty()) {
    words.insert(words.end(), {"--state-dir", std::filesystem::absolute(options.state_dir).string()});
  }
  if (options.automatic) words.emplace_back("--auto");
  if (options.port) words.insert(words.end(), {"--port", std::to_string(*options.port)});
  if (!options.bind.empty()) words.insert(words.end(), {"--bind", options.bind});
  if (!options.log.empty()) words.insert(words.end(), {"--log", options.log});
  if (served.valid()) words.insert(words.end(), {kServedCommand, std::to_string(served.get())});
  return words;
}

/// The advice if a daemon is already running.
const char* what_to_do(const ServeOptions& options) {
  return options.command.empty() ? "; `corral status` shows it, `corral serve --replace` replaces it\n"
                                 : "; --port chooses another port (0: any free one), --replace replaces it\n";
}

int become_janitor(const ServeOptions& options, const Claim& claim) {
  const Result<proc::KeeperSpawner> helper = proc::KeeperSpawner::create();
  if (!helper) return fail_to_serve(helper.error().message);
  const std::string corral = std::filesystem::read_symlink("/proc/self/exe").string();
  UniqueFd served;
  if (!options.command.empty()) {
    Result<UniqueFd> written = write_served_command(options);
    if (!written) return fail_to_serve(written.error().message);
    served = std::move(*written);
  }
  std::vector<std::string> words = janitor_words(options, claim, corral, served);
  std::vector<std::string> variables = daemon_environment(environ);
  fcntl(claim.lock.get(), F_SETFD, 0);
  execve(helper->helper().c_str(), as_pointers(words).data(), as_pointers(variables).data());
  return fail_to_serve("cannot execute the helper '" + helper->helper() + "': " + strerror(errno) +
                       "; reinstall corral");
}

}  // namespace

int fail_to_serve(const std::string& sentence) {
  std::cerr << "corral serve: " << sentence << '\n';
  return 1;
}

Result<void> check_null_device(const std::string& path) {
  const UniqueFd opened(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (opened.valid()) return {};
  return Error{
      "cannot open '" + path + "': " + strerror(errno) +
      ". A container or a chroot needs /dev: mount it there, or type `mknod -m 666 /dev/null c 1 3` as "
      "root in it"};
}

Result<std::string> choose_runtime_dir(const std::vector<std::string>& places) {
  std::string reasons;
  for (const std::string& place : places) {
    const Result<void> usable = control::ensure_runtime_dir(place);
    if (usable) return {boost::system::in_place_value, place};
    reasons += (reasons.empty() ? "" : "; ") + usable.error().message;
  }
  return Error{reasons};
}

int start(const ServeOptions& options) {
  // Descriptors that a caller leaked would stay open for as long as the daemon runs.
  constexpr unsigned kFirstBeyondStderr = 3;
  keeper::close_from(kFirstBeyondStderr + static_cast<unsigned>(passed_to_us()));
  keeper::let_go(STDIN_FILENO, O_RDONLY);
  const Result<Claim> claimed = claim(options);
  if (!claimed) return fail_to_serve(claimed.error().message);
  if (!claimed->other) return become_janitor(options, *claimed);
  std::cerr << "corral serve: a daemon is already running: " << describe(*claimed->other)
            << what_to_do(options);
  return options.automatic ? 0 : 1;
}

}  // namespace corral::serve
