#include "shared_server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <system_error>

#include "proc_scan.h"
#include "results.h"

namespace corral::bench {
namespace {

constexpr const char* kLifetime = "--lifetime=600";
constexpr int kPatienceMs = 10'000;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

/// Each gets its own directory, whose name carries the tag into every command line.
std::string new_folder(const Bench& bench, const std::string& kind) {
  static int number = 0;
  std::string folder = bench.scratch + "/" + kind + std::to_string(number++) + "-" + bench.tag;
  if (mkdir(folder.c_str(), 0700) != 0) fail("mkdir");
  return folder;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long for a socket: " + path);
  memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

int bound_notify_socket(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("notify");
  return fd;
}

int connected(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  for (int i = 0; i < 1000; ++i) {  // between bind and listen it refuses
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
    usleep(1000);
  }
  fail("connect");
}

void hand_over(int socket, int in, int out) {
  char byte = 'p';
  iovec piece{&byte, 1};
  const int descriptors[2] = {in, out};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof descriptors)] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* passed = CMSG_FIRSTHDR(&message);
  passed->cmsg_level = SOL_SOCKET;
  passed->cmsg_type = SCM_RIGHTS;
  passed->cmsg_len = CMSG_LEN(sizeof descriptors);
  memcpy(CMSG_DATA(passed), descriptors, sizeof descriptors);
  if (sendmsg(socket, &message, MSG_NOSIGNAL) != 1) fail("sendmsg");
}

}  // namespace

// ---- corral

Daemon::Daemon(const Bench& bench, const std::string& policy, const std::vector<std::string>& server_args,
               int port)
    : corral_(bench.options.corral), folder_(new_folder(bench, "d")), port_(port) {
  said_ = folder_ + "/stderr";
  write_config(bench, policy, server_args);
  const std::string notify = folder_ + "/notify";
  const int notify_fd = bound_notify_socket(notify);
  setenv("NOTIFY_SOCKET", notify.c_str(), 1);
  const Clock::time_point start = Clock::now();
  std::vector<std::string> argv{corral_,         "serve",         "--config", folder_ + "/config.json",
                                "--runtime-dir", folder_ + "/run"};
  if (port_ > 0) argv.insert(argv.end(), {"--port", std::to_string(port_)});
  process_.emplace(argv, SpawnSettings{true, said_});
  unsetenv("NOTIFY_SOCKET");
  wait_until_ready(notify_fd);
  ready_ms_ = ms_since(start);
  ::close(notify_fd);
  pid_ = static_cast<pid_t>(atol(read_file(folder_ + "/run/corral.pid").c_str()));
  if (pid_ <= 0) throw std::runtime_error("the daemon wrote no pid file");
}

Daemon::~Daemon() {
  if (!process_) return;
  kill(process_->pid(), SIGTERM);
  const TimeLimit limit(20);
  try {
    process_->wait();
  } catch (const std::exception&) {
    fprintf(stderr, "run_bench: the daemon did not end within 20 s\n");
  }
}

void Daemon::write_config(const Bench& bench, const std::string& policy,
                          const std::vector<std::string>& server_args) const {
  std::ofstream file(folder_ + "/config.json");
  file << R"({"mcpServers":{"echo":{"command":)" << json(bench.options.echo_server) << R"(,"args":[)"
       << json("--tag=" + bench.tag) << "," << json(kLifetime);
  for (const std::string& argument : server_args) file << "," << json(argument);
  file << R"(],"env":{"CORRAL_BENCH_TAG":)" << json(bench.tag) << R"(},"corral":{)" << policy << "}}}}"
       << "\n";
  if (!file.flush()) throw std::runtime_error("cannot write the daemon's configuration");
}

void Daemon::wait_until_ready(int notify_fd) {
  for (std::string said; said.find("READY=1") == std::string::npos;) {
    pollfd ready{notify_fd, POLLIN, 0};
    if (poll(&ready, 1, kPatienceMs) != 1) {
      throw std::runtime_error("the daemon is not ready after 10 s: " + read_file(said_));
    }
    char text[1024];
    const ssize_t got = recv(notify_fd, text, sizeof text, 0);
    said.assign(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  }
}

std::vector<pid_t> Daemon::servers() const {
  std::vector<pid_t> found = descendants(pid_);
  std::erase_if(found, [](pid_t pid) { return process_name(pid) != "echo_server"; });
  return found;
}

Link Daemon::attach(const std::string& name) const {
  const std::vector<std::string> argv{corral_,         "connect",        "--require-daemon",
                                      "--runtime-dir", folder_ + "/run", "echo"};
  return Link(name, Child(argv, {false, folder_ + "/shim-stderr"}));
}

HttpClient Daemon::attach_http(const std::string& name, bool modern) const {
  return HttpClient(name, {port_, "/mcp/echo", "echo", modern});
}

// ---- the ideal

Ideal::Ideal(const Bench& bench, Sessions sessions, int port) : port_(port) {
  socket_ = new_folder(bench, "i") + "/s";
  std::vector<std::string> argv{bench.options.ideal_forwarder, "--socket=" + socket_, "--tag=" + bench.tag,
                                kLifetime};
  if (sessions == Sessions::Same) argv.push_back("--same-session");
  if (port_ > 0) argv.push_back("--port=" + std::to_string(port_));
  argv.insert(argv.end(), {"--", bench.options.echo_server, "--tag=" + bench.tag, kLifetime});
  process_.emplace(argv, SpawnSettings{sessions == Sessions::Own, ""});
  for (int i = 0; i < kPatienceMs; ++i) {
    if (access(socket_.c_str(), F_OK) == 0) return;
    usleep(1000);
  }
  throw std::runtime_error("the ideal forwarder did not start");
}

Link Ideal::attach_socket(const std::string& name) const {
  const int fd = connected(socket_);
  if (write(fd, "s", 1) != 1) fail("greeting");
  return Link(name, fd, fd);
}

Link Ideal::attach_pipes(const std::string& name) const {
  int to[2];
  int from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) fail("pipe2");
  const int fd = connected(socket_);
  hand_over(fd, to[0], from[1]);
  ::close(fd);
  ::close(to[0]);
  ::close(from[1]);
  return Link(name, to[1], from[0]);
}

HttpClient Ideal::attach_http(const std::string& name) const {
  return HttpClient(name, {port_, "/mcp", "echo", false});
}

// ---- neither

Link attach_raw(const Bench& bench, const std::string& name, bool own_session,
                const std::vector<std::string>& server_args) {
  std::vector<std::string> argv{bench.options.echo_server, "--tag=" + bench.tag, kLifetime};
  argv.insert(argv.end(), server_args.begin(), server_args.end());
  return Link(name, Child(argv, {own_session, ""}));
}

Link attach_unix(const std::string& name, const std::string& path) {
  const int fd = connected(path);
  return Link(name, fd, fd);
}

double cpu_ms(pid_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    throw std::runtime_error("no CPU time of process " + std::to_string(pid));
  }
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

}  // namespace corral::bench
