#include "survey/process_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "proc/proc_files.h"
#include "proc/proc_texts.h"

namespace corral::survey {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

/// The kernel adds the suffix to the name of a file or directory that is not there any more.
bool strip_deleted(std::string& path) {
  if (!path.ends_with(kDeleted)) return false;
  path.resize(path.size() - kDeleted.size());
  return true;
}

Process process_of(const proc::ProcessStat& stat) {
  Process process;
  process.comm = stat.comm;
  process.state = stat.state;
  process.parent = stat.parent;
  process.group = stat.group;
  process.session = stat.session;
  process.terminal = stat.terminal;
  process.cpu_ticks = stat.cpu_ticks;
  process.start_ticks = stat.start_ticks;
  return process;
}

bool is_terminal(std::string_view link) {
  if (link == "/dev/console" || link == "/dev/tty") return true;
  if (link.starts_with("/dev/pts/")) return !link.ends_with("/ptmx");
  // tty1, ttyS0, ttyUSB0, ttyAMA0, hvc0
  return link.starts_with("/dev/tty") || link.starts_with("/dev/hvc");
}

bool is_zombie(const Process& process) { return process.state == 'Z' || process.state == 'X'; }

}  // namespace

Stream parse_stream(std::string_view link) {
  if (const auto inode = proc::inode_in_link(link, "pipe")) return {Stream::Kind::Pipe, *inode};
  if (const auto inode = proc::inode_in_link(link, "socket")) return {Stream::Kind::Socket, *inode};
  if (link == "/dev/null") return {Stream::Kind::Null, 0};
  if (is_terminal(link)) return {Stream::Kind::Terminal, 0};
  return {Stream::Kind::File, 0};
}

std::optional<Process> ProcessReader::read(const char* name) {
  const std::optional<std::uint64_t> pid = proc::whole_number(name);
  if (!pid || *pid == 0 || *pid > INT_MAX) return std::nullopt;  // "self", "meminfo", …
  const UniqueFd directory = proc::open_directory(proc_, name);
  if (!directory.valid()) return std::nullopt;
  const std::optional<std::string_view> text = proc::read_once(directory.get(), "stat", buffer_);
  const std::optional<proc::ProcessStat> stat = text ? proc::parse_process_stat(*text) : std::nullopt;
  if (!stat) return std::nullopt;
  Process process = process_of(*stat);
  process.pid = static_cast<pid_t>(*pid);
  // The directory itself belongs to the effective uid even if the process may not be dumped, unlike all that
  // is in it (task_dump_owner in fs/proc/base.c); so `status`, which is slow, need not be read.
  struct stat about {};
  if (fstat(directory.get(), &about) != 0) return std::nullopt;
  process.uid = about.st_uid;

  if (stat->kernel_thread) {
    process.streams.fill({Stream::Kind::Closed, 0});
  } else if (is_zombie(process)) {
    // The first thread may have left before the others: then they have descriptors, which are not shown here.
    if (stat->threads <= 1) process.streams.fill({Stream::Kind::Closed, 0});
  } else {
    read_command(directory.get(), process);
    read_places(directory.get(), process);
    if (!read_descriptors(directory.get(), process)) return std::nullopt;
  }
  return process;
}

void ProcessReader::read_command(int directory, Process& process) {
  const std::size_t most = command_bytes_ < kCommandsInAll ? kLongestCommand : kShortCommand;
  const auto text = proc::read_once(directory, "cmdline", std::span(buffer_).first(most));
  if (!text) return;
  command_bytes_ += text->size();
  process.argv = proc::parse_strings(*text);
}

void ProcessReader::read_places(int directory, Process& process) const {
  process.executable = proc::read_link(directory, "exe");
  const bool deleted = strip_deleted(process.executable);
  // A memory file never had a name that it could lose.
  process.executable_replaced = deleted && !process.executable.starts_with("/memfd:");
  process.directory = proc::read_link(directory, "cwd");
  strip_deleted(process.directory);
}

bool ProcessReader::read_descriptors(int directory, Process& process) {
  const UniqueFd descriptors = proc::open_directory(directory, "fd");
  if (!descriptors.valid()) {
    if (errno != EACCES && errno != EPERM) return false;
    ++unreadable_;
    return true;
  }
  const std::size_t most = descriptors_seen_ < kDescriptorsInAll ? kMostDescriptors : kFewDescriptors;
  std::size_t seen = 0;
  bool readable = true;
  process.streams.fill({Stream::Kind::Closed, 0});  // unless a name says otherwise
  proc::DirectoryNames names(descriptors.get());
  for (const char* name = names.next(); name != nullptr && readable && seen < most; name = names.next()) {
    const std::optional<std::uint64_t> fd = proc::whole_number(name);
    if (!fd || *fd > INT_MAX) continue;  // "." and ".."
    readable = read_descriptor(descriptors.get(), name, static_cast<int>(*fd), process);
    ++seen;
  }
  descriptors_seen_ += seen;
  if (readable) return true;
  // The kernel lists descriptors by the rights to the directory, but shows them only to a process that may
  // trace this one.
  process.streams.fill({});
  ++unreadable_;
  return true;
}

bool ProcessReader::read_descriptor(int descriptors, const char* name, int fd, Process& process) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(descriptors, name, target, sizeof target);
  if (length < 0) return errno != EACCES && errno != EPERM;  // else closed meanwhile
  const std::string_view link(target, static_cast<std::size_t>(length));
  const bool standard = fd < static_cast<int>(process.streams.size());
  if (!standard && link.starts_with('/')) return true;
  const Stream stream = parse_stream(link);
  if (standard) process.streams[static_cast<std::size_t>(fd)] = stream;
  if (!stream.connects()) return true;
  Holding holding{stream.inode, process.pid, fd, stream.kind == Stream::Kind::Socket, true, true};
  if (!holding.socket) {  // the rights of the link are the directions in which the descriptor is open
    struct stat about {};
    if (fstatat(descriptors, name, &about, AT_SYMLINK_NOFOLLOW) != 0) return true;
    holding.reads = (about.st_mode & S_IRUSR) != 0;
    holding.writes = (about.st_mode & S_IWUSR) != 0;
  }
  holdings_.push_back(holding);
  return true;
}

}  // namespace corral::survey
