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

#include "base/files.h"
#include "control/confinement.h"
#include "keeper/kernel.h"
#include "shim/client_limits.h"
#include "shim/daemon_home.h"

// shim ──fork──► first child (setsid, exits) ──fork──► future daemon
//   1. The shim reaps the first child. The future daemon has been adopted by then, and the shim tells it so.
//   2. It checks its new parent and answers with a Word: independent, or the parent that it belongs to.
//   3. While it waits, the shim checks whether it is confined more tightly than that parent, opens a pidfd,
//      moves it out of our cgroup and tells it to go on. No pid can be reused in between.
//   4. It drops our limits and executes `corral serve`, or the program that first asks the service manager
//      for a cgroup; exec closes the line. Or it answers with a second Word that says why it failed.
// A process that finds the line closed exits.

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

/// Everything that the new process needs, prepared before the first fork.
struct Image {
  std::string path;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<std::string> manager;  // arguments that ask the manager, before `arguments`; empty = none
  int log = -1;
  pid_t shim = 0;
};

std::string own_executable() {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = readlink("/proc/self/exe", text.data(), text.size() - 1);
  std::string path(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  constexpr std::string_view kDeleted =
      " (deleted)";  // an upgrade replaced the file while we start: use the new one
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return access(path.c_str(), X_OK) == 0 ? path : kOwnFile;
}

Image make_image(const DaemonCommand& command, int log) {
  Image image{
      own_executable(), {"corral", "serve", "--auto", "--runtime-dir", command.runtime_dir}, {}, {}, log,
      getpid()};
  if (!command.config_file.empty()) {
    std::error_code gone;  // the daemon's working directory is /, so a relative name would not work
    const std::string file = std::filesystem::absolute(command.config_file, gone);
    image.arguments.insert(image.arguments.end(), {"--config", file});
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (is_for_daemon(*entry)) image.environment.emplace_back(*entry);
  }
  // The manager starts a program by its path, and /proc/self/exe would mean a different file there.
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

/// The user's service manager also adopts orphans, and does not end them.
bool is_service_manager(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0 || status.st_uid != geteuid()) return false;
  const UniqueFd file(open((folder + "/comm").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 32> comm{};
  if (!file.valid() || read(file.get(), comm.data(), comm.size() - 1) <= 0) return false;
  return strcmp(comm.data(), "systemd\n") == 0;
}

/// 0 = the shim is gone.
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
    words.front() = image.path;  // otherwise it would be looked up by name
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

/// False if the line was closed: at the end of a start that means success.
bool hear(int line, Word& word) {
  pollfd ready{line, POLLIN, 0};
  return poll(&ready, 1, kPatienceMs) == 1 && recv(line, &word, sizeof word, 0) == sizeof word;
}

Error not_free(pid_t parent) {
  return Error{
      "no daemon was started: it would belong to process " + std::to_string(parent) +
      ", which may end the processes that it inherits (start one outside with `corral serve --background`)"};
}

Error held(const std::string& by) {
  return Error{
      "no daemon was started: it would have the same restrictions as this process (" + by +
      "), and so would the servers of other sessions (start one outside with `corral serve --background`)"};
}

Error would_end_with(const std::string& group) {
  return Error{"no daemon was started: it would end with '" + group +
               "', the cgroup of this process, and so would other sessions (start one with `corral serve "
               "--background`, or keep the user's service manager running: `loginctl enable-linger`)"};
}

/// Moves the future daemon out of our cgroup while it waits. Returns how it should continue.
Result<char> settle(const Image& image, const Word& word) {
  CgroupFacts facts = read_cgroup_facts(word.parent);
  facts.manager = !image.manager.empty();
  Home home = choose_home(facts, may_put_processes_into, geteuid());
  if (home.action == Home::Action::Ask) return kAskManager;
  if (home.action == Home::Action::Move && !move_to(home.directory, word.self)) {
    // The kernel may refuse what the file modes allow.
    facts.manager = false;
    home = choose_home(
        facts, [](const std::string&) { return false; }, geteuid());
  }
  if (home.action == Home::Action::Nowhere) return would_end_with(home.directory);
  return kGoOn;
}

Result<StartedDaemon> guide(const Image& image, pid_t first_child, int line) {
  int status = 0;
  if (waitpid(first_child, &status, 0) != first_child || status != 0) {
    return Error{"no daemon was started: the process limit is reached"};
  }
  Word word;
  send(line, &kGoOn, 1, MSG_NOSIGNAL);
  if (!hear(line, word)) return Error{"no daemon was started: it was killed during the start"};
  if (word.kind == Word::Kind::NotFree) return not_free(word.parent);
  // Not compared with zero: in a container the same filter applies to every process, including the first.
  std::string by = control::held_tighter(control::surroundings_of(0), control::surroundings_of(word.parent));
  if (by.empty()) by = limit_for_good(read_text("/proc/" + std::to_string(word.parent) + "/limits"));
  if (!by.empty()) return held(by);
  UniqueFd pidfd(keeper::pidfd_open(word.self));
  if (!pidfd.valid()) return Error{std::string("no daemon was started: pidfd_open: ") + strerror(errno)};
  const Result<char> how = settle(image, word);
  if (!how) return how.error();
  send(line, &*how, 1, MSG_NOSIGNAL);
  if (hear(line, word)) return Error{std::string("no daemon was started: exec: ") + strerror(word.error)};
  return StartedDaemon{std::move(pidfd), word.self, *how == kAskManager};
}

}  // namespace

bool is_for_daemon(std::string_view variable) {
  // Of the XDG variables only the base directories: the others name the client's session, seat or window.
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
