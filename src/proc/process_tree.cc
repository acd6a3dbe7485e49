#include "proc/process_tree.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace corral::proc {

const keeper::Event* ProcessTree::take_event() {
  static keeper::Event event;  // too large for a stack; the loop thread is the only reader
  const ssize_t got = recv(parts_.lifeline.get(), &event, sizeof event, MSG_DONTWAIT);
  return got == sizeof event ? &event : nullptr;
}

void ProcessTree::stop(keeper::Reason reason) { send({keeper::Command::Kind::Stop, reason, 0}); }

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

/// A keeper that is gone cannot be told anything; its end shows elsewhere.
void ProcessTree::send(const keeper::Command& command) {
  ::send(parts_.lifeline.get(), &command, sizeof command, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace corral::proc
