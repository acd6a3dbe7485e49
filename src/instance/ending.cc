#include "instance/ending.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "keeper/report.h"
#include "proc/start_failure.h"

namespace corral::instance {
namespace {

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) {
    const char* name = sigabbrev_np(WTERMSIG(status));
    return "was ended by SIG" + std::string(name != nullptr ? name : std::to_string(WTERMSIG(status)));
  }
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

int shell_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

int exit_code_of(const Error& error) {
  switch (error.kind) {
    case Error::Kind::NotFound: return 127;
    case Error::Kind::NotExecutable: return 126;
    case Error::Kind::Failure: break;
  }
  return 125;
}

TreeEnd ending_of(const keeper::Event& event, const std::string& executable, const std::string& directory) {
  const keeper::Report& report = event.report;
  TreeEnd ending;
  ending.proved_empty = report.proved_empty;
  ending.ended_processes = report.ended_total;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(report.survivors, keeper::kListedSurvivors); ++i) {
    const keeper::Survivor& survivor = report.survivor[i];
    ending.survivors.push_back({survivor.pid, survivor.comm, keeper::cause_name(survivor.cause)});
  }
  if (event.kind == keeper::Event::Kind::Failed) {
    const Error error = proc::explain_start_failure(event, executable, directory);
    ending.sentence = "could not be started: " + error.message;
    ending.exit_code = exit_code_of(error);
  } else if (report.server_status_known) {
    ending.sentence = describe_status(report.server_status);
    ending.exit_code = shell_code(report.server_status);
  } else {
    ending.sentence = "ended";
  }
  return ending;
}

TreeEnd ending_without_keeper(KeeperWatch::Loss loss) {
  TreeEnd ending;
  ending.sentence = loss == KeeperWatch::Loss::TooSlow
                        ? "lost its keeper, which did not end it in time and was killed"
                        : "lost its keeper, which another process killed";
  ending.exit_code = 125;
  ending.keeper_lost = true;
  return ending;
}

}  // namespace corral::instance
