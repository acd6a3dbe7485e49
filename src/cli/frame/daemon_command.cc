#include "cli/frame/daemon_command.h"

#include <unistd.h>

#include <boost/json/parse.hpp>
#include <iostream>
#include <utility>

#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "control/runtime_dir.h"
#include "serve/pid_file.h"

namespace corral::cli {
namespace {

using control::DaemonAnswer;
using control::Verb;

/// From the pid file, because a daemon that hangs does not answer. 0 = not known.
pid_t pid_of_daemon(const std::string& runtime_dir) {
  for (const std::string& place : control::candidates(runtime_dir, geteuid())) {
    const std::optional<serve::PidRecord> record = serve::read_pid_file(control::pid_path(place));
    if (record && control::connect_to_daemon(place)) return record->pid;
  }
  return 0;
}

/// Which daemon does not answer, and what to do about it.
std::string hanging_daemon(const std::string& runtime_dir) {
  const pid_t pid = pid_of_daemon(runtime_dir);
  const std::string number = pid > 0 ? std::to_string(pid) : "PID";
  return "the daemon " + (pid > 0 ? "(pid " + number + ") " : std::string()) +
         "does not answer: it hangs or was stopped. `kill -CONT " + number +
         "` continues a stopped daemon; `kill -KILL " + number +
         "` ends a hanging one, and its janitor ends its servers";
}

/// For long requests: the daemon may be busy with this request, or hang. A second request shows which.
control::DaemonRequest::Late give_up_on_hanging_daemon(const std::string& command,
                                                       const std::string& runtime_dir) {
  return [command, runtime_dir, said = false]() mutable -> Result<void> {
    if (!std::exchange(said, true)) {
      std::cerr << "corral " << command << ": the daemon has not answered for 10 s; still waiting"
                << std::endl;
    }
    const DaemonAnswer status = control::ask_daemon(runtime_dir, control::status_hello());
    // A daemon that cannot be reached is ending: wait for the answer or the end of the connection.
    if (status.kind != DaemonAnswer::Kind::Silent) return {};
    return Error{status.text};
  };
}

/// Whether the daemon can answer at once, without waiting for anything.
bool only_tells(Verb verb) { return verb == Verb::Status || verb == Verb::Info || verb == Verb::SessionList; }

Command command_from(const DaemonCommand& what) {
  Command command;
  command.name = what.name;
  command.summary = what.summary;
  command.usage =
      "corral " + what.name + " [options]" + (what.takes == DaemonCommand::Takes::ServerName ? " NAME" : "");
  command.examples = what.examples;
  if (what.takes == DaemonCommand::Takes::ServerName) command.argument.kind = Argument::Kind::Server;
  command.options = what.options;
  command.options_anywhere = what.takes == DaemonCommand::Takes::ServerName;
  return command;
}

/// Stores the name of the server in `options`, if the command takes one.
Result<void> read_args(const DaemonCommand& what, const std::vector<Option>& known, DaemonOptions& options,
                       const std::vector<std::string>& args) {
  if (what.takes == DaemonCommand::Takes::Nothing) return expect_no_args(args);
  const Result<std::vector<std::string>> rest = apply_late_options(known, args);
  if (!rest) return rest.error();
  if (rest->size() != 1 || rest->front().empty()) {
    return Error{"give the name of one server; `corral list` lists them"};
  }
  options.server = rest->front();
  return {};
}

int run(const DaemonCommand& what, const DaemonOptions& options) {
  if (const std::optional<int> code = what.instead ? what.instead(options) : std::nullopt) return *code;
  control::Hello hello = what.hello;
  hello.server = options.server;
  if (what.measures_for_people && !options.json) hello.measure = true;
  const AnswerOrExit asked = ask_daemon(what.name, options.runtime_dir, std::move(hello));
  if (!asked.answer) return asked.exit_code;
  const boost::json::value& answer = asked.answer->value;
  if (options.json) {
    std::cout << (what.as_json ? what.as_json(answer) : asked.answer->text) << '\n';
  } else {
    what.show(answer, options);
  }
  return what.exit_code ? what.exit_code(answer) : 0;
}

}  // namespace

Result<JsonAnswer> read_answer(DaemonAnswer answer) {
  if (!answer.ok()) return Error{std::move(answer.text)};
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(answer.text, error);
  if (!error) return JsonAnswer{std::move(answer.text), std::move(value)};
  return Error{"the daemon sent invalid JSON (" + error.message() +
               "): it is another version; `corral serve --replace` starts this version"};
}

DaemonAnswer ask_patiently(const std::string& command, const std::string& runtime_dir, control::Hello hello) {
  const bool tells = only_tells(hello.verb);
  DaemonAnswer answer = control::ask_daemon(
      runtime_dir, std::move(hello),
      tells ? std::chrono::milliseconds(control::kTellPatience) : control::kWorkPatience,
      tells ? control::DaemonRequest::Late() : give_up_on_hanging_daemon(command, runtime_dir));
  if (answer.kind == DaemonAnswer::Kind::Silent) answer.text = hanging_daemon(runtime_dir);
  return answer;
}

int fail_for(const std::string& command, const DaemonAnswer& answer) {
  const int code = fail(command, answer.text);
  return answer.kind == DaemonAnswer::Kind::NoDaemon ? kNoDaemonRuns : code;
}

AnswerOrExit ask_daemon(const std::string& command, const std::string& runtime_dir, control::Hello hello) {
  DaemonAnswer answer = ask_patiently(command, runtime_dir, std::move(hello));
  if (!answer.ok()) return {std::nullopt, fail_for(command, answer)};
  Result<JsonAnswer> parsed = read_answer(std::move(answer));
  if (!parsed) return {std::nullopt, fail(command, parsed.error().message)};
  return {std::move(*parsed), 0};
}

KnownStatus status_if_running(const std::string& runtime_dir, std::chrono::milliseconds patience) {
  const Result<JsonAnswer> parsed =
      read_answer(control::ask_daemon(runtime_dir, control::status_hello(), patience));
  if (!parsed || !parsed->value.is_object()) return std::nullopt;
  return observe::read_status(parsed->value);
}

Command daemon_command(DaemonCommand what) {
  Command command = command_from(what);
  const auto options = std::make_shared<DaemonOptions>();
  command.options.push_back({"--json", "", what.json_help, set_flag(options->json)});
  command.options.push_back(runtime_dir_option(options->runtime_dir));
  command.run = [options, known = command.options,
                 what = std::move(what)](const std::vector<std::string>& args) {
    const Result<void> taken = read_args(what, known, *options, args);
    return taken ? run(what, *options) : fail(what.name, taken.error().message);
  };
  return command;
}

int print_json(const AnswerOrExit& asked) {
  if (!asked.answer) return asked.exit_code;
  std::cout << asked.answer->text << '\n';
  return 0;
}

int print_answer(const AnswerOrExit& asked,
                 const std::function<void(const boost::json::value& answer)>& show) {
  if (!asked.answer) return asked.exit_code;
  show(asked.answer->value);
  return 0;
}

}  // namespace corral::cli
