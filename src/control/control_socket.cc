#include "control/control_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "control/runtime_dir.h"

namespace corral::control {
namespace {

constexpr std::size_t kLongestReply = std::size_t{64} << 20;  // the status of many sessions
constexpr std::size_t kMostBytes = std::size_t{1} << 20;      // after one Stderr reply
constexpr std::size_t kMostDescriptors = 3;
constexpr timeval kPatience{10, 0};  // for a daemon that does not accept or read

Result<UniqueFd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return Error{"'" + path + "' is too long for a socket (at most " +
                 std::to_string(sizeof address.sun_path - 1) + " bytes): choose a shorter --runtime-dir"};
  }
  memcpy(address.sun_path, path.data(), path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return Error{std::string("cannot create a socket: ") + strerror(errno)};
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);  // also limits connect
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return socket;
  if (errno == ENOENT || errno == ECONNREFUSED) return Error{"no daemon listens", Error::Kind::NotFound};
  if (errno == EAGAIN) return Error{"the daemon at '" + path + "' does not accept connections"};
  return Error{"cannot connect to '" + path + "': " + strerror(errno)};
}

Result<void> check_peer(int socket, const std::string& path) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return Error{"cannot determine which user listens at '" + path + "': " + strerror(errno)};
  }
  if (peer.uid == geteuid()) return {};
  return Error{"user " + std::to_string(peer.uid) + " listens at '" + path + "', not you (user " +
               std::to_string(geteuid()) + "): nothing was sent"};
}

Result<ControlSocket> connect_in(const std::string& runtime_dir) {
  const Result<void> proper = check_runtime_dir(runtime_dir);
  // A corral daemon would have refused to start in a directory that fails this check.
  if (!proper) return Error{proper.error().message, Error::Kind::NotFound};
  const std::string path = socket_path(runtime_dir);
  Result<UniqueFd> socket = connect_to(path);
  if (!socket) return socket.error();
  const Result<void> ours = check_peer(socket->get(), path);
  if (!ours) return ours.error();
  return ControlSocket(std::move(*socket));
}

}  // namespace

Error hung_up() { return Error{"the daemon closed the connection", Error::Kind::NotFound}; }

// ---- ReplyReader

void ReplyReader::drop(std::size_t size) {
  begin_ += size;
  scanned_ = begin_;
  if (begin_ < buffer_.size() && begin_ < buffer_.size() / 2) return;
  buffer_.erase(0, begin_);
  begin_ = scanned_ = 0;
}

std::optional<Result<Reply>> ReplyReader::take() {
  if (!waiting_for_bytes_) {
    const std::size_t end = buffer_.find('\n', std::max(begin_, scanned_));
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      if (rest().size() > kLongestReply) return Error{"the daemon's reply is too long"};
      return std::nullopt;
    }
    Result<Reply> reply = decode_reply(rest().substr(0, end - begin_));
    drop(end + 1 - begin_);
    if (!reply) return Error{"the daemon sent an invalid reply: " + reply.error().message};
    if (reply->kind != Reply::Kind::Stderr) return reply;
    if (reply->size > kMostBytes)
      return Error{"the daemon sent an invalid reply: it announces too many bytes"};
    waiting_for_bytes_ = std::move(*reply);
  }
  if (rest().size() < waiting_for_bytes_->size) return std::nullopt;
  Reply reply = std::move(*waiting_for_bytes_);
  waiting_for_bytes_.reset();
  reply.text = rest().substr(0, reply.size);
  drop(reply.size);
  return reply;
}

// ---- ControlSocket

Result<void> ControlSocket::send(const Hello& hello, std::span<const int> descriptors) {
  if (descriptors.size() > kMostDescriptors) return Error{"too many descriptors"};
  const std::string line = encode(hello);
  if (line.size() > kLongestHello) {
    return Error{"the environment and the command line are " + std::to_string(line.size()) +
                 " bytes long together, more than the daemon accepts (" + std::to_string(kLongestHello) +
                 ")"};
  }
  iovec bytes{const_cast<char*>(line.data()), line.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  while (bytes.iov_len > 0) {
    const ssize_t sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return {};
    if (sent < 0) return Error{std::string("cannot send the request to the daemon: ") + strerror(errno)};
    bytes.iov_base = static_cast<char*>(bytes.iov_base) + sent;
    bytes.iov_len -= static_cast<std::size_t>(sent);
    message.msg_control = nullptr;
    message.msg_controllen = 0;
  }
  return {};
}

bool ControlSocket::read_some() {
  std::array<char, std::size_t{64} << 10> chunk;
  const ssize_t size = recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (size > 0) reader_.add({chunk.data(), static_cast<std::size_t>(size)});
  return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

Result<Reply> ControlSocket::receive(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  timed_out_ = false;
  for (;;) {
    std::optional<Result<Reply>> reply = reader_.take();
    if (reply) return std::move(*reply);
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      timed_out_ = true;
      return Error{"the daemon does not answer"};
    }
    pollfd ready{socket_.get(), POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::min<long>(left.count() + 1, 60'000))) > 0 && !read_some()) {
      std::optional<Result<Reply>> last = reader_.take();
      return last ? std::move(*last) : Result<Reply>(hung_up());
    }
  }
}

void ControlSocket::leave() { shutdown(socket_.get(), SHUT_WR); }

bool can_be_passed(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return false;
  if (S_ISFIFO(status.st_mode)) return true;
  int type = 0;
  socklen_t size = sizeof type;
  return S_ISSOCK(status.st_mode) && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_STREAM;
}

// ---- finding the daemon

Result<ControlSocket> connect_to_daemon(const std::string& runtime_dir_given) {
  Error first{"no daemon is running", Error::Kind::NotFound};
  for (const std::string& place : candidates(runtime_dir_given, geteuid())) {
    Result<ControlSocket> socket = connect_in(place);
    if (socket) return socket;
    // A daemon that listens but cannot be reached is the more useful error.
    if (first.kind == Error::Kind::NotFound && socket.error().kind != Error::Kind::NotFound) {
      first = socket.error();
    }
  }
  return first;
}

}  // namespace corral::control
