#include "proc/identity.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdlib>

#include "base/files.h"
#include "base/unique_id.h"
#include "keeper/kernel.h"
#include "proc/proc_texts.h"

// The methods of `reopen`, best first:
//   file handle   opens that process or fails; no race (6.14)
//   pidfs inode   open by pid, then compare: the pidfd pins the process, so the comparison stays true (6.9)
//   start time    open by pid, then compare start time and uid, read after the open; two processes can agree
//                 on both, so this counts only within the same boot, and callers add their own tag
// Rejected: comparing first and opening afterwards, because the pid can be reused in between.

namespace corral::proc {
namespace {

constexpr long kPidfsMagic = 0x50494446;  // "PIDF"

std::uint64_t start_ticks(pid_t pid) {
  const std::string text = read_text("/proc/" + std::to_string(pid) + "/stat");
  const std::optional<ProcessStat> stat = parse_process_stat(text);
  return stat ? stat->start_ticks : 0;
}

std::uint64_t pidfs_inode(int pidfd) {
  struct statfs system {};
  struct stat status {};
  if (fstatfs(pidfd, &system) != 0 || system.f_type != kPidfsMagic || fstat(pidfd, &status) != 0) return 0;
  return status.st_ino;
}

std::vector<std::uint8_t> file_handle_of(int pidfd) {
  std::vector<std::uint8_t> bytes(sizeof(file_handle) + MAX_HANDLE_SZ);
  auto* handle = reinterpret_cast<file_handle*>(bytes.data());
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (name_to_handle_at(pidfd, "", handle, &mount, AT_EMPTY_PATH) != 0) return {};
  bytes.resize(sizeof(file_handle) + handle->handle_bytes);
  return bytes;
}

bool has_ended(int pidfd) {
  pollfd ready{pidfd, POLLIN, 0};
  return poll(&ready, 1, 0) == 1;
}

std::optional<UniqueFd> reopen_by_handle(const Identity& identity) {
  UniqueFd own(
      keeper::pidfd_open(getpid()));  // any pidfd identifies the file system that contains all of them
  std::vector<std::uint8_t> bytes = identity.handle;
  UniqueFd found(
      open_by_handle_at(own.get(), reinterpret_cast<file_handle*>(bytes.data()), O_RDWR | O_CLOEXEC));
  if (!found.valid()) return std::nullopt;
  return found;
}

}  // namespace

/// "Pid:\t123" in the fdinfo of a pidfd.
pid_t pid_behind(int pidfd) {
  const std::string text = read_text("/proc/self/fdinfo/" + std::to_string(pidfd));
  const std::size_t at = text.find("\nPid:");
  return at == std::string::npos ? -1 : static_cast<pid_t>(std::atoi(text.c_str() + at + 5));
}

Result<Identity> identify(int pidfd) {
  Identity identity;
  identity.pid = pid_behind(pidfd);
  if (identity.pid <= 0) return Error{"cannot identify the process: it has exited"};
  identity.boot_id = boot_id();
  identity.pidfs_inode = pidfs_inode(pidfd);
  identity.start_ticks = start_ticks(identity.pid);
  identity.handle = file_handle_of(pidfd);
  struct stat status {};
  if (stat(("/proc/" + std::to_string(identity.pid)).c_str(), &status) == 0) identity.uid = status.st_uid;
  return identity;
}

Whereabouts look_for(const Identity& identity) {
  const std::string boot = boot_id();
  if (identity.boot_id.empty() || boot.empty()) return {std::nullopt, false};
  if (identity.boot_id != boot) return {};
  if (!identity.handle.empty()) {
    std::optional<UniqueFd> found = reopen_by_handle(identity);
    if (found) return {std::move(found)};
    if (errno == ESTALE) return {};  // that process is gone; after any other error try the next method
  }
  UniqueFd candidate(keeper::pidfd_open(identity.pid));
  if (!candidate.valid()) return {std::nullopt, errno == ESRCH};
  const Result<Identity> now = identify(candidate.get());
  if (!now) return {std::nullopt, has_ended(candidate.get())};
  const bool same = identity.pidfs_inode != 0
                        ? now->pidfs_inode == identity.pidfs_inode
                        : now->start_ticks == identity.start_ticks && now->uid == identity.uid;
  if (!same) return {};
  return {std::move(candidate)};
}

std::optional<UniqueFd> reopen(const Identity& identity) { return look_for(identity).process; }

}  // namespace corral::proc
