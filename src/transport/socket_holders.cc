#include "transport/socket_holders.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/files.h"
#include "proc/proc_files.h"
#include "proc/proc_texts.h"

namespace corral::transport {
namespace {

constexpr int kMostOpenTries = 40;
constexpr std::chrono::milliseconds kBetweenOpenTries{5};

/// Calls `attempt`, which says whether it succeeded, again after EMFILE: while a server is started, the
/// open-file limit is lower for a moment (proc/keeper_spawner.cc). This thread can wait.
template <class Attempt>
void try_patiently(Attempt attempt) {
  for (int tries = 1; !attempt() && errno == EMFILE && tries < kMostOpenTries; ++tries) {
    std::this_thread::sleep_for(kBetweenOpenTries);
  }
}

UniqueFd open_folder(int at, const char* name) {
  UniqueFd folder;
  try_patiently([&] {
    folder = proc::open_directory(at, name);
    return folder.valid();
  });
  return folder;
}

/// "socket:[123]" → 123; otherwise 0.
std::uint64_t socket_behind(int folder, const char* name) {
  return proc::inode_in_link(proc::read_link(folder, name), "socket").value_or(0);
}

struct Sighting {
  pid_t pid = 0;
  int fd = -1;
  bool several = false;
};
using Sightings = std::unordered_map<std::uint64_t, Sighting>;  // of the requested sockets

void look_through(pid_t pid, int proc, Sightings& sightings) {
  const UniqueFd folder = open_folder(proc, (std::to_string(pid) + "/fd").c_str());
  if (!folder.valid()) return;
  proc::DirectoryNames names(folder.get());
  while (const std::optional<int> fd = names.next_number()) {
    const std::uint64_t inode = socket_behind(folder.get(), std::to_string(*fd).c_str());
    const auto sighting = inode == 0 ? sightings.end() : sightings.find(inode);
    if (sighting == sightings.end()) continue;
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

std::uint64_t started_at(pid_t pid) {
  const std::string text = read_text("/proc/" + std::to_string(pid) + "/stat");
  const std::optional<proc::ProcessStat> stat = proc::parse_process_stat(text);
  return stat ? stat->start_ticks : 0;
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
  const UniqueFd proc = open_folder(AT_FDCWD, "/proc");
  proc::DirectoryNames names(proc.get());
  while (proc.valid() && !stop) {
    const std::optional<int> pid = names.next_number();
    if (!pid) break;
    if (!is_of_own_user(proc.get(), std::to_string(*pid).c_str())) continue;
    look_through(*pid, proc.get(), sightings);
  }
  Holders found;
  for (const auto& [inode, sighting] : sightings) {
    if (sighting.pid == 0 || sighting.several || stop) continue;
    std::optional<Holder> holder;
    try_patiently([&holder, pid = sighting.pid] {
      errno = 0;
      holder = pin_process(pid);
      return holder.has_value();
    });
    if (!holder || !holds_socket(sighting.pid, sighting.fd, inode) || has_ended(holder->life.get())) continue;
    holder->fd = sighting.fd;
    found.emplace(inode, std::move(*holder));
  }
  return found;
}

}  // namespace corral::transport
