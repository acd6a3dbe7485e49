// The least that could be called a shared server: one thread, epoll, one server behind a pair of pipes, any
// number of clients. Ids are replaced on the way there and put back on the way home; nothing is checked,
// bounded, supervised or forgotten in order. It shows how fast sharing can be, and is not a product.
//
//   ideal_forwarder --socket=PATH [--port=N] [--same-session] [--lifetime=SECONDS] [--tag=TEXT]
//                   -- SERVER [ARG...]
//
// A client connects and sends one byte: 's' to talk through the socket, or 'p' together with two descriptors
// (SCM_RIGHTS: its requests, its answers), as the clients of corral do. At the port it is a POST for every
// message, on a connection that stays; whatever the path says. The server gets a session of its own, because
// the servers of corral have one and the kernel may charge for it; --same-session shows without.
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace {

constexpr size_t kChunk = size_t{1} << 16;

[[noreturn]] void fail(const char* what) {
  perror(what);
  exit(1);
}

/// Bytes that are taken from the front and added at the back. Not std::string, which fills what it grows by.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { free(data_); }

  std::string_view view() const { return {data_ + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  void drop(size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  char* room(size_t bytes) {
    if (capacity_ - end_ < bytes) make_room(bytes);
    return data_ + end_;
  }
  void grew(size_t bytes) { end_ += bytes; }
  void add(std::string_view text) {
    memcpy(room(text.size()), text.data(), text.size());
    grew(text.size());
  }

 private:
  void make_room(size_t bytes) {
    if (begin_ > 0) memmove(data_, data_ + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (capacity_ - end_ >= bytes) return;
    capacity_ = 2 * (end_ + bytes);
    data_ = static_cast<char*>(realloc(data_, capacity_));
    if (data_ == nullptr) fail("memory");
  }

  char* data_ = nullptr;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
};

struct Party;

/// What epoll tells us about: one direction of somebody.
struct Direction {
  enum class Kind { Listener, HttpListener, Greeting, In, Out };
  Kind kind;
  int fd;
  Party* party;
};

/// A client, or the server.
struct Party {
  Direction in{Direction::Kind::In, -1, this};
  Direction out{Direction::Kind::Out, -1, this};
  Buffer received;
  size_t searched = 0;  // of `received`, without a line end
  Buffer to_send;
  bool waits_to_write = false;
  bool gone = false;
  bool http = false;
};

struct Call {
  Party* client;
  std::string id;
};

int poller = -1;
Party server;
std::unordered_map<unsigned long, Call> calls;
unsigned long next_id = 1;

void control(int operation, Direction& direction, unsigned events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &direction;
  if (epoll_ctl(poller, operation, direction.fd, &event) != 0) fail("epoll_ctl");
}

void send_on(Party& party);

void watch(Party& party, int in, int out) {
  party.in.fd = in;
  party.out.fd = in == out ? fcntl(out, F_DUPFD_CLOEXEC, 3) : out;  // epoll knows a descriptor once
  fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
  fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
  control(EPOLL_CTL_ADD, party.in, EPOLLIN);
  control(EPOLL_CTL_ADD, party.out, 0);
}

// A call in flight may still name it, so the little that is left of a client stays: bounded by the run.
void lose(Party& party) {
  if (&party == &server) exit(0);
  if (party.gone) return;
  party.gone = true;
  close(party.in.fd);
  close(party.out.fd);
}

void send_on(Party& party) {
  while (!party.to_send.empty()) {
    const std::string_view text = party.to_send.view();
    const ssize_t wrote = write(party.out.fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) break;
    if (wrote <= 0) return lose(party);
    party.to_send.drop(static_cast<size_t>(wrote));
  }
  const bool waits = !party.to_send.empty();
  if (waits != party.waits_to_write) control(EPOLL_CTL_MOD, party.out, waits ? unsigned{EPOLLOUT} : 0);
  party.waits_to_write = waits;
}

std::string_view id_of(std::string_view line) {
  static constexpr std::string_view kKey = "\"id\":";
  const std::string_view head = line.substr(0, 512);
  const size_t at = head.find(kKey);
  if (at == std::string_view::npos) return {};
  const size_t begin = at + kKey.size();
  return line.substr(begin, head.find_first_of(",}", begin) - begin);
}

void splice(Buffer& to, std::string_view line, std::string_view id, std::string_view instead) {
  const auto at = static_cast<size_t>(id.data() - line.data());
  to.room(line.size() + instead.size() + 1);
  to.add(line.substr(0, at));
  to.add(instead);
  to.add(line.substr(at + id.size()));
}

void request(Party& client, std::string_view line) {
  const std::string_view id = id_of(line);
  if (id.empty()) {
    splice(server.to_send, line, line.substr(0, 0), {});
    if (client.http) client.to_send.add("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
  } else {
    const unsigned long number = next_id++;
    calls.emplace(number, Call{&client, std::string(id)});
    splice(server.to_send, line, id, std::to_string(number));
  }
  server.to_send.add("\n");
}

void add_answer_head(Party& client, size_t length) {
  client.to_send.add("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ");
  client.to_send.add(std::to_string(length));
  client.to_send.add("\r\n\r\n");
}

void answer(std::string_view line) {
  const std::string_view id = id_of(line);
  const auto call = calls.find(id.empty() ? 0 : strtoul(id.data(), nullptr, 10));
  if (call == calls.end()) return;
  Party& client = *call->second.client;
  if (!client.gone) {
    if (client.http) add_answer_head(client, line.size() - id.size() + call->second.id.size());
    splice(client.to_send, line, id, call->second.id);
    if (!client.http) client.to_send.add("\n");
    send_on(client);
  }
  calls.erase(call);
}

/// Takes one POST. False if it is not whole yet.
bool take_post(Party& client) {
  static constexpr std::string_view kLength = "Content-Length: ";
  const std::string_view text = client.received.view();
  const size_t head = text.find("\r\n\r\n");
  const size_t at = text.substr(0, head).find(kLength);
  if (head == std::string_view::npos || at == std::string_view::npos) return false;
  const size_t length = strtoul(text.data() + at + kLength.size(), nullptr, 10);
  if (text.size() < head + 4 + length) return false;
  request(client, text.substr(head + 4, length));
  client.received.drop(head + 4 + length);
  return true;
}

void receive(Party& party) {
  char* room = party.received.room(kChunk);
  const ssize_t got = read(party.in.fd, room, kChunk);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return lose(party);
  party.received.grew(static_cast<size_t>(got));
  if (party.http) {
    while (take_post(party)) continue;
    return send_on(party);
  }
  for (;;) {
    const std::string_view text = party.received.view();
    const size_t end = text.find('\n', party.searched);
    party.searched = end == std::string_view::npos ? text.size() : 0;
    if (end == std::string_view::npos) return;
    if (&party == &server) {
      answer(text.substr(0, end));
    } else {
      request(party, text.substr(0, end));
    }
    party.received.drop(end + 1);
  }
}

void greet(Direction* greeting) {
  const std::unique_ptr<Direction> owned(greeting);
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(2 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  int descriptors[2] = {greeting->fd, greeting->fd};
  epoll_ctl(poller, EPOLL_CTL_DEL, greeting->fd, nullptr);
  if (recvmsg(greeting->fd, &message, MSG_CMSG_CLOEXEC) != 1) {
    close(greeting->fd);
    return;
  }
  const cmsghdr* passed = CMSG_FIRSTHDR(&message);
  if (byte == 'p' && passed != nullptr && passed->cmsg_len == CMSG_LEN(sizeof descriptors)) {
    memcpy(descriptors, CMSG_DATA(passed), sizeof descriptors);
    close(greeting->fd);
  }
  watch(*new Party, descriptors[0], descriptors[1]);
}

void accept_http(int listener) {
  for (int fd = -1; (fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto* client = new Party;
    client->http = true;
    watch(*client, fd, fd);
  }
}

void accept_all(int listener) {
  for (int fd = -1; (fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
    control(EPOLL_CTL_ADD, *new Direction{Direction::Kind::Greeting, fd, nullptr}, EPOLLIN);
  }
}

void start_server(char** argv, bool own_session) {
  int to[2];
  int from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) fail("pipe2");
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (own_session) setsid();
    dup2(to[0], 0);
    dup2(from[1], 1);
    execv(argv[0], argv);
    fail(argv[0]);
  }
  close(to[0]);
  close(from[1]);
  watch(server, from[0], to[1]);
}

int listen_at(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail(path);
  if (listen(fd, 1024) != 0) fail("listen");
  return fd;
}

int listen_at_port(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail("port");
  if (listen(fd, 1024) != 0) fail("listen");
  return fd;
}

[[noreturn]] void forward() {
  epoll_event events[256];
  for (;;) {
    const int count = epoll_wait(poller, events, 256, -1);
    for (int i = 0; i < count; ++i) {
      auto* direction = static_cast<Direction*>(events[i].data.ptr);
      switch (direction->kind) {
        case Direction::Kind::Listener: accept_all(direction->fd); break;
        case Direction::Kind::HttpListener: accept_http(direction->fd); break;
        case Direction::Kind::Greeting: greet(direction); break;
        case Direction::Kind::In:
          if (!direction->party->gone) receive(*direction->party);
          break;
        case Direction::Kind::Out:
          if (direction->party->gone) break;
          if ((events[i].events & EPOLLERR) != 0) {
            lose(*direction->party);
          } else {
            send_on(*direction->party);
          }
          break;
      }
    }
    if (!server.waits_to_write) send_on(server);  // one write for all that came together
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = nullptr;
  int port = 0;
  bool own_session = true;
  int i = 1;
  for (; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    if (strncmp(argv[i], "--socket=", 9) == 0) path = argv[i] + 9;
    if (strncmp(argv[i], "--port=", 7) == 0) port = atoi(argv[i] + 7);
    if (strncmp(argv[i], "--lifetime=", 11) == 0) alarm(static_cast<unsigned>(atol(argv[i] + 11)));
    if (strcmp(argv[i], "--same-session") == 0) own_session = false;
  }
  if (path == nullptr || i + 1 >= argc) {
    fprintf(stderr, "usage: ideal_forwarder --socket=PATH [options] -- SERVER [ARG...]\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  poller = epoll_create1(EPOLL_CLOEXEC);
  start_server(argv + i + 1, own_session);
  Direction http{Direction::Kind::HttpListener, port > 0 ? listen_at_port(port) : -1, nullptr};
  if (port > 0) control(EPOLL_CTL_ADD, http, EPOLLIN);
  Direction listener{Direction::Kind::Listener, listen_at(path), nullptr};
  control(EPOLL_CTL_ADD, listener, EPOLLIN);
  forward();
}
