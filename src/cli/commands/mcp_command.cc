// `corral mcp`: the control server, an MCP server whose tools control corral, on stdin and stdout.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>

#include "base/loop.h"
#include "base/worker.h"
#include "cli/commands/control_daemon.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "observe/control_server.h"
#include "observe/control_tools.h"
#include "shim/standard_io.h"
#include "version.h"
#include "wire/line_pipe.h"

namespace corral::cli {
namespace {

using control::Verb;

constexpr const char* kExamples = R"(Examples:
  corral connect corral                        for a client's configuration: the daemon runs this command for it
  corral call corral get_server_info           the same, from a shell
  corral mcp                                   the server alone, for a client that starts it itself

Tools: get_server_info, list_servers, list_sessions, server_logs; end_session, restart_server, stop_server,
start_server, reap. It ends when its input ends. It asks the running daemon and never starts one.
Exit code: 0; 125 for invalid arguments. docs/control-server.md has more.)";

/// How long requests from before the end of the input may still take.
constexpr std::chrono::seconds kLastAnswers{10};

observe::ControlFunctions functions_for(const std::shared_ptr<const ControlDaemon>& daemon) {
  using Arguments = boost::json::object;
  const auto server_verb = [daemon](Verb verb) {
    return [daemon, verb](const Arguments& arguments) { return daemon->handle_server(verb, arguments); };
  };
  observe::ControlFunctions functions;
  functions.get_server_info = [daemon](const Arguments&) { return daemon->get_server_info(); };
  functions.list_servers = [daemon](const Arguments&) { return daemon->list_servers(); };
  functions.list_sessions = [daemon](const Arguments&) { return daemon->list_sessions(); };
  functions.end_session = [daemon](const Arguments& arguments) { return daemon->end_session(arguments); };
  functions.restart_server = server_verb(Verb::Restart);
  functions.stop_server = server_verb(Verb::Stop);
  functions.start_server = server_verb(Verb::Start);
  functions.reap = reap_tool;
  functions.server_logs = [daemon](const Arguments& arguments) { return daemon->server_logs(arguments); };
  return functions;
}

/// Connects the control server to stdin and stdout, and to the thread that runs its tools.
class StandardServer : wire::LinePipe::Handler {
 public:
  explicit StandardServer(std::vector<observe::Tool> tools)
      : server_(std::move(tools), {kVersion, [this](const std::string& message) { pipe_.send(message); },
                                   [this](std::function<void()> job, std::function<void()> done) {
                                     worker_.run(std::move(job), [this, done = std::move(done)] {
                                       done();
                                       leave_if_done();
                                     });
                                   }}),
        last_answers_(loop_),
        pipe_(loop_, copy_of(STDIN_FILENO), copy_of(STDOUT_FILENO), observe::ControlServer::kLongestLine,
              *this),
        worker_(loop_) {}

  /// False if a tool is still running, whose answer is no longer wanted.
  bool run() {
    pipe_.resume();
    loop_.run();
    return server_.open_calls() == 0;
  }

 private:
  static UniqueFd copy_of(int fd) { return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 3)); }

  void on_message(const wire::Message& message) override {
    server_.take(message.text());
    pause_if_congested();
  }
  void on_oversized(const wire::Oversized& oversized) override {
    server_.take_oversized(oversized.id);
    pause_if_congested();
  }
  void on_input_end() override {
    input_ended_ = true;
    last_answers_.start(kLastAnswers, [this] { loop_.stop(); });
    leave_if_done();
  }
  void on_output_lost() override { loop_.stop(); }
  void on_output_drained() override { pipe_.resume(); }
  void on_output_closed() override { loop_.stop(); }

  /// Stops reading requests while the client does not read answers.
  void pause_if_congested() {
    if (pipe_.congested()) pipe_.pause();
  }

  void leave_if_done() {
    if (input_ended_ && server_.open_calls() == 0) pipe_.close_output_when_flushed();
  }

  Loop loop_;
  observe::ControlServer server_;
  Timer last_answers_;
  wire::LinePipe pipe_;
  bool input_ended_ = false;
  Worker worker_;  // last, so destroyed first: its thread may use the other members
};

int run(const std::string& runtime_dir, const std::vector<std::string>& args) {
  const Result<void> none = expect_no_args(args);
  if (!none) return fail("mcp", none.error().message);
  signal(SIGPIPE, SIG_IGN);  // a client that has gone is reported by write(), not by a signal
  const shim::KeptFlags flags;
  StandardServer server(
      observe::control_tools(functions_for(std::make_shared<const ControlDaemon>(runtime_dir))));
  const bool idle = server.run();
  flags.restore();
  if (!idle) _exit(0);  // the destructor would join a thread that may still wait for the daemon
  return 0;
}

}  // namespace

Command mcp_command() {
  auto runtime_dir = std::make_shared<std::string>();
  Command command;
  command.name = "mcp";
  command.summary = "Run the control server: an MCP server for corral itself, on stdin and stdout.";
  command.usage = "corral mcp [options]";
  command.examples = kExamples;
  command.options.push_back(runtime_dir_option(*runtime_dir));
  command.run = [runtime_dir](const std::vector<std::string>& args) { return run(*runtime_dir, args); };
  return command;
}

}  // namespace corral::cli
