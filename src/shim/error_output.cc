#include "shim/error_output.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>

namespace corral::shim {
namespace {

constexpr std::size_t kMostQueued = std::size_t{256} << 10;
constexpr std::size_t kTerminalPiece = 512;  // a terminal that polls writable has at least this much room
constexpr int kLastTryMs = 200;

}  // namespace

StderrWriter::StderrWriter() {
  struct stat status {};
  const bool known = fstat(kFd, &status) == 0;
  socket_ = known && S_ISSOCK(status.st_mode);
  // A pipe that polls writable takes PIPE_BUF bytes without blocking; a file and a socket take everything.
  if (known && (S_ISREG(status.st_mode) || socket_)) {
    piece_ = kMostQueued;
  } else {
    piece_ = known && S_ISFIFO(status.st_mode) ? PIPE_BUF : kTerminalPiece;
  }
}

StderrWriter::~StderrWriter() {
  pollfd ready{kFd, POLLOUT, 0};
  while (!queue_.empty() && poll(&ready, 1, kLastTryMs) == 1 && write_piece()) {
  }
}

void StderrWriter::add(std::string_view bytes) {
  const std::size_t room = kMostQueued - std::min(kMostQueued, queue_.size());
  queue_ += bytes.substr(0, room);
  dropped_ += bytes.size() - std::min(room, bytes.size());
  write_some();
}

void StderrWriter::say(std::string_view sentence) {
  if (queue_.size() > kMostQueued) return;
  if (!queue_.empty() && queue_.back() != '\n') queue_ += '\n';
  queue_ += "corral connect: ";
  queue_ += sentence;
  queue_ += '\n';
  write_some();
}

void StderrWriter::write_some() {
  pollfd ready{kFd, POLLOUT, 0};
  while (!queue_.empty() && poll(&ready, 1, 0) == 1 && write_piece()) {
  }
}

/// Returns false if the write would block. If there is no reader any more, everything is dropped.
bool StderrWriter::write_piece() {
  const std::size_t size = std::min(queue_.size(), piece_);
  const ssize_t written =
      socket_ ? send(kFd, queue_.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL) : write(kFd, queue_.data(), size);
  if (written > 0) {
    queue_.erase(0, static_cast<std::size_t>(written));
    return true;
  }
  if (errno != EAGAIN && errno != EINTR) {
    dropped_ += queue_.size();
    queue_.clear();
  }
  return false;
}

}  // namespace corral::shim
