#include "transport/socket_holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "base/read_text.h"

namespace corral::transport {
namespace {

constexpr int kMostOpenTries = 40;
constexpr std::chrono::milliseconds kBetweenOpenTries{5};

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

/// While a server is started, the limit of open files is lower for a moment (proc/keeper_spawner.cc), so
/// there may seem to be no descriptor left. This thread can wait.
template <class Open>
int open_patiently(Open open_it) {
  for (int tries = 1;; ++tries) {
    const int fd = open_it();
    if (fd >= 0 || errno != EMFILE || tries == kMostOpenTries) return fd;
    std::this_thread::sleep_for(kBetweenOpenTries);
  }
}

Directory open_folder(int at, const char* name) {
  const int fd = open_patiently([=] { return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) return nullptr;
  Directory directory(fdopendir(fd));
  if (!directory) close(fd);
  return directory;
}

template <class Number>
std::optional<Number> whole_number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "socket:[123]" → 123; otherwise 0.
std::uint64_t socket_behind(int folder, const char* name) {
  constexpr std::string_view kStart = "socket:[";
  std::array<char, 64> text{};
  const ssize_t size = readlinkat(folder, name, text.data(), text.size());
  if (size <= 0) return 0;
  std::string_view link(text.data(), static_cast<std::size_t>(size));
  if (!link.starts_with(kStart) || link.back() != ']') return 0;
  link.remove_prefix(kStart.size());
  link.remove_suffix(1);
  return whole_number_in<std::uint64_t>(link).value_or(0);
}

struct Sighting {
  pid_t pid = 0;
  int fd = -1;
  bool several = false;
};
using Sightings = std::unordered_map<std::uint64_t, Sighting>;  // of the requested sockets

void look_through(pid_t pid, int proc, Sightings& sightings) {
  const Directory folder = open_folder(proc, (std::to_string(pid) + "/fd").c_str());
  if (!folder) return;
  while (const dirent* entry = readdir(folder.get())) {
    if (entry->d_type == DT_DIR) continue;
    const std::uint64_t inode = socket_behind(dirfd(folder.get()), entry->d_name);
    const auto sighting = inode == 0 ? sightings.end() : sightings.find(inode);
    const std::optional<int> fd = whole_number_in<int>(entry->d_name);
    if (sighting == sightings.end() || !fd) continue;
    if (sighting->second.pid == 0) {
      sighting->second = {pid, *fd, false};
    } else if (sighting->second.pid != pid) {
      sighting->second.several = true;
    }
  }
}

bool is_of_own_user(int proc, const char* name) {
  struct stat status {};
  return fstatat(proc, name, &status, 0) == 0 && status.st_uid == geteuid();
}

}  // namespace

std::uint64_t start_time_in(std::string_view text) {
  std::size_t at = text.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  if (at == std::string::npos) return 0;
  const std::size_t end = text.find(' ', at + 1);
  return whole_number_in<std::uint64_t>(text.substr(at + 1, end - at - 1)).value_or(0);
}

namespace {

std::uint64_t started_at(pid_t pid) {
  return start_time_in(read_text("/proc/" + std::to_string(pid) + "/stat"));
}

/// The inode in pidfs is unique (Linux 6.9). Before that: pid and start time, which fit into one word because
/// pids have at most 22 bits.
std::uint64_t identity_behind(int pidfd, pid_t pid) {
  constexpr long kPidfsMagic = 0x50494446;  // "PIDF"
  struct statfs system {};
  struct stat status {};
  if (fstatfs(pidfd, &system) == 0 && system.f_type == kPidfsMagic && fstat(pidfd, &status) == 0) {
    return status.st_ino;
  }
  const std::uint64_t start = started_at(pid);
  return start == 0 ? 0 : start << 22 | static_cast<std::uint64_t>(pid);
}

}  // namespace

bool has_ended(int pidfd) {
  pollfd state{pidfd, POLLIN, 0};
  return poll(&state, 1, 0) != 0;
}

bool holds_socket(pid_t pid, int fd, std::uint64_t inode) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  return socket_behind(AT_FDCWD, path.c_str()) == inode;
}

// The pidfd is opened first and the facts are read afterwards: if the process has not exited by then, they
// belong to it.
std::optional<Holder> pin_process(pid_t pid) {
  Holder holder;
  holder.pid = pid;
  holder.life = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!holder.life.valid()) return std::nullopt;
  holder.identity = identity_behind(holder.life.get(), pid);
  const bool own = is_of_own_user(AT_FDCWD, ("/proc/" + std::to_string(pid)).c_str());
  if (!own || holder.identity == 0 || has_ended(holder.life.get())) return std::nullopt;
  return holder;
}

Holders find_holders(const std::vector<std::uint64_t>& inodes, const std::atomic<bool>& stop) {
  Sightings sightings;
  for (const std::uint64_t inode : inodes) sightings[inode];
  const Directory proc = open_folder(AT_FDCWD, "/proc");
  while (proc && !stop) {
    const dirent* const entry = readdir(proc.get());
    if (entry == nullptr) break;
    const std::optional<pid_t> pid = whole_number_in<pid_t>(entry->d_name);
    if (!pid || !is_of_own_user(dirfd(proc.get()), entry->d_name)) continue;
    look_through(*pid, dirfd(proc.get()), sightings);
  }
  Holders found;
  for (const auto& [inode, sighting] : sightings) {
    if (sighting.pid == 0 || sighting.several || stop) continue;
    std::optional<Holder> holder;
    open_patiently([&holder, pid = sighting.pid] {
      errno = 0;
      holder = pin_process(pid);
      return holder ? 0 : -1;
    });
    if (!holder || !holds_socket(sighting.pid, sighting.fd, inode) || has_ended(holder->life.get())) continue;
    holder->fd = sighting.fd;
    found.emplace(inode, std::move(*holder));
  }
  return found;
}

}  // namespace corral::transport
