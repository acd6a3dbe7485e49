#include "survey/far_ends.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <string>

#include "base/unique_fd.h"

namespace corral::survey {
namespace {

/// The pipe itself, without opening it: a descriptor that only names it. Opening by pid directly could open a
/// terminal or a device of the process that has the pid by now, and opening those can have effects.
UniqueFd name_pipe(pid_t pid, int fd, std::uint64_t inode) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  UniqueFd named(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat about {};
  struct statfs system {};
  if (!named.valid() || fstat(named.get(), &about) != 0 || fstatfs(named.get(), &system) != 0)
    return UniqueFd();
  const bool same = S_ISFIFO(about.st_mode) && about.st_ino == inode && system.f_type == PIPEFS_MAGIC;
  return same ? std::move(named) : UniqueFd();
}

/// For a moment there is one more reader of the server's stdin, or writer of its stdout. Neither is noticed:
/// readers wait until all writers are gone and the other way round, and closing wakes those that wait.
FarEnd::State ask_pipe(const Process& process, int fd) {
  const std::uint64_t inode = process.streams[static_cast<std::size_t>(fd)].inode;
  const UniqueFd named = name_pipe(process.pid, fd, inode);
  if (!named.valid()) return FarEnd::State::Unknown;
  const std::string path = "/proc/self/fd/" + std::to_string(named.get());
  const int direction = fd == 0 ? O_RDONLY : O_WRONLY;
  const UniqueFd end(open(path.c_str(), direction | O_NONBLOCK | O_CLOEXEC));
  if (!end.valid()) return FarEnd::State::Unknown;
  pollfd question{end.get(), 0, 0};
  if (poll(&question, 1, 0) < 0) return FarEnd::State::Unknown;
  const int gone = fd == 0 ? POLLHUP : POLLERR;
  return (question.revents & gone) != 0 ? FarEnd::State::Closed : FarEnd::State::Open;
}

template <class Counts>
std::vector<pid_t> holders(const ProcessTable& table, std::uint64_t inode, pid_t without, Counts counts) {
  std::vector<pid_t> found;
  for (const Holding& holding : table.holders(inode)) {
    if (holding.pid != without && counts(holding)) found.push_back(holding.pid);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

FarEnd far_end_of_pipe(const ProcessTable& table, const Process& process, int fd) {
  FarEnd far;
  far.state = ask_pipe(process, fd);
  if (far.state == FarEnd::State::Closed) return far;
  const std::uint64_t inode = process.streams[static_cast<std::size_t>(fd)].inode;
  far.holders = holders(table, inode, process.pid, [fd](const Holding& holding) {
    return !holding.socket && (fd == 0 ? holding.writes : holding.reads);
  });
  return far;
}

FarEnd far_end_of_socket(const ProcessTable& table, const UnixSockets& sockets, const Process& process,
                         int fd) {
  const auto found = sockets.find(process.streams[static_cast<std::size_t>(fd)].inode);
  if (found == sockets.end()) return {};  // not a Unix socket, or one of another network namespace
  const SocketEnd& end = found->second;
  FarEnd far;
  if (!(fd == 0 ? end.can_read : end.can_write)) {
    far.state = FarEnd::State::Closed;
  } else if (end.peer != 0) {  // else it listens, or nobody has accepted the connection yet
    far.state = FarEnd::State::Open;
    far.holders =
        holders(table, end.peer, process.pid, [](const Holding& holding) { return holding.socket; });
  }
  return far;
}

}  // namespace

FarEnd far_end(const ProcessTable& table, const UnixSockets& sockets, const Process& process, int fd) {
  if (fd != 0 && fd != 1) return {};
  switch (process.streams[static_cast<std::size_t>(fd)].kind) {
    case Stream::Kind::Pipe: return far_end_of_pipe(table, process, fd);
    case Stream::Kind::Socket: return far_end_of_socket(table, sockets, process, fd);
    default: return {};
  }
}

}  // namespace corral::survey
