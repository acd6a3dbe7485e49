// The inside of the daemon in one process: the hub with all of its parts, shims whose pipes are in the test's
// hand, and servers that are two pipe ends. No process is started, the registry is in memory, and time passes
// only when a test says so.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/held_clock.h"
#include "daemon/hub.h"
#include "session/exchange.h"

namespace corral::daemon {

using tests::FakeServer;

/// The line to a shim; remembers what was said.
class ToldLine final : public transport::ShimLine {
 public:
  void accept() override { said.emplace_back("accepted"); }
  void refuse(const std::string& why, int code) override {
    said.push_back("refused " + std::to_string(code) + ": " + why);
  }
  void run_it(const std::string& why) override { said.push_back("run it: " + why); }
  void note(const std::string&) override {}
  void error_output(std::string_view) override {}
  void exit(int code, const std::string&) override { said.push_back("exit " + std::to_string(code)); }
  void when_gone(std::function<void()> task) override { gone = std::move(task); }

  std::vector<std::string> said;
  std::function<void()> gone;
};

/// A client behind a shim.
struct ShimClient {
  std::shared_ptr<ToldLine> line = std::make_shared<ToldLine>();
  UniqueFd typed;  // what the client writes
  UniqueFd shown;  // what it can read

  void say(const std::string& message) const {
    const std::string bytes = message + "\n";
    if (write(typed.get(), bytes.data(), bytes.size()) < 0) throw std::runtime_error("the pipe is closed");
  }
  std::string heard() const {
    std::string text(std::size_t{1} << 16, '\0');
    const ssize_t got = read(shown.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  /// The last thing that the shim was told; empty if nothing was.
  std::string told() const { return line->said.empty() ? "" : line->said.back(); }
};

/// The replies to one question.
using Replies = std::shared_ptr<std::vector<control::Reply>>;

/// A transport for sessions that a test opens as the HTTP endpoint would.
class SilentTransport final : public session::Transport {
 public:
  void send(const wire::Line&, std::initializer_list<wire::Edit>) override {}
  bool overflowing() const override { return false; }
  bool congested() const override { return false; }
  void pause() override {}
  void resume() override {}
  void error_output(std::string_view) override {}
  void note(const std::string&) override {}
  void close(Close) override {}
  void exit(int, const std::string&) override {}
};

inline config::Server an_entry(const std::string& name, config::Share share = config::Share::Session) {
  config::Server server;
  server.name = name;
  server.argv = {"/bin/fake-server"};
  server.cwd = "/";
  server.share = share;
  server.modern = false;  // most tests are not about finding it out
  return server;
}

inline config::Configuration with_entries(std::vector<config::Server> servers) {
  config::Configuration configuration;
  configuration.file = "corral.json";
  for (config::Server& server : servers) server.file = configuration.file;
  configuration.servers = std::move(servers);
  return configuration;
}

class DaemonInMemory {
 public:
  explicit DaemonInMemory(config::Configuration configuration = with_entries({an_entry("files")}))
      : file(configuration),
        hub(
            loop, std::move(configuration), spawner, [this] { return read_file(); }, records) {
    records.events().listen([this](const events::Event& event) { told.push_back(event); });
    hub.unattended().read_with([this](std::vector<pid_t> pids, daemon::UnattendedWatch::Answer answer) {
      ++looks;
      std::vector<survey::Background> found;
      for (const pid_t pid : pids) found.push_back(backgrounds[pid]);
      loop.post([found, answer] { answer(found); });
    });
  }

  ShimClient connect(const std::string& server, const std::function<void(transport::Arrival&)>& change = {}) {
    ShimClient client;
    transport::Arrival arrival;
    arrival.hello.server = server;
    arrival.hello.version = "1.0.0";
    arrival.hello.cwd = "/";
    arrival.hello.environment = {"PATH=/bin"};
    arrival.hello.client = 41;
    arrival.shim = 42;
    std::tie(arrival.input, client.typed) = new_pipe();
    std::tie(client.shown, arrival.output) = new_pipe();
    if (change) change(arrival);
    hub.open(std::move(arrival), client.line);
    settle();
    return client;
  }
  /// A client that has its handshake behind it, on an instance that is open.
  ShimClient ready_client(const std::string& server) {
    ShimClient client = connect(server);
    client.say(tests::kInitialize);
    settle();
    answer_handshake();
    client.say(tests::kInitialized);
    settle();
    last_server().heard();
    client.heard();
    return client;
  }
  void answer_handshake() {
    for (const std::string& line : last_server().heard()) {
      const auto message = tests::json(line).as_object();
      if (!message.contains("method") || message.at("method") != "initialize") continue;
      last_server().say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(message.at("id")) +
                        R"(,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
                        R"("serverInfo":{"name":"fake","version":"1"}}})");
    }
    settle();
  }
  FakeServer& last_server() { return spawner.servers.back(); }
  void call(ShimClient& client, int id = 7) {
    client.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
               R"(,"method":"tools/call","params":{"name":"wait"}})");
    settle();
  }
  /// The first call that the last server got and that waits.
  void answer_call() {
    for (const std::string& line : last_server().heard()) {
      const auto message = tests::json(line).as_object();
      if (!message.contains("method") || message.at("method") != "tools/call") continue;
      last_server().say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(message.at("id")) +
                        R"(,"result":{"content":[]}})");
    }
    settle();
  }
  /// The tree of the last server ends, and that is proved.
  void end_server() {
    last_server().exit(0);
    settle();
  }

  Replies ask(control::Hello hello, const std::string& confinement = {}) {
    const auto replies = std::make_shared<std::vector<control::Reply>>();
    hello.version = hello.version.empty() ? "1.0.0" : hello.version;
    hub.answer({std::move(hello), 4711, confinement},
               [replies](const control::Reply& reply) { replies->push_back(reply); });
    settle();
    return replies;
  }
  Replies ask(control::Verb verb, const std::string& server = {}) {
    control::Hello hello;
    hello.verb = verb;
    hello.server = server;
    return ask(std::move(hello));
  }

  void settle() {
    for (int turn = 0; turn < 8; ++turn) loop.run_due();
  }
  void pass(Clock::duration time) {
    clock.pass(time);
    settle();
  }
  /// In small steps, for what looks again and again.
  template <class Condition>
  bool until(Condition condition, Clock::duration most = std::chrono::seconds(30)) {
    const Clock::time_point give_up = Clock::now() + most;
    while (!condition() && Clock::now() < give_up) pass(std::chrono::milliseconds(5));
    return condition();
  }
  /// The events of this kind, as "cause: text".
  std::vector<std::string> events_of(events::Kind kind) const {
    std::vector<std::string> found;
    for (const events::Event& event : told) {
      if (event.kind == kind) found.push_back(event.cause + ": " + event.text);
    }
    return found;
  }

  tests::HeldClock clock;
  Loop loop;
  tests::FakeSpawner spawner;
  Records records{loop, "", std::chrono::hours(1)};
  config::Configuration file;  // what the next reload reads …
  std::string file_problem;    // … unless it fails
  std::vector<events::Event> told;
  std::map<pid_t, survey::Background> backgrounds;  // what a look at a client's process finds
  int looks = 0;
  Hub hub;

 private:
  static std::pair<UniqueFd, UniqueFd> new_pipe() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw std::runtime_error("no pipe");
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
  }
  Result<config::Configuration> read_file() const {
    if (!file_problem.empty()) return Error{file_problem};
    return file;
  }
};

}  // namespace corral::daemon
