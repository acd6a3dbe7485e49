#include "shim/daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/read_text.h"
#include "control/confinement.h"
#include "keeper/kernel.h"
#include "shim/client_limits.h"
#include "shim/daemon_home.h"

// shim ──fork──► first child (setsid, exits) ──fork──► daemon to be
//   1. The shim reaps the first child: now the daemon to be has been handed to its new parent, and is told
//   so.
//   2. It looks who that is, and answers with a Word: fine, or who it belongs to.
//   3. The shim looks whether it is held more tightly than that parent, opens a pidfd and moves it out of our
//   cgroup while it waits, and tells it to go on: no pid can have changed hands.
//   4. It leaves our limits behind and executes `corral serve`, or the program that asks the service manager
//   for a cgroup first; that closes the line. Or it answers with a second Word that says why not.
// Whoever is left alone on the line leaves.

namespace corral::shim {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr pid_t kInit = 1;
constexpr const char* kOwnFile = "/proc/self/exe";
constexpr char kGoOn = 'g';
constexpr char kAskManager = 'm';

struct Word {
  enum class Kind { Free, NotFree, NoExec };
  Kind kind = Kind::Free;
  pid_t self = 0;
  pid_t parent = 0;
  int error = 0;
};

/// Everything that the new process needs, made before the first fork.
struct Image {
  std::string path;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<std::string> manager;  // the words before `arguments` that ask it; empty = there is none
  int log = -1;
  pid_t shim = 0;
};

std::string own_executable() {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = readlink("/proc/self/exe", text.data(), text.size() - 1);
  std::string path(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  constexpr std::string_view kDeleted =
      " (deleted)";  // replaced by an upgrade while we start: take the new one
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return access(path.c_str(), X_OK) == 0 ? path : kOwnFile;
}

Image make_image(const DaemonCommand& command, int log) {
  Image image{
      own_executable(), {"corral", "serve", "--auto", "--runtime-dir", command.runtime_dir}, {}, {}, log,
      getpid()};
  if (!command.config_file.empty()) {
    std::error_code gone;  // the daemon stands in /, so a name relative to here means nothing to it
    const std::string file = std::filesystem::absolute(command.config_file, gone);
    image.arguments.insert(image.arguments.end(), {"--config", file});
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (is_for_daemon(*entry)) image.environment.emplace_back(*entry);
  }
  // Whom the manager starts is found by a name, and that of our own file may have become a link to its
  // reader.
  if (command.ask_manager && image.path != kOwnFile) image.manager = words_for_manager(image.environment);
  return image;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// ---- in the new process

/// The user's service manager takes orphans, too, and lets them live.
bool is_service_manager(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0 || status.st_uid != geteuid()) return false;
  const UniqueFd file(open((folder + "/comm").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 32> comm{};
  if (!file.valid() || read(file.get(), comm.data(), comm.size() - 1) <= 0) return false;
  return strcmp(comm.data(), "systemd\n") == 0;
}

/// 0 = we are not wanted any more.
char told(int line) {
  char word = 0;
  pollfd ready{line, POLLIN, 0};
  return poll(&ready, 1, kPatienceMs) == 1 && recv(line, &word, 1, 0) == 1 ? word : '\0';
}

void answer(int line, const Word& word) { send(line, &word, sizeof word, MSG_NOSIGNAL); }

void forget_where_we_came_from(int log, int line) {
  if (chdir("/") != 0) _exit(1);
  for (int signo = 1; signo < NSIG; ++signo) signal(signo, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  umask(022);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  constexpr int kLine = 3;
  if (line != kLine) dup2(line, kLine);
  fcntl(kLine, F_SETFD, FD_CLOEXEC);
  keeper::close_from(kLine + 1);
}

[[noreturn]] void become_daemon(Image& image, int line) {
  if (told(line) == '\0') _exit(1);
  Word word{Word::Kind::Free, getpid(), getppid(), 0};
  // The first process of a container may be the shim itself, and everything ends with it.
  const bool free = (word.parent == kInit && image.shim != kInit) || is_service_manager(word.parent);
  if (!free) word.kind = Word::Kind::NotFree;
  answer(line, word);
  const char how = free ? told(line) : '\0';
  if (how == '\0') _exit(1);
  std::string path = image.path;
  std::vector<std::string> words = image.arguments;
  if (how == kAskManager) {
    words.front() = image.path;  // found by its name otherwise
    words.insert(words.begin(), image.manager.begin(), image.manager.end());
    path = image.manager.front();
  }
  std::vector<char*> arguments = pointers(words);
  std::vector<char*> environment = pointers(image.environment);
  constexpr int kLine = 3;
  leave_limits_behind(word.parent);
  forget_where_we_came_from(image.log, line);
  execve(path.c_str(), arguments.data(), environment.data());
  word.kind = Word::Kind::NoExec;
  word.error = errno;
  answer(kLine, word);
  _exit(1);
}

// ---- in the shim

/// Nothing = the line ended: at the end of a start that means success.
bool hear(int line, Word& word) {
  pollfd ready{line, POLLIN, 0};
  return poll(&ready, 1, kPatienceMs) == 1 && recv(line, &word, sizeof word, 0) == sizeof word;
}

Error not_free(pid_t parent) {
  return Error{"no daemon was started: it would belong to process " + std::to_string(parent) +
               ", which may end what it inherits (start one outside with `corral serve --background`)"};
}

Error held(const std::string& by) {
  return Error{"no daemon was started: it would be held by what holds this process (" + by +
               "), and so would the servers of others (start one outside with `corral serve --background`)"};
}

Error would_end_with(const std::string& group) {
  return Error{"no daemon was started: it would end with '" + group +
               "', the control group that this process is in, and so would the sessions of others (start one "
               "with `corral serve --background`, or let the user's service manager run: `loginctl "
               "enable-linger`)"};
}

/// Out of our cgroup while it waits. Returns how it is to go on.
Result<char> settle(const Image& image, const Word& word) {
  Home home =
      choose_home(standing_below(word.parent, !image.manager.empty()), may_put_processes_into, geteuid());
  if (home.way == Home::Way::Ask) return kAskManager;
  if (home.way == Home::Way::Move && !move_to(home.directory, word.self)) {
    // What the files' modes allowed the kernel may still refuse.
    home = choose_home(
        standing_below(word.parent, false), [](const std::string&) { return false; }, geteuid());
  }
  if (home.way == Home::Way::Nowhere) return would_end_with(home.directory);
  return kGoOn;
}

Result<StartedDaemon> guide(const Image& image, pid_t first_child, int line) {
  int status = 0;
  if (waitpid(first_child, &status, 0) != first_child || status != 0) {
    return Error{"no daemon was started: the kernel gives no more processes"};
  }
  Word word;
  send(line, &kGoOn, 1, MSG_NOSIGNAL);
  if (!hear(line, word)) return Error{"no daemon was started: it was killed on the way"};
  if (word.kind == Word::Kind::NotFree) return not_free(word.parent);
  // Not against zero: in a container the same filter holds everybody, the first process included.
  std::string by = control::held_tighter(control::surroundings_of(0), control::surroundings_of(word.parent));
  if (by.empty()) by = limit_for_good(read_text("/proc/" + std::to_string(word.parent) + "/limits"));
  if (!by.empty()) return held(by);
  UniqueFd pidfd(keeper::pidfd_open(word.self));
  if (!pidfd.valid()) return Error{std::string("no daemon was started: no pidfd: ") + strerror(errno)};
  const Result<char> how = settle(image, word);
  if (!how) return how.error();
  send(line, &*how, 1, MSG_NOSIGNAL);
  if (hear(line, word)) return Error{std::string("no daemon was started: exec: ") + strerror(word.error)};
  return StartedDaemon{std::move(pidfd), word.self, *how == kAskManager};
}

}  // namespace

bool is_for_daemon(std::string_view variable) {
  // Of XDG the base directories: the rest names the client's session, seat or window.
  constexpr std::array<std::string_view, 17> kNames = {"HOME",
                                                       "PATH",
                                                       "USER",
                                                       "LOGNAME",
                                                       "SHELL",
                                                       "LANG",
                                                       "TZ",
                                                       "TMPDIR",
                                                       "LANGUAGE",
                                                       "XDG_CONFIG_HOME",
                                                       "XDG_STATE_HOME",
                                                       "XDG_DATA_HOME",
                                                       "XDG_CACHE_HOME",
                                                       "XDG_CONFIG_DIRS",
                                                       "XDG_DATA_DIRS",
                                                       "XDG_RUNTIME_DIR",
                                                       "MAX_KEEP_PROCESSES"};
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.starts_with("LC_");
}

bool still_asks_manager(const StartedDaemon& daemon) {
  if (!daemon.by_manager) return false;
  const std::string name = read_text("/proc/" + std::to_string(daemon.pid) + "/comm");
  pollfd ended{daemon.pidfd.get(), POLLIN, 0};
  return poll(&ended, 1, 0) == 0 && name == "systemd-run\n";
}

Result<StartedDaemon> start_daemon(const DaemonCommand& command, int log) {
  Image image = make_image(command, log);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{std::string("no daemon was started: ") + strerror(errno)};
  }
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t first_child = fork();
  if (first_child < 0) return Error{std::string("no daemon was started: ") + strerror(errno)};
  if (first_child == 0) {
    close(ours.get());
    setsid();
    const pid_t second_child = fork();
    if (second_child == 0) become_daemon(image, theirs.get());
    _exit(second_child > 0 ? 0 : 1);
  }
  theirs.reset();
  return guide(image, first_child, ours.get());
}

}  // namespace corral::shim
