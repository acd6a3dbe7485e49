#include "support/empty_daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "control/runtime_dir.h"
#include "support/platform.h"
#include "transport/unix_listener.h"

namespace corral::os_tests {
namespace {

using transport::Arrival;
using transport::ShimLine;

void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

/// Sends back what comes in.
class Echo : public std::enable_shared_from_this<Echo> {
 public:
  Echo(Loop& loop, Arrival arrival, std::shared_ptr<ShimLine> line)
      : arrival_(std::move(arrival)), line_(std::move(line)), watch_(loop, arrival_.input.get()) {
    set_nonblocking(arrival_.input.get());
    set_nonblocking(arrival_.output.get());
  }

  void start() {
    line_->when_gone([self = shared_from_this()] { self->end(); });
    wait();
  }

 private:
  void wait() {
    watch_.when_readable([self = shared_from_this()] { self->pass_on(); });
  }

  void pass_on() {
    char bytes[4096];
    const ssize_t size = read(arrival_.input.get(), bytes, sizeof bytes);
    if (size == 0) return end();
    if (size > 0) write_all({bytes, static_cast<std::size_t>(size)});
    wait();
  }

  /// Everything, or nobody reads it: what is lost here would look like the shim's fault.
  void write_all(std::string_view bytes) {
    while (!bytes.empty()) {
      pollfd room{arrival_.output.get(), POLLOUT, 0};
      if (poll(&room, 1, 15'000) != 1) return;
      const ssize_t size = write(arrival_.output.get(), bytes.data(), bytes.size());
      if (size <= 0 && errno != EAGAIN) return;
      if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  void end() {
    watch_.cancel();
    arrival_.input.reset();
    arrival_.output.reset();
    line_->when_gone(nullptr);
    line_->exit(0, "");
  }

  Arrival arrival_;
  std::shared_ptr<ShimLine> line_;
  Watch watch_;
};

class EmptyOpener final : public transport::SessionOpener {
 public:
  explicit EmptyOpener(Loop& loop) : loop_(loop) {}

  void open(Arrival arrival, std::shared_ptr<ShimLine> line) override {
    const std::string server = arrival.hello.server;
    if (server.empty()) return line->run_it("the test says so");
    if (server == "refuse") return line->refuse("the test refuses", 7);
    if (server == "leaving" && !std::exchange(asked_, true)) {
      return line->run_it("the daemon is shutting down");
    }
    line->accept();
    if (server == "leaving") return line->exit(0, "");
    if (server.starts_with("exit-")) return line->exit(std::atoi(server.c_str() + 5), "");
    if (server == "describe") return describe(arrival, *line);
    if (server == "noisy") {
      for (int i = 0; i < 128; ++i) line->error_output(std::string(65535, 'x') + "\n");
    }
    std::make_shared<Echo>(loop_, std::move(arrival), std::move(line))->start();
  }

  void answer(transport::Question question, transport::Answer answer) override {
    using control::Reply;
    switch (question.hello.verb) {
      case control::Verb::Status:
        return answer(Reply{Reply::Kind::Status, R"({"daemon":"empty"})", 0, 0, 0, ""});
      case control::Verb::Shutdown: return answer(Reply{Reply::Kind::Exit, "nothing to end", 0, 0, 0, ""});
      default:
        return answer(Reply{
            Reply::Kind::Result,
            R"({"peer":)" + std::to_string(question.peer) + R"(,"confined":")" + question.confinement + "\"}",
            0, 0, 0, ""});
    }
  }

 private:
  static void describe(const Arrival& arrival, ShimLine& line) {
    pollfd client{arrival.client.get(), POLLIN, 0};
    const std::string text =
        "shim=" + std::to_string(arrival.shim) + " client=" + std::to_string(arrival.hello.client) +
        " watched=" + (arrival.client.valid() && poll(&client, 1, 0) == 0 ? "yes" : "no") +
        " cwd=" + arrival.hello.cwd + " share=" + arrival.hello.share +
        " variables=" + std::to_string(arrival.hello.environment.size()) + " confined=(" +
        arrival.confinement + ")\n";
    [[maybe_unused]] const ssize_t written = write(arrival.output.get(), text.data(), text.size());
    line.note("a note for people");
    line.error_output("from the server\n");
    line.exit(0, "");
  }

  Loop& loop_;
  bool asked_ = false;
};

UniqueFd listen_in(const std::string& runtime_dir) {
  mkdir(runtime_dir.c_str(), 0700);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, control::socket_path(runtime_dir).c_str(), sizeof address.sun_path - 1);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) _exit(97);
  if (listen(socket.get(), 64) != 0) _exit(97);
  return socket;
}

void tell(int ready) {
  if (write(ready, "r", 1) != 1) _exit(96);
  close(ready);
}

[[noreturn]] void serve(const std::string& runtime_dir, std::optional<uid_t> uid, EmptyDaemon::Manner manner,
                        int ready) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  if (uid) become(*uid);
  prctl(PR_SET_DUMPABLE, 1);  // exec would do that: without it, our own /proc files belong to root
  if (manner == EmptyDaemon::Manner::Confined) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  UniqueFd socket = listen_in(runtime_dir);
  if (manner == EmptyDaemon::Manner::HangsUpFirst) {
    tell(ready);
    close(accept(socket.get(), nullptr, nullptr));
  }
  Loop loop;
  EmptyOpener opener(loop);
  const transport::UnixListener listener(loop, std::move(socket), opener);
  if (manner != EmptyDaemon::Manner::HangsUpFirst) tell(ready);
  loop.run();
  _exit(0);
}

}  // namespace

EmptyDaemon::EmptyDaemon(const std::string& runtime_dir, std::optional<uid_t> uid, Manner manner) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) std::abort();
  pid_ = fork();
  if (pid_ < 0) std::abort();
  if (pid_ == 0) {
    close(ready[0]);
    serve(runtime_dir, uid, manner, ready[1]);
  }
  close(ready[1]);
  char word = 0;
  if (read(ready[0], &word, 1) != 1) std::abort();
  while (read(ready[0], &word, 1) > 0) {  // until it has closed its end: its descriptors can be counted now
  }
  close(ready[0]);
}

EmptyDaemon::~EmptyDaemon() { kill(); }

void EmptyDaemon::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::size_t EmptyDaemon::open_descriptors() const {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/fd")) {
    ++count;
  }
  return count;
}

}  // namespace corral::os_tests
