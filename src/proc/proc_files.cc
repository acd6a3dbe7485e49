#include "proc/proc_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "proc/proc_texts.h"

namespace corral::proc {
namespace {

ssize_t read_some(int fd, char* to, std::size_t room) {
  ssize_t got = -1;
  do got = read(fd, to, room);
  while (got < 0 && errno == EINTR);
  return got;
}

/// Never waits: in a directory that is not /proc, a name may be a pipe or a device.
UniqueFd open_file(int directory, const char* name) {
  return UniqueFd(openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

}  // namespace

UniqueFd open_directory(int parent, const char* name) {
  return UniqueFd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

UniqueFd open_process(pid_t pid, const std::string& root) {
  return open_directory(AT_FDCWD, (root + "/" + std::to_string(pid)).c_str());
}

std::optional<std::string_view> read_once(int directory, const char* name, std::span<char> buffer,
                                          uid_t* owner) {
  const UniqueFd file = open_file(directory, name);
  if (!file.valid()) return std::nullopt;
  struct stat about {};
  if (owner != nullptr && fstat(file.get(), &about) == 0) *owner = about.st_uid;
  const ssize_t got = read_some(file.get(), buffer.data(), buffer.size());
  if (got < 0) return std::nullopt;
  return std::string_view(buffer.data(), static_cast<std::size_t>(got));
}

std::optional<std::string> read_whole(int directory, const char* name, std::size_t most) {
  constexpr std::size_t kStep = 65536;
  const UniqueFd file = open_file(directory, name);
  if (!file.valid()) return std::nullopt;
  std::string text;
  while (text.size() < most) {
    const std::size_t before = text.size();
    text.resize(std::min(before + kStep, most));
    const ssize_t got = read_some(file.get(), text.data() + before, text.size() - before);
    if (got < 0) return std::nullopt;
    text.resize(before + static_cast<std::size_t>(got));
    if (got == 0) break;
  }
  return text;
}

std::string read_link(int directory, const char* name) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(directory, name, target, sizeof target);
  return length < 0 ? std::string() : std::string(target, static_cast<std::size_t>(length));
}

const char* DirectoryNames::next() {
  if (at_ >= filled_) {
    const long got = syscall(SYS_getdents64, directory_, bytes_.data(), bytes_.size());
    if (got <= 0) return nullptr;
    filled_ = static_cast<std::size_t>(got);
    at_ = 0;
  }
  const auto* const entry = reinterpret_cast<const dirent64*>(bytes_.data() + at_);
  at_ += entry->d_reclen;
  return entry->d_name;
}

std::optional<int> DirectoryNames::next_number() {
  while (const char* const name = next()) {
    const std::optional<std::uint64_t> number = whole_number(name);
    if (number && *number <= INT_MAX) return static_cast<int>(*number);
  }
  return std::nullopt;
}

std::vector<pid_t> pids_in(int root) {
  std::vector<pid_t> pids;
  const UniqueFd again = open_directory(root, ".");  // with an offset of its own
  if (!again.valid()) return pids;
  DirectoryNames names(again.get());
  while (const std::optional<int> pid = names.next_number()) {
    if (*pid > 0) pids.push_back(*pid);
  }
  return pids;
}

}  // namespace corral::proc
