#include "keeper/terminator.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "keeper/launch.h"

namespace corral::keeper {
namespace {

/// Standard output belongs to the protocol, so the output of a terminator goes to standard error.
[[noreturn]] void become_terminator(char** arguments) {
  setsid();
  reset_signals();
  let_go(STDIN_FILENO, O_RDONLY);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  close_on_exec_from(3);
  execve(arguments[0], arguments, environ);
  _exit(127);
}

bool await_exit(pid_t pid, Micros deadline, int& status) {
  sigset_t deaths;
  sigemptyset(&deaths);
  sigaddset(&deaths, SIGCHLD);
  for (;;) {
    if (waitpid(pid, &status, WNOHANG) == pid) return true;
    const Micros left = deadline - now();
    if (left <= Micros(0)) return false;
    // Short slices, because the SIGCHLD of this death may have been merged with another one.
    const Micros slice = left < Micros(100'000) ? left : Micros(100'000);
    const timespec timeout{0, slice.count() * 1000};
    sigtimedwait(&deaths, nullptr, &timeout);
  }
}

}  // namespace

void run_terminators(const Plan& plan, Sweep& sweep, Report& report) {
  for (std::uint32_t i = 0; i < plan.header.terminators; ++i) {
    TerminatorResult& result = report.terminator[report.terminators++];
    result = {plan.header.terminator_kind[i], false, 0, Micros(0)};
    const Micros started = now();
    const pid_t pid = fork();
    if (pid == 0) become_terminator(plan.terminator[i]);
    if (pid > 0) result.finished = await_exit(pid, started + plan.header.terminator_time, result.wait_status);
    // Processes that a terminator leaves behind are ended too, but are not part of the server's report.
    sweep.kill_all(0, plan.header.graces.kill, Sweep::Record::Leader);
    result.took = now() - started;
  }
}

}  // namespace corral::keeper
