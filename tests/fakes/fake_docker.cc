// A container engine without containers. As in the real one, the command only asks a daemon, and it is the
// daemon that starts the "container", a process that is nobody's descendant but the daemon's:
//
//   fake_docker daemon --tag=TAG            serves $FAKE_DOCKER_SOCKET, or $DOCKER_HOST (unix://PATH)
//   docker [GLOBAL OPTIONS] run [--label L] [--cidfile FILE] [OPTIONS] IMAGE
//   docker [GLOBAL OPTIONS] ps [OPTIONS] --filter label=L
//   docker [GLOBAL OPTIONS] rm -f ID
//
// Every command line is appended to $FAKE_DOCKER_LOG, if there is one.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "lifetime.h"

namespace {

using corral::fakes::Deadline;

const Deadline& deadline() {
  static const Deadline value = Deadline::in_seconds(60);
  return value;
}

const char* socket_path() {
  constexpr const char* kScheme = "unix://";
  if (const char* const own = std::getenv("FAKE_DOCKER_SOCKET")) return own;
  const char* const host = std::getenv("DOCKER_HOST");
  const bool usable = host != nullptr && std::strncmp(host, kScheme, std::strlen(kScheme)) == 0;
  return usable ? host + std::strlen(kScheme) : nullptr;
}

sockaddr_un address() {
  const char* const path = socket_path();
  sockaddr_un value{};
  value.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof value.sun_path) std::exit(64);
  std::memcpy(value.sun_path, path, std::strlen(path));
  return value;
}

std::string read_line(int fd) {
  std::string line;
  char c = 0;
  while (read(fd, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

void write_line(int fd, const std::string& line) {
  const std::string bytes = line + '\n';
  if (write(fd, bytes.data(), bytes.size()) < 0) std::exit(74);
}

pid_t start_container(int listener, int peer) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  corral::fakes::end_by_itself(deadline());
  prctl(PR_SET_NAME, "fake-container");
  close(listener);
  close(peer);
  setsid();
  signal(SIGTERM, SIG_IGN);
  corral::fakes::idle_for_ever();
}

// Long and unlike any other text on the machine, like a real container id.
std::string container_id(pid_t pid) {
  char text[65];
  std::snprintf(text, sizeof text, "%032lx%032lx", static_cast<unsigned long>(pid) * 0x9E3779B97F4A7C15UL,
                static_cast<unsigned long>(pid));
  return text;
}

struct Container {
  pid_t pid;
  std::string label;
};

using Containers = std::map<std::string, Container>;

// "run LABEL" starts one and answers with its id, "ps LABEL" lists, "rm ID" ends.
std::string answer(const std::string& request, Containers& containers, int listener, int peer) {
  const std::string verb = request.substr(0, request.find(' '));
  const std::string operand = request.substr(verb.size() + 1);
  if (verb == "run") {
    const pid_t pid = start_container(listener, peer);
    containers[container_id(pid)] = {pid, operand};
    return container_id(pid);
  }
  if (verb == "ps") {
    std::string ids;
    for (const auto& [id, container] : containers) {
      if (container.label == operand) ids += (ids.empty() ? "" : " ") + id;
    }
    return ids;
  }
  const auto found = containers.find(operand);
  if (found == containers.end()) return "no such container";
  kill(found->second.pid, SIGKILL);
  waitpid(found->second.pid, nullptr, 0);
  containers.erase(found);
  return "removed";
}

int run_daemon() {
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un where = address();
  sockaddr_un before = where;  // a client that sees the name must be able to connect
  before.sun_path[strlen(before.sun_path) - 1] = '~';
  umask(0);  // also for a client of another user
  if (bind(listener, reinterpret_cast<const sockaddr*>(&before), sizeof before) != 0 ||
      listen(listener, 8) != 0 || rename(before.sun_path, where.sun_path) != 0) {
    std::perror("fake docker daemon");
    return 1;
  }
  Containers containers;
  for (;;) {
    const int peer = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) continue;
    const std::string request = read_line(peer);
    if (request.find(' ') != std::string::npos) write_line(peer, answer(request, containers, listener, peer));
    close(peer);
  }
}

std::string ask_daemon(const std::string& request) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un where = address();
  if (connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    std::perror("docker: cannot connect to the daemon");
    std::exit(1);
  }
  write_line(fd, request);
  std::string line = read_line(fd);
  close(fd);
  return line;
}

void write_cidfile(const std::string& path, const std::string& id) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) {
    std::perror("docker: container ID file");
    std::exit(125);
  }
  if (write(fd, id.data(), id.size()) < 0) std::exit(74);
  close(fd);
}

// The value of "--name value" or "--name=value".
std::string option(const std::vector<std::string>& args, const std::string& name) {
  for (std::size_t at = 0; at < args.size(); ++at) {
    if (args[at] == name && at + 1 < args.size()) return args[at + 1];
    if (args[at].starts_with(name + '=')) return args[at].substr(name.size() + 1);
  }
  return {};
}

int run_container(const std::vector<std::string>& args) {
  const std::string id = ask_daemon("run " + option(args, "--label"));
  if (const std::string path = option(args, "--cidfile"); !path.empty()) write_cidfile(path, id);
  for (std::string line = read_line(0); !line.empty(); line = read_line(0)) {
    write_line(1, "{\"id\":0,\"result\":\"" + id + "\"}");
  }
  return 0;
}

int list_containers(const std::vector<std::string>& args) {
  const std::string filter = option(args, "--filter");
  const std::string ids = ask_daemon("ps " + filter.substr(filter.find('=') + 1));
  if (!ids.empty()) write_line(1, ids);
  return 0;
}

void log_command(const std::vector<std::string>& args) {
  const char* const path = std::getenv("FAKE_DOCKER_LOG");
  if (path == nullptr) return;
  std::string line;
  for (const std::string& arg : args) line += (line.empty() ? "" : " ") + arg;
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  write_line(fd, line);
  close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  corral::fakes::end_by_itself(deadline());
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (!args.empty() && args[0] == "daemon") return run_daemon();
  log_command(args);
  std::size_t next = 0;
  while (next < args.size() && args[next].starts_with('-')) {
    next += (args[next] == "--context" || args[next] == "-H") ? 2 : 1;
  }
  if (next < args.size() && args[next] == "run") return run_container(args);
  if (next < args.size() && args[next] == "ps") return list_containers(args);
  if (next < args.size() && args[next] == "rm") return ask_daemon("rm " + args.back()) == "removed" ? 0 : 1;
  std::fprintf(stderr, "docker: unknown command\n");
  return 1;
}
