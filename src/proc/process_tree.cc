#include "proc/process_tree.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace corral::proc {

const keeper::Event* ProcessTree::take_event() {
  static keeper::Event event;  // too large for the stack; only one thread reads events
  const ssize_t got = recv(parts_.lifeline.get(), &event, sizeof event, MSG_DONTWAIT);
  keeper::Refusal refusal;
  if (got == sizeof refusal) {
    memcpy(static_cast<void*>(&refusal), static_cast<const void*>(&event), sizeof refusal);
    event = {};
    event.kind = keeper::Event::Kind::Failed;
    event.stage = keeper::Stage::Plan;
    refusal.build[sizeof refusal.build - 1] = '\0';
    memcpy(event.helper_build, refusal.build, sizeof refusal.build);
    return memcmp(refusal.word, keeper::Refusal::kWord, sizeof refusal.word) == 0 ? &event : nullptr;
  }
  return got == sizeof event ? &event : nullptr;
}

void ProcessTree::stop(keeper::Reason reason) {
  send({keeper::Command::Kind::Stop, reason, 0});
  // A stopped keeper would not read the command.
  if (parts_.keeper_pidfd.valid()) keeper::pidfd_send_signal(parts_.keeper_pidfd.get(), SIGCONT);
}

void ProcessTree::kill_keeper() {
  if (parts_.keeper_pidfd.valid()) {
    keeper::pidfd_send_signal(parts_.keeper_pidfd.get(), SIGKILL);
    return;
  }
  siginfo_t info{};
  const bool unreaped =
      waitid(P_PID, static_cast<id_t>(parts_.keeper), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  if (unreaped) kill(parts_.keeper, SIGKILL);  // otherwise its pid may belong to another process
}

void ProcessTree::forward(int signo) {
  send({keeper::Command::Kind::Forward, keeper::Reason::Signal, signo});
}

std::optional<keeper::Report> ProcessTree::wait_ended() {
  for (;;) {
    pollfd wake{events(), POLLIN, 0};
    if (poll(&wake, 1, -1) < 0 && errno != EINTR) return std::nullopt;
    const keeper::Event* event = take_event();
    if (event == nullptr && (wake.revents & POLLHUP) != 0) return std::nullopt;
    if (event != nullptr && event->kind != keeper::Event::Kind::Started) return event->report;
  }
}

/// Errors are ignored: a keeper that is gone is detected elsewhere.
void ProcessTree::send(const keeper::Command& command) {
  ::send(parts_.lifeline.get(), &command, sizeof command, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace corral::proc
