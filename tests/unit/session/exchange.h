// The daemon's whole path in one process: clients in memory, servers that are two pipe ends in the test's
// hand. No process is started, nothing sleeps, and time passes only when a test says so.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/held_clock.h"
#include "base/loop.h"
#include "knowledge/launch_key.h"
#include "pool/pool.h"
#include "proc/spawner.h"
#include "session/session.h"

namespace corral::tests {

inline boost::json::value json(const std::string& text) { return boost::json::parse(text); }

/// The server's side of one instance.
class FakeServer {
 public:
  FakeServer(int input, int output, int error, UniqueFd lifeline, pid_t number)
      : input_(dup(input)),
        output_(dup(output)),
        error_(dup(error)),
        lifeline_(std::move(lifeline)),
        number_(number) {
    fcntl(input_.get(), F_SETFL, O_NONBLOCK);
  }

  void say(const std::string& line) const { write_all(output_.get(), line + "\n"); }
  void say_raw(const std::string& bytes) const { write_all(output_.get(), bytes); }
  void complain(const std::string& text) const { write_all(error_.get(), text); }

  /// The lines that came since the last call.
  std::vector<std::string> heard() {
    char chunk[65536];
    for (ssize_t got = 0; (got = read(input_.get(), chunk, sizeof chunk)) > 0;) {
      text_.append(chunk, static_cast<std::size_t>(got));
    }
    std::vector<std::string> lines;
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
      lines.push_back(text_.substr(0, end));
    }
    return lines;
  }

  /// True once the daemon has closed the server's input.
  bool input_closed() {
    char byte = 0;
    heard();
    return read(input_.get(), &byte, 1) == 0;
  }

  enum class Proof { Given, None };
  void exit(int status, Proof proof = Proof::Given, const std::vector<pid_t>& survivors = {}) {
    input_.reset();
    output_.reset();
    error_.reset();
    static keeper::Event event;
    event = {};
    event.kind = keeper::Event::Kind::Ended;
    event.report.server_status_known = true;
    event.report.server_status = status;
    event.report.proved_empty = proof == Proof::Given;
    for (const pid_t pid : survivors) event.report.survivor[event.report.survivors++].pid = pid;
    send(lifeline_.get(), &event, sizeof event, 0);
  }
  /// How many bytes of its output the daemon has not read.
  std::size_t unread() const {
    int bytes = 0;
    return ioctl(output_.get(), FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
  }
  void close_output() { output_.reset(); }
  void close_input() { input_.reset(); }
  void lose_keeper() { lifeline_.reset(); }
  pid_t number() const { return number_; }
  /// How often its keeper was told to end it, instead of letting it see the end of its input.
  std::size_t stops_told() {
    keeper::Command command{};
    while (recv(lifeline_.get(), &command, sizeof command, MSG_DONTWAIT) > 0) {
      if (command.kind == keeper::Command::Kind::Stop) ++stops_told_;
    }
    return stops_told_;
  }

 private:
  static void write_all(int fd, const std::string& text) {
    [[maybe_unused]] const ssize_t written = write(fd, text.data(), text.size());
  }

  UniqueFd input_;
  UniqueFd output_;
  UniqueFd error_;
  UniqueFd lifeline_;
  pid_t number_;
  std::size_t stops_told_ = 0;
  std::string text_;
};

class FakeSpawner final : public proc::Spawner {
 public:
  Result<proc::ProcessTree> spawn(const proc::LaunchSpec& spec) override {
    if (!failure.empty()) return Error{failure};
    int ends[2];
    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
    const auto number = static_cast<pid_t>(1'000'000 + servers.size());
    keeper::Event event{};
    event.kind = keeper::Event::Kind::Started;
    event.server = number;
    send(ends[1], &event, sizeof event, 0);
    servers.emplace_back(spec.input, spec.output, spec.error, UniqueFd(ends[1]), number);
    proc::ProcessTree::Parts parts;
    parts.instance = "instance" + std::to_string(number);
    if (spec.before_start) spec.before_start({parts.instance, {}, 0});
    parts.keeper = number;
    parts.lifeline = UniqueFd(ends[0]);
    return proc::ProcessTree(std::move(parts));
  }

  std::deque<FakeServer> servers;  // all that were ever started
  std::string failure;
};

class FakeClient final : public session::Transport {
 public:
  FakeClient(Loop& loop, router::SessionId id, pool::Pool& pool, std::shared_ptr<const pool::ServerSpec> spec,
             const std::string& owner)
      : session(loop, id, *this, pool, std::move(spec), owner) {}

  void say(const std::string& line) { session.receive(wire::Message(line)); }
  /// What came since the last call.
  std::vector<std::string> heard() { return std::exchange(lines_, {}); }

  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits) override {
    std::string text(line.text);
    std::size_t shift = 0;
    for (const wire::Edit& edit : edits) {
      if (!edit.where.present()) continue;
      text.replace(edit.where.begin + shift, edit.where.end - edit.where.begin, edit.text);
      shift += edit.text.size() - (edit.where.end - edit.where.begin);
    }
    lines_.push_back(std::move(text));
    if (when_sent) std::exchange(when_sent, nullptr)();
  }
  bool overflowing() const override { return overflow; }
  bool congested() const override { return slow; }
  void pause() override { reading = false; }
  void resume() override { reading = true; }
  void error_output(std::string_view bytes) override { errors.append(bytes); }
  void note(const std::string& sentence) override { notes.push_back(sentence); }
  bool wants_advice() const override { return advice; }
  void close(Close how) override { closed = how; }
  void exit(int code, const std::string& why) override {
    exit_code = code;
    exit_reason = why;
    ++exits;
  }

  session::Session session;
  bool slow = false;
  bool reading = false;
  bool overflow = false;
  bool advice = true;
  std::string errors;
  std::vector<std::string> notes;
  std::function<void()> when_sent;  // once, in the middle of what corral does
  std::optional<Close> closed;
  std::optional<int> exit_code;
  std::string exit_reason;
  int exits = 0;

 private:
  std::vector<std::string> lines_;
};

inline constexpr const char* kInitialize =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
    R"("capabilities":{"sampling":{}},"clientInfo":{"name":"tester","version":"1"}}})";
inline constexpr const char* kInitialized = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";

class Exchange {
 public:
  explicit Exchange(config::Share share = config::Share::Shared) { spec->entry.share = share; }

  FakeClient& connect(const std::string& owner = {}) {
    spec->key = knowledge::launch_key(spec->launch);
    clients.emplace_back(loop, ids_.next(), pool, spec, owner);
    return clients.back();
  }
  FakeServer& server(std::size_t index = 0) { return spawner.servers.at(index); }
  std::size_t started() const { return spawner.servers.size(); }
  void settle() {
    for (int turn = 0; turn < 8; ++turn) loop.run_due();
  }

  /// A client that has its handshake behind it, on an instance that is open.
  FakeClient& ready_client(std::string capabilities = {}, const std::string& owner = {}) {
    if (capabilities.empty()) capabilities = R"({"tools":{},"logging":{},"resources":{"subscribe":true}})";
    FakeClient& client = connect(owner);
    client.say(kInitialize);
    settle();
    FakeServer& fake = spawner.servers.back();
    answer_handshake(fake, capabilities);
    client.say(kInitialized);
    settle();
    fake.heard();
    client.heard();
    return client;
  }
  /// True if it was asked for one. Other messages that it got are lost.
  bool answer_handshake(FakeServer& fake, const std::string& capabilities = R"({"tools":{}})") {
    bool asked = false;
    for (const std::string& line : fake.heard()) {
      const auto message = json(line).as_object();
      if (!message.contains("method") || message.at("method") != "initialize") continue;
      asked = true;
      fake.say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(message.at("id")) +
               R"(,"result":{"protocolVersion":"2025-11-25","capabilities":)" + capabilities +
               R"(,"serverInfo":{"name":"fake","version":"1"}}})");
    }
    settle();
    return asked;
  }
  /// For what a timer does: lets time pass until then, 15 seconds at most.
  template <class Condition>
  bool until(Condition condition) {
    const auto give_up = Clock::now() + std::chrono::seconds(15);
    for (; Clock::now() < give_up; clock.pass(std::chrono::milliseconds(1))) {
      loop.run_due();
      if (condition()) return true;
    }
    return false;
  }

  HeldClock clock;
  Loop loop;
  FakeSpawner spawner;
  pool::Pool pool{loop, spawner, std::size_t{1} << 20};
  std::shared_ptr<pool::ServerSpec> spec = make_spec();
  std::list<FakeClient> clients;

 private:
  static std::shared_ptr<pool::ServerSpec> make_spec() {
    auto spec = std::make_shared<pool::ServerSpec>();
    spec->from_configuration = true;
    spec->server = "files";
    spec->launch.argv = {"/bin/fake-server"};
    spec->launch.directory = "/";
    spec->entry.modern = false;  // most tests are not about finding it out
    return spec;
  }

  IdSource<SessionId> ids_;
};

}  // namespace corral::tests
