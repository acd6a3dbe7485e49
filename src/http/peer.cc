#include "http/peer.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/unique_fd.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77  // Linux 6.5; newer than the C library's headers
#endif

// What the kernel reports of the peer's socket (measured on 6.18; net/ipv4/inet_diag.c, tcp_diag.c):
//   open                         uid of its creator, its inode
//   closed, data still in flight uid 0, inode 0: no user's, and not root's
//   closed, TIME_WAIT            uid 0, inode 0
//   gone                         ENOENT; or, if a program listens at that port, its listening socket
// So the answer counts only with an inode, and only if it has exactly the addresses that were asked for.

namespace corral::http {
namespace {

constexpr std::size_t kMostAnswers = 8;  // to earlier questions, which were not read
constexpr uid_t kEverybodyElse = 65534;  // the uid of users that have none in our namespace

bool is_own_user(uid_t uid) { return uid == geteuid() && uid != kEverybodyElse; }

/// One end of a connection. An IPv4 address inside an IPv6 one is an IPv4 address: the kernel keeps such
/// connections with the IPv4 ones, whatever family the socket has.
struct SocketEnd {
  sa_family_t family = AF_UNSPEC;
  std::array<std::uint32_t, 4> address{};  // in network byte order, as sock_diag uses it
  std::uint16_t port = 0;                  // the same
  std::uint32_t scope = 0;

  bool operator==(const SocketEnd& other) const {
    return family == other.family && address == other.address && port == other.port;
  }
};

std::optional<SocketEnd> end_from(const sockaddr_storage& storage) {
  SocketEnd end;
  if (storage.ss_family == AF_INET) {
    sockaddr_in plain{};
    std::memcpy(&plain, &storage, sizeof plain);
    end.family = AF_INET;
    end.address[0] = plain.sin_addr.s_addr;
    end.port = plain.sin_port;
    return end;
  }
  if (storage.ss_family != AF_INET6) return std::nullopt;
  sockaddr_in6 plain{};
  std::memcpy(&plain, &storage, sizeof plain);
  std::memcpy(end.address.data(), &plain.sin6_addr, sizeof plain.sin6_addr);
  end.port = plain.sin6_port;
  if (IN6_IS_ADDR_V4MAPPED(&plain.sin6_addr)) {
    end.family = AF_INET;
    end.address = {end.address[3], 0, 0, 0};
  } else {
    end.family = AF_INET6;
    end.scope = plain.sin6_scope_id;
  }
  return end;
}

using GetName = int (*)(int, sockaddr*, socklen_t*);

std::optional<SocketEnd> end_of(int socket, GetName get_name) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (get_name(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return std::nullopt;
  return end_from(storage);
}

std::string address_text(const SocketEnd& end) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(end.family, end.address.data(), text.data(), text.size()) != nullptr ? text.data() : "";
}

bool is_loopback(const SocketEnd& end) {
  if (end.family == AF_INET) return ntohl(end.address[0]) >> 24 == 127;
  return end.address == std::array<std::uint32_t, 4>{0, 0, 0, htonl(1)};
}

/// A program that connects to one of this machine's addresses from this machine uses that address, or
/// loopback, as its own. All other clients need a token anyway, so the kernel is not asked about them.
bool may_be_here(const SocketEnd& peer, const SocketEnd& own) {
  return peer.family == own.family && (is_loopback(peer) || peer.address == own.address);
}

/// One for each thread and process: a socket that was copied by fork would receive the answers of both.
struct Netlink {
  UniqueFd socket;
  pid_t process = 0;
  std::uint32_t questions = 0;

  int get() {
    if (!socket.valid() || process != getpid()) {
      socket = UniqueFd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
      process = getpid();
    }
    return socket.get();
  }
};

struct DiagQuestion {
  nlmsghdr header;
  inet_diag_req_v2 body;
};

/// Asks for the socket whose own address is `peer`, and whose peer is `own`.
DiagQuestion question_about(const SocketEnd& peer, const SocketEnd& own, std::uint32_t number) {
  DiagQuestion question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.header.nlmsg_seq = number;
  question.body.sdiag_family = static_cast<std::uint8_t>(peer.family);
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~0U;
  question.body.id.idiag_sport = peer.port;
  question.body.id.idiag_dport = own.port;
  std::memcpy(question.body.id.idiag_src, peer.address.data(), sizeof question.body.id.idiag_src);
  std::memcpy(question.body.id.idiag_dst, own.address.data(), sizeof question.body.id.idiag_dst);
  question.body.id.idiag_if = peer.scope;
  question.body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  question.body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return question;
}

/// The kernel may report an IPv4 connection as the IPv6 socket that holds it.
SocketEnd end_in_answer(int family, const __be32* address, std::uint16_t port) {
  SocketEnd end;
  end.port = port;
  end.family = static_cast<sa_family_t>(family);
  std::memcpy(end.address.data(), address, sizeof end.address);
  const bool mapped =
      family == AF_INET6 && end.address[0] == 0 && end.address[1] == 0 && end.address[2] == htonl(0xffff);
  if (mapped) end = {AF_INET, {end.address[3], 0, 0, 0}, port, 0};
  if (end.family == AF_INET) end.address = {end.address[0], 0, 0, 0};
  return end;
}

struct DiagAnswer {
  nlmsghdr header;
  inet_diag_msg body;
};

/// The answer to this question; empty if there is no such socket, or no answer.
std::optional<inet_diag_msg> take_answer(int netlink, std::uint32_t number) {
  // The kernel answers while it receives the question, so the answer is here already or will not arrive.
  for (std::size_t taken = 0; taken < kMostAnswers; ++taken) {
    std::array<char, 1024> bytes{};
    sockaddr_nl sender{};
    socklen_t size = sizeof sender;
    const ssize_t got = recvfrom(netlink, bytes.data(), bytes.size(), MSG_DONTWAIT,
                                 reinterpret_cast<sockaddr*>(&sender), &size);
    if (got < 0 && errno == EINTR) continue;
    if (got < static_cast<ssize_t>(sizeof(nlmsghdr))) return std::nullopt;
    DiagAnswer answer{};
    std::memcpy(&answer, bytes.data(), std::min(static_cast<std::size_t>(got), sizeof answer));
    if (sender.nl_pid != 0 || answer.header.nlmsg_seq != number) continue;  // only the kernel has number 0
    const bool whole = static_cast<std::size_t>(got) >= sizeof answer &&
                       answer.header.nlmsg_len >= sizeof answer &&
                       answer.header.nlmsg_type == SOCK_DIAG_BY_FAMILY;
    return whole ? std::optional(answer.body) : std::nullopt;
  }
  return std::nullopt;
}

/// The inode of the peer's socket, if it is open and our own user's; otherwise 0.
std::uint64_t own_socket_at(const SocketEnd& peer, const SocketEnd& own) {
  thread_local Netlink netlink;
  const int socket = netlink.get();
  if (socket < 0) return 0;
  const DiagQuestion question = question_about(peer, own, ++netlink.questions);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const ssize_t sent = sendto(socket, &question, sizeof question, MSG_DONTWAIT,
                              reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel);
  const std::optional<inet_diag_msg> answer =
      sent == sizeof question ? take_answer(socket, netlink.questions) : std::nullopt;
  if (!answer || answer->idiag_inode == 0 || !is_own_user(answer->idiag_uid)) return 0;
  const bool same =
      end_in_answer(answer->idiag_family, answer->id.idiag_src, answer->id.idiag_sport) == peer &&
      end_in_answer(answer->idiag_family, answer->id.idiag_dst, answer->id.idiag_dport) == own;
  return same ? answer->idiag_inode : 0;
}

/// 0 where a pidfd has no inode of its own.
std::uint64_t inode_of_peer_process(int socket) {
  constexpr long kPidfsMagic = 0x50494446;  // "PIDF"
  int given = -1;
  socklen_t size = sizeof given;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &given, &size) != 0) return 0;
  const UniqueFd pidfd(given);
  struct statfs system {};
  struct stat status {};
  if (fstatfs(given, &system) != 0 || system.f_type != kPidfsMagic || fstat(given, &status) != 0) return 0;
  return status.st_ino;
}

}  // namespace

Peer peer_of_tcp(int accepted) {
  Peer peer;
  peer.socket = Peer::Socket::Tcp;
  const std::optional<SocketEnd> other = end_of(accepted, getpeername);
  const std::optional<SocketEnd> own = end_of(accepted, getsockname);
  if (!other || !own) return peer;  // gone already
  peer.address = address_text(*other);
  if (may_be_here(*other, *own)) peer.inode = own_socket_at(*other, *own);
  peer.ours = peer.inode != 0;
  return peer;
}

Peer peer_of_unix(int accepted) {
  Peer peer;
  peer.socket = Peer::Socket::Unix;
  ucred who{};
  socklen_t size = sizeof who;
  if (getsockopt(accepted, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return peer;
  peer.ours = is_own_user(who.uid);
  peer.pid = who.pid;
  peer.inode = inode_of_peer_process(accepted);
  peer.address = "user " + std::to_string(who.uid);
  return peer;
}

}  // namespace corral::http
