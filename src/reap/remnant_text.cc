#include "reap/remnant_text.h"

#include <csignal>

#include "base/text.h"

namespace corral::reap {
namespace {

std::string how_it_was_killed(Outcome::Killed killed) {
  switch (killed) {
    case Outcome::Killed::AfterAsking: return "did not exit after SIGTERM and was killed with SIGKILL";
    case Outcome::Killed::AtOnce:
      return "appeared while the others were being killed and was killed with SIGKILL";
    case Outcome::Killed::WithGroup: break;
  }
  return "was found only in the cgroup of this server and was killed with SIGKILL";
}

std::string what_happened(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::Ended:
      return outcome.signal == SIGKILL ? how_it_was_killed(outcome.killed) : "was ended with SIGTERM";
    case Outcome::Kind::AlreadyGone: return "exited before it was signalled";
    case Outcome::Kind::NoPermission:
      return "cannot be signalled by this user: end it as the user that it runs as";
    case Outcome::Kind::Uninterruptible:
      return "was sent SIGKILL, but is blocked in a system call: it ends when the call "
             "returns";
    case Outcome::Kind::StillThere: return "was sent SIGKILL and is still running: see `corral doctor`";
    case Outcome::Kind::NotProved:
      return "may belong to this server, but that cannot be proved, so it was left alone: inspect it, and "
             "end it "
             "by hand";
    case Outcome::Kind::OtherUser: return "now runs as another user and was left alone: end it as that user";
    case Outcome::Kind::Debugged: return "is being debugged and was left alone: detach the debugger";
    case Outcome::Kind::OwnAncestor:
      return "started this daemon, so its tree was left alone: start the daemon from somewhere else";
    case Outcome::Kind::OtherInstance:
      return "belongs to a corral inside this server whose keeper is running, so it was left alone: see "
             "`corral doctor`";
  }
  return "?";
}

}  // namespace

std::string remnant_text(const registry::InstanceRecord& instance, const Outcome& outcome) {
  constexpr std::size_t kShownDigits = 8;
  return "left by an earlier daemon: server " + printable(instance.server) + ", instance " +
         printable(instance.id.substr(0, kShownDigits)) + ": process " + std::to_string(outcome.pid) + " (" +
         printable(outcome.comm) + ") " + what_happened(outcome);
}

}  // namespace corral::reap
