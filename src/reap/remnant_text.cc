#include "reap/remnant_text.h"

#include <csignal>

namespace corral::reap {
namespace {

/// A process names itself.
std::string harmless(const std::string& text) {
  std::string shown;
  for (const char letter : text) shown += letter >= ' ' && letter <= '~' ? letter : '?';
  return shown;
}

std::string how_it_was_killed(Outcome::Killed killed) {
  switch (killed) {
    case Outcome::Killed::AfterAsking: return "did not end on SIGTERM and was ended with SIGKILL";
    case Outcome::Killed::AtOnce: return "came up while the others were killed and was ended with SIGKILL";
    case Outcome::Killed::WithGroup: break;
  }
  return "was found only in the control group of this server and was ended with SIGKILL";
}

std::string what_happened(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::Ended:
      return outcome.signal == SIGKILL ? how_it_was_killed(outcome.killed) : "was ended with SIGTERM";
    case Outcome::Kind::AlreadyGone: return "ended before it was signalled";
    case Outcome::Kind::NoPermission: return "may not be signalled by us: end it as the user that it runs as";
    case Outcome::Kind::Uninterruptible:
      return "was sent SIGKILL, but is in a system call that cannot be interrupted: it ends when that "
             "returns";
    case Outcome::Kind::StillThere: return "was sent SIGKILL and is still there: see `corral doctor`";
    case Outcome::Kind::NotProved:
      return "may be of this server, but that cannot be proved, so it was left alone: look at it, and end it "
             "by hand";
    case Outcome::Kind::OtherUser:
      return "runs as another user by now and was left alone: end it as that user";
    case Outcome::Kind::Debugged: return "is being debugged and was left alone: detach the debugger";
    case Outcome::Kind::OwnAncestor:
      return "started this daemon, so its tree was left alone: start the daemon from somewhere else";
    case Outcome::Kind::OtherInstance:
      return "is of a corral that runs inside this server, whose keeper lives, and was left alone: see "
             "`corral doctor`";
  }
  return "?";
}

}  // namespace

std::string remnant_text(const registry::InstanceRecord& instance, const Outcome& outcome) {
  constexpr std::size_t kShownDigits = 8;
  return "left by an earlier daemon: server " + harmless(instance.server) + ", instance " +
         harmless(instance.id.substr(0, kShownDigits)) + ": process " + std::to_string(outcome.pid) + " (" +
         harmless(outcome.comm) + ") " + what_happened(outcome);
}

}  // namespace corral::reap
