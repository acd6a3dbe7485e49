// The messages between a keeper and its owner on the lifeline, a SOCK_SEQPACKET pair: one struct is one
// packet. Both ends must come from the same build, which the plan proves (plan.h); a keeper of another build
// sends a Refusal and nothing else. Closing the lifeline is a message too: the other side learns that its
// peer is gone.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "keeper/report.h"

namespace corral::keeper {

/// Descriptors of a keeper.
inline constexpr int kLifelineFd = 3;
inline constexpr int kPlanFd = 4;
inline constexpr int kReportFd = 5;  // only if the plan asks for a report
inline constexpr int kFirstFreeFd = 6;

/// Owner to keeper.
struct Command {
  enum class Kind : std::uint8_t { Stop, Forward } kind;
  Reason reason = Reason::Signal;  // Stop: Signal ends at once, ClientGone allows a short grace
  int signo = 0;                   // Forward: sent to the server only
};

/// The step of a start that failed; the owner turns it into an error message.
enum class Stage : std::uint8_t {
  None,
  Plan,
  Fork,
  Namespace,
  IdMap,
  MountProc,
  Cgroup,
  ChangeDirectory,
  Execute,
};

/// Keeper to owner: the plan comes from another build or is damaged. The layout of this packet never changes.
struct Refusal {
  static constexpr char kWord[8] = "no plan";
  char word[8] = "no plan";
  char build[56] = {};  // version and date of the keeper
};

/// Keeper to owner.
struct Event {
  enum class Kind : std::uint8_t { Started, Failed, Ended } kind;
  Stage stage = Stage::None;  // Failed
  int error = 0;              // Failed: errno
  pid_t server = 0;           // Started: in the keeper's PID namespace
  Level level;
  std::uint64_t rlimit_tag = 0;                    // Started: 0 = the hard limit leaves no room for a tag
  bool report_lost = false;                        // Failed, Ended: the report file could not be written
  char helper_build[sizeof(Refusal::build)] = {};  // Failed at Stage::Plan: the build of the keeper
  Report report;                                   // Failed, Ended
};

}  // namespace corral::keeper
