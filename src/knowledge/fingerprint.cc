#include "knowledge/fingerprint.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <set>
#include <string>

#include "base/text.h"
#include "base/unique_fd.h"
#include "knowledge/program_files.h"
#include "proc/proc_files.h"
#include "proc/proc_texts.h"

namespace corral::knowledge {
namespace {

// A tree may have any size, and this runs in the loop of the daemon. Launchers have a few processes.
constexpr std::size_t kMostProcesses = 256;
constexpr std::size_t kMostThreads = 1024;  // in all processes together
constexpr int kDeepest = 32;
constexpr std::size_t kLongestCommand = std::size_t{128} << 10;
constexpr std::size_t kLongestChildren = std::size_t{64} << 10;

bool same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

struct Seen {
  pid_t pid;
  int depth;
};

class Search {
 public:
  Search(int proc, std::uint64_t inode) : proc_(proc), inode_(inode) {}

  /// Searches level by level, so that a process that is found later is at least as deep. Returns the open
  /// /proc directory of the process, which never refers to another process, even if its pid is used again.
  UniqueFd run(pid_t top) {
    UniqueFd found;
    add(top, 0);
    while (!waiting_.empty()) {
      const Seen next = waiting_.front();
      waiting_.pop_front();
      UniqueFd process = proc::open_directory(proc_, std::to_string(next.pid).c_str());
      if (!process.valid()) continue;
      if (next.depth < kDeepest) add_children(process.get(), next.depth + 1);
      if (inode_ != 0 && input_of(process.get()) == inode_) found = std::move(process);
    }
    return found;
  }

 private:
  /// The inode of its stdin if that is a pipe or a socket.
  static std::optional<std::uint64_t> input_of(int process) {
    const std::string link = proc::read_link(process, "fd/0");
    const std::optional<std::uint64_t> pipe = proc::inode_in_link(link, "pipe");
    return pipe ? pipe : proc::inode_in_link(link, "socket");
  }

  void add(pid_t pid, int depth) {
    if (seen_.size() < kMostProcesses && seen_.insert(pid).second) waiting_.push_back({pid, depth});
  }

  /// Each thread has its own list of children.
  void add_children(int process, int depth) {
    const UniqueFd tasks = proc::open_directory(process, "task");
    if (!tasks.valid()) return;
    proc::DirectoryNames names(tasks.get());
    for (const char* name = names.next(); name != nullptr; name = names.next()) {
      if (name[0] == '.') continue;
      if (++threads_ > kMostThreads) return;
      const std::optional<std::string> list =
          proc::read_whole(tasks.get(), (std::string(name) + "/children").c_str(), kLongestChildren);
      std::string_view rest = list ? std::string_view(*list) : std::string_view();
      for (std::string_view word = proc::take_word(rest); !word.empty(); word = proc::take_word(rest)) {
        if (const auto pid = proc::whole_number(word)) add(static_cast<pid_t>(*pid), depth);
      }
    }
  }

  int proc_;
  std::uint64_t inode_;
  std::deque<Seen> waiting_;
  std::set<pid_t> seen_;
  std::size_t threads_ = 0;
};

/// The paths of a process in a container name different files from the same paths here.
bool sees_our_files(int process) {
  struct stat theirs {};
  struct stat ours {};
  return fstatat(process, "root", &theirs, 0) == 0 && stat("/", &ours) == 0 && same_file(theirs, ours);
}

/// Empty if the file was deleted or replaced since the process started.
std::string executable_of(int process) {
  const std::string path = proc::read_link(process, "exe");
  struct stat running {};
  struct stat named {};
  const bool is_there = fstatat(process, "exe", &running, 0) == 0 && stat(path.c_str(), &named) == 0;
  return is_there && same_file(running, named) ? path : std::string();
}

/// The process in the tree of `top`, including `top`, whose standard input is the pipe or socket with this
/// inode. Launchers pass their standard input on, so the deepest such process is the server; the last one if
/// there are several. Nothing if there is none, if corral may not read it, or if it sees other files (a
/// container).
std::optional<Program> find_input_reader(pid_t top, std::uint64_t input_inode) {
  const UniqueFd proc = proc::open_directory(AT_FDCWD, "/proc");
  if (!proc.valid()) return std::nullopt;
  const UniqueFd process = Search(proc.get(), input_inode).run(top);
  if (!process.valid() || !sees_our_files(process.get())) return std::nullopt;
  Program program;
  program.executable = executable_of(process.get());
  program.argv =
      proc::parse_strings(proc::read_whole(process.get(), "cmdline", kLongestCommand).value_or(""));
  program.directory = proc::read_link(process.get(), "cwd");
  return program;
}

enum class FileState : std::uint8_t { Found, Gone, Unknown };

FileState look_at(const std::string& path, FilePrint& print) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? FileState::Gone : FileState::Unknown;
  }
  if (!S_ISREG(status.st_mode)) return FileState::Gone;  // its name now belongs to something else
  constexpr std::int64_t kSecond = 1'000'000'000;
  print = {path, status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
           status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
  return FileState::Found;
}

}  // namespace

Fingerprint learn_fingerprint(pid_t server, std::uint64_t input_inode) {
  const std::optional<Program> program = find_input_reader(server, input_inode);
  if (!program) return {};
  const char* const home = getenv("HOME");
  Fingerprint fingerprint;
  for (const std::string& path : files_of(*program, home == nullptr ? "" : home)) {
    FilePrint print;
    if (look_at(path, print) == FileState::Found) fingerprint.files.push_back(std::move(print));
  }
  return fingerprint;
}

std::optional<std::string> what_changed(const Fingerprint& fingerprint) {
  for (const FilePrint& before : fingerprint.files) {
    FilePrint now;
    const FileState state = look_at(before.path, now);
    if (state == FileState::Gone) return printable(before.path) + " is gone";
    // A file that cannot be read now is not known to have changed.
    if (state == FileState::Found && now != before) return printable(before.path) + " has changed";
  }
  return std::nullopt;
}

}  // namespace corral::knowledge
