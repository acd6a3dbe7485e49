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

#include "control/confinement.h"
#include "keeper/kernel.h"

// shim ──fork──► first child (setsid, exits) ──fork──► daemon to be
//   1. The shim reaps the first child: now the daemon to be has been handed to its new parent, and is told
//   so.
//   2. It looks who that is, and answers with a Word: fine, or who it belongs to.
//   3. The shim looks whether it is held more tightly than that parent, opens a pidfd while it waits, and
//   tells it to go on: no pid can have changed hands.
//   4. It executes `corral serve`, which closes the line; or it answers with a second Word that says why not.
// Whoever is left alone on the line leaves.

namespace corral::shim {
namespace {

constexpr int kPatienceMs = 10'000;
constexpr pid_t kInit = 1;

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
  return access(path.c_str(), X_OK) == 0 ? path : "/proc/self/exe";
}

Image make_image(const DaemonCommand& command, int log) {
  Image image{own_executable(),
              {"corral", "serve", "--auto", "--runtime-dir", command.runtime_dir},
              {},
              log,
              getpid()};
  if (!command.config_file.empty()) {
    std::error_code gone;  // the daemon stands in /, so a name relative to here means nothing to it
    const std::string file = std::filesystem::absolute(command.config_file, gone);
    image.arguments.insert(image.arguments.end(), {"--config", file});
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (is_for_daemon(*entry)) image.environment.emplace_back(*entry);
  }
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

bool told_to_go_on(int line) {
  char word = 0;
  pollfd ready{line, POLLIN, 0};
  return poll(&ready, 1, kPatienceMs) == 1 && recv(line, &word, 1, 0) == 1;
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
  if (!told_to_go_on(line)) _exit(1);
  Word word{Word::Kind::Free, getpid(), getppid(), 0};
  // The first process of a container may be the shim itself, and everything ends with it.
  const bool free = (word.parent == kInit && image.shim != kInit) || is_service_manager(word.parent);
  if (!free) word.kind = Word::Kind::NotFree;
  answer(line, word);
  if (!free || !told_to_go_on(line)) _exit(1);
  std::vector<char*> arguments = pointers(image.arguments);
  std::vector<char*> environment = pointers(image.environment);
  constexpr int kLine = 3;
  forget_where_we_came_from(image.log, line);
  execve(image.path.c_str(), arguments.data(), environment.data());
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

Result<UniqueFd> guide(pid_t first_child, int line) {
  int status = 0;
  if (waitpid(first_child, &status, 0) != first_child || status != 0) {
    return Error{"no daemon was started: the kernel gives no more processes"};
  }
  Word word;
  send(line, "g", 1, MSG_NOSIGNAL);
  if (!hear(line, word)) return Error{"no daemon was started: it was killed on the way"};
  if (word.kind == Word::Kind::NotFree) return not_free(word.parent);
  // Not against zero: in a container the same filter holds everybody, the first process included.
  const std::string by =
      control::held_tighter(control::surroundings_of(0), control::surroundings_of(word.parent));
  if (!by.empty()) return held(by);
  UniqueFd pidfd(keeper::pidfd_open(word.self));
  if (!pidfd.valid()) return Error{std::string("no daemon was started: no pidfd: ") + strerror(errno)};
  send(line, "g", 1, MSG_NOSIGNAL);
  if (hear(line, word)) return Error{std::string("no daemon was started: exec: ") + strerror(word.error)};
  return pidfd;
}

}  // namespace

bool is_for_daemon(std::string_view variable) {
  constexpr std::array<std::string_view, 10> kNames = {
      "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "LANGUAGE", "MAX_KEEP_PROCESSES"};
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.starts_with("LC_") ||
         name.starts_with("XDG_");
}

Result<UniqueFd> start_daemon(const DaemonCommand& command, int log) {
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
  return guide(first_child, ours.get());
}

}  // namespace corral::shim
