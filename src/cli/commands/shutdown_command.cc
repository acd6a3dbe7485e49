// `corral shutdown`: ends the daemon and all its sessions and servers.
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "control/runtime_dir.h"
#include "serve/instance_lock.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral shutdown
  corral shutdown --runtime-dir /tmp/try

Ends all sessions and servers, waits until the daemon and its janitor have exited, and prints what has ended.
Exit code: 0, even if no daemon is running; 125 if the daemon does not answer or does not end.)";

// Longer than the daemon and its janitor may take.
constexpr std::chrono::seconds kGonePatience{20};

int run(const std::string& given, const std::vector<std::string>& args) {
  const Result<void> nothing_more = expect_no_args(args);
  if (!nothing_more) return fail("shutdown", nothing_more.error().message);
  const control::DaemonAnswer answer =
      ask_patiently("shutdown", given, control::verb_hello(control::Verb::Shutdown));
  if (answer.kind == control::DaemonAnswer::Kind::NoDaemon) {
    std::cout << as_sentence(answer.text) << '\n';
    return 0;
  }
  if (!answer.ok()) return fail_for("shutdown", answer);
  for (const std::string& place : control::candidates(given, geteuid())) {
    if (control::check_runtime_dir(place) && !serve::await_free_lock(place, kGonePatience)) {
      return fail("shutdown", "the daemon has confirmed its end, but it or its janitor still holds '" +
                                  control::lock_path(place) + "'");
    }
  }
  std::cout << (answer.text.empty() ? "The daemon has ended." : answer.text) << '\n';
  return 0;
}

}  // namespace

Command shutdown_command() {
  auto runtime_dir = std::make_shared<std::string>();

  Command command;
  command.name = "shutdown";
  command.summary = "End the daemon, its sessions and its servers.";
  command.usage = "corral shutdown [options]";
  command.examples = kExamples;
  command.options.push_back(runtime_dir_option(*runtime_dir));
  command.run = [runtime_dir](const std::vector<std::string>& args) { return run(*runtime_dir, args); };
  return command;
}

}  // namespace corral::cli
