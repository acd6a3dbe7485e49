#include "survey/process_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "survey/proc_files.h"

namespace corral::survey {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

/// The kernel adds the suffix to the name of a file or directory that is not there any more.
bool strip_deleted(std::string& path) {
  if (!path.ends_with(kDeleted)) return false;
  path.resize(path.size() - kDeleted.size());
  return true;
}

bool is_zombie(const Process& process) { return process.state == 'Z' || process.state == 'X'; }

}  // namespace

std::optional<Process> ProcessReader::read(const char* name) {
  const std::optional<std::uint64_t> pid = whole_number(name);
  if (!pid || *pid == 0 || *pid > INT_MAX) return std::nullopt;  // "self", "meminfo", …
  const UniqueFd directory = open_directory(proc_, name);
  if (!directory.valid()) return std::nullopt;
  Process process;
  StatExtra extra;
  const std::optional<std::string_view> stat = read_once(directory.get(), "stat", buffer_);
  if (!stat || !parse_stat_line(*stat, process, extra)) return std::nullopt;
  process.pid = static_cast<pid_t>(*pid);
  // The directory itself belongs to the effective uid even if the process may not be dumped, unlike all that
  // is in it (task_dump_owner in fs/proc/base.c); so `status`, which is slow, need not be read.
  struct stat about {};
  if (fstat(directory.get(), &about) != 0) return std::nullopt;
  process.uid = about.st_uid;

  if (extra.kernel_thread) {
    process.streams.fill({Stream::Kind::Closed, 0});
  } else if (is_zombie(process)) {
    // The first thread may have left before the others: then they have descriptors, which are not shown here.
    if (extra.threads <= 1) process.streams.fill({Stream::Kind::Closed, 0});
  } else {
    read_command(directory.get(), process);
    read_places(directory.get(), process);
    if (!read_descriptors(directory.get(), process)) return std::nullopt;
  }
  return process;
}

void ProcessReader::read_command(int directory, Process& process) {
  const std::size_t most = command_bytes_ < kCommandsInAll ? kLongestCommand : kShortCommand;
  const auto text = read_once(directory, "cmdline", std::span(buffer_).first(most));
  if (!text) return;
  command_bytes_ += text->size();
  process.argv = parse_strings(*text);
}

void ProcessReader::read_places(int directory, Process& process) const {
  process.executable = read_link(directory, "exe");
  const bool deleted = strip_deleted(process.executable);
  // A memory file never had a name that it could lose.
  process.executable_replaced = deleted && !process.executable.starts_with("/memfd:");
  process.directory = read_link(directory, "cwd");
  strip_deleted(process.directory);
}

bool ProcessReader::read_descriptors(int directory, Process& process) {
  const UniqueFd descriptors = open_directory(directory, "fd");
  if (!descriptors.valid()) {
    if (errno != EACCES && errno != EPERM) return false;
    ++unreadable_;
    return true;
  }
  const std::size_t most = descriptors_seen_ < kDescriptorsInAll ? kMostDescriptors : kFewDescriptors;
  std::size_t seen = 0;
  bool readable = true;
  process.streams.fill({Stream::Kind::Closed, 0});  // unless a name says otherwise
  DirectoryNames names(descriptors.get());
  for (const char* name = names.next(); name != nullptr && readable && seen < most; name = names.next()) {
    const std::optional<std::uint64_t> fd = whole_number(name);
    if (!fd || *fd > INT_MAX) continue;  // "." and ".."
    readable = read_descriptor(descriptors.get(), name, static_cast<int>(*fd), process);
    ++seen;
  }
  descriptors_seen_ += seen;
  if (readable) return true;
  // The kernel lists descriptors by the rights to the directory, but shows them only to who might trace the
  // process.
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
