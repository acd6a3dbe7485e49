#include "cli/frame/ask_daemon.h"

#include <unistd.h>

#include <boost/json/parse.hpp>
#include <iostream>
#include <memory>
#include <utility>

#include "cli/frame/command.h"
#include "control/channel.h"
#include "control/runtime_dir.h"
#include "serve/pid_file.h"

namespace corral::cli {
namespace {

/// By the pid file: the daemon itself does not say it. 0 = not known.
pid_t pid_of_daemon(const std::string& runtime_dir) {
  for (const std::string& place : control::candidates(runtime_dir, geteuid())) {
    const std::optional<serve::PidRecord> record = serve::read_pid_file(control::pid_path(place));
    if (record && control::connect_to_daemon(place)) return record->pid;
  }
  return 0;
}

/// Whether it only tells, so that there is nothing for which the daemon would have to wait itself.
bool only_tells(control::Verb verb) {
  return verb == control::Verb::Info || verb == control::Verb::SessionList;
}

}  // namespace

Error hanging_daemon(const std::string& runtime_dir) {
  const pid_t pid = pid_of_daemon(runtime_dir);
  const std::string number = pid > 0 ? std::to_string(pid) : "PID";
  return Error{"the daemon " + (pid > 0 ? "(pid " + number + ") " : std::string()) +
               "does not answer: it hangs or was stopped. `kill -CONT " + number +
               "` wakes one that was stopped; `kill -KILL " + number +
               "` ends one that hangs, and its janitor ends its servers"};
}

control::Late give_up_on_hanging_daemon(const std::string& command, const std::string& runtime_dir) {
  return [command, runtime_dir, said = std::make_shared<bool>(false)]() -> Result<void> {
    if (!std::exchange(*said, true)) {
      std::cerr << "corral " << command << ": the daemon has not answered for 10 s; still waiting"
                << std::endl;
    }
    Result<control::Channel> beside = control::connect_to_daemon(runtime_dir);
    if (!beside) return {};  // it is leaving: the answer, or the end of the line, tells
    const Result<std::string> status = control::ask_status(*beside, kTellPatience);
    if (status || !beside->timed_out()) return {};
    return hanging_daemon(runtime_dir);
  };
}

Asked ask_daemon(const std::string& command, const std::string& runtime_dir, control::Hello hello) {
  Result<control::Channel> channel = control::connect_to_daemon(runtime_dir);
  if (!channel && channel.error().kind == Error::Kind::NotFound) {
    std::cerr << "corral " << command << ": no daemon runs; `corral connect` starts one, or `corral serve`\n";
    return {std::nullopt, nullptr, kNoDaemonRuns};
  }
  if (!channel) return {std::nullopt, nullptr, fail(command, channel.error().message)};
  const bool tells = only_tells(hello.verb);
  Result<std::string> result = control::ask_for_result(
      *channel, std::move(hello), tells ? std::chrono::milliseconds(kTellPatience) : kAnswerPatience,
      tells ? control::Late() : give_up_on_hanging_daemon(command, runtime_dir));
  if (!result && channel->timed_out()) result = hanging_daemon(runtime_dir);
  if (!result) return {std::nullopt, nullptr, fail(command, result.error().message)};
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(*result, error);
  if (error) {
    return {std::nullopt, nullptr,
            fail(command, "the daemon's answer is no JSON (" + error.message() +
                              "): it is of another version; `corral serve --replace` starts this one")};
  }
  return {std::move(*result), std::move(value), 0};
}

}  // namespace corral::cli
