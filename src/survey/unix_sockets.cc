#include "survey/unix_sockets.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

// What the kernel reports of a connected stream socket (measured on 6.18; net/unix/diag.c):
//   both ends open               PEER = inode of the other end, SHUTDOWN = 0
//   other end closed, or exited  PEER = 0,                      SHUTDOWN = 3 (both directions)
//   other end: shutdown(SHUT_WR) PEER = its inode,              SHUTDOWN = 1 (nothing will arrive)
//   other end: shutdown(SHUT_RD) PEER = its inode,              SHUTDOWN = 2 (nobody will read)
//   not accepted yet             PEER = 0,                      SHUTDOWN = 0
//   listening, or unconnected    no PEER,                       SHUTDOWN = 0
// So SHUTDOWN alone decides whether a stream is over: PEER = 0 can also mean a connection that is being made.

namespace corral::survey {
namespace {

constexpr std::size_t kMostSockets = 1U << 20;
constexpr int kMostTries = 3;
constexpr time_t kPatienceSeconds = 5;  // the kernel answers at once; this is only against a hang

bool ask(int netlink) {
  struct {
    nlmsghdr header;
    unix_diag_req body;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body.sdiag_family = AF_UNIX;
  request.body.udiag_states = ~0U;
  request.body.udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_NAME | UDIAG_SHOW_RQLEN;
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const ssize_t sent =
      sendto(netlink, &request, sizeof request, 0, reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel);
  return sent == sizeof request;
}

template <class Value>
Value copy_of(const void* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// An abstract name begins with a NUL, which is shown as '@'. A path may end in one.
std::string name_in(const rtattr* attribute) {
  std::string name(static_cast<const char*>(RTA_DATA(attribute)), RTA_PAYLOAD(attribute));
  if (name.starts_with('\0')) name.front() = '@';
  while (name.ends_with('\0')) name.pop_back();
  return name;
}

void add_socket(const nlmsghdr* message, UnixSockets& sockets) {
  if (message->nlmsg_len < NLMSG_LENGTH(sizeof(unix_diag_msg))) return;
  const auto* const body = static_cast<const unix_diag_msg*>(NLMSG_DATA(message));
  if (body->udiag_family != AF_UNIX || body->udiag_ino == 0) return;
  SocketEnd end;
  end.listens = body->udiag_state == TCP_LISTEN;
  bool peer_is_gone = false;
  const auto* attribute = reinterpret_cast<const rtattr*>(body + 1);
  auto left = static_cast<unsigned>(message->nlmsg_len - NLMSG_LENGTH(sizeof(unix_diag_msg)));
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    if (attribute->rta_type == UNIX_DIAG_PEER && RTA_PAYLOAD(attribute) >= sizeof(std::uint32_t)) {
      end.peer = copy_of<std::uint32_t>(RTA_DATA(attribute));
      peer_is_gone = end.peer == 0;
    }
    if (attribute->rta_type == UNIX_DIAG_NAME) end.name = name_in(attribute);
    // Of a socket that listens this is the length of its queue; of others, bytes.
    if (attribute->rta_type == UNIX_DIAG_RQLEN && RTA_PAYLOAD(attribute) >= sizeof(unix_diag_rqlen) &&
        end.listens)
      end.waiting = copy_of<unix_diag_rqlen>(RTA_DATA(attribute)).udiag_rqueue;
    if (attribute->rta_type == UNIX_DIAG_SHUTDOWN && RTA_PAYLOAD(attribute) >= 1) {
      const auto shut = copy_of<std::uint8_t>(RTA_DATA(attribute));
      end.can_read = (shut & 1) == 0;
      end.can_write = (shut & 2) == 0;
    }
  }
  // Datagrams have no shutdown by the other end: without a receiver they are refused, but any process may
  // send here.
  if (body->udiag_type == SOCK_DGRAM && peer_is_gone) end.can_write = false;
  if (sockets.size() < kMostSockets) sockets[body->udiag_ino] = std::move(end);
}

enum class Progress { More, Done, Failed };

/// The messages of one datagram. `torn` becomes true if the kernel's list changed while it was read.
Progress take_messages(const char* bytes, std::size_t length, UnixSockets& sockets, bool& torn) {
  const auto* message = reinterpret_cast<const nlmsghdr*>(bytes);
  auto left = static_cast<unsigned>(length);
  for (; NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
    torn = torn || (message->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
    if (message->nlmsg_type == NLMSG_DONE) return Progress::Done;
    if (message->nlmsg_type == NLMSG_ERROR) return Progress::Failed;
    if (message->nlmsg_type == SOCK_DIAG_BY_FAMILY) add_socket(message, sockets);
  }
  return Progress::More;
}

Progress take_answer(int netlink, std::vector<char>& buffer, UnixSockets& sockets, bool& torn) {
  sockaddr_nl sender{};
  socklen_t size = sizeof sender;
  const ssize_t got =
      recvfrom(netlink, buffer.data(), buffer.size(), MSG_TRUNC, reinterpret_cast<sockaddr*>(&sender), &size);
  if (got < 0) return errno == EINTR ? Progress::More : Progress::Failed;
  if (sender.nl_pid != 0) return Progress::More;  // only the kernel has the number 0
  if (got == 0 || static_cast<std::size_t>(got) > buffer.size()) return Progress::Failed;
  return take_messages(buffer.data(), static_cast<std::size_t>(got), sockets, torn);
}

/// Empty if the kernel does not list them.
std::optional<UnixSockets> dump(bool& torn) {
  const UniqueFd netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const timeval patience{kPatienceSeconds, 0};
  if (!netlink.valid()) return std::nullopt;
  setsockopt(netlink.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (!ask(netlink.get())) return std::nullopt;
  std::vector<char> buffer(65536);
  UnixSockets sockets;
  for (;;) {
    const Progress progress = take_answer(netlink.get(), buffer, sockets, torn);
    if (progress == Progress::Done) return sockets;
    if (progress == Progress::Failed) return std::nullopt;
  }
}

}  // namespace

std::optional<UnixSockets> read_unix_sockets() {
  std::optional<UnixSockets> sockets;
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    bool torn = false;
    std::optional<UnixSockets> all = dump(torn);
    if (!all) return sockets;
    sockets = std::move(all);
    if (!torn) break;
  }
  return sockets;
}

}  // namespace corral::survey
