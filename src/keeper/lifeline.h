// What a keeper and its owner say to each other over the life line, a SOCK_SEQPACKET pair: one struct is one
// packet. Both ends come from one build, which the plan proves (plan.h); a keeper of another build says so
// and nothing else. Closing the life line is a message too: whoever sees it knows that the other is gone.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "keeper/report.h"

namespace corral::keeper {

/// Where a keeper finds what its owner gave it.
inline constexpr int kLifelineFd = 3;
inline constexpr int kPlanFd = 4;
inline constexpr int kReportFd = 5;  // only if the plan says so
inline constexpr int kFirstFreeFd = 6;

/// Owner to keeper.
struct Command {
  enum class Kind : std::uint8_t { Stop, Forward } kind;
  Reason reason = Reason::Signal;  // Stop: Signal ends at once, ClientGone leaves a moment for a polite exit
  int signo = 0;                   // Forward: to the server alone
};

/// The step of a start that failed; the owner turns it into a sentence.
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

/// Keeper to owner: the plan is of another build, or damaged. The one packet whose layout never changes.
struct Refusal {
  static constexpr char kWord[8] = "no plan";
  char word[8] = "no plan";
  char build[56] = {};  // the keeper's own version and date
};

/// Keeper to owner.
struct Event {
  enum class Kind : std::uint8_t { Started, Failed, Ended } kind;
  Stage stage = Stage::None;  // Failed
  int error = 0;              // Failed: errno
  pid_t server = 0;           // Started: as the keeper's own namespace numbers it
  Level level;
  std::uint64_t rlimit_tag = 0;                    // Started: 0 = the hard limit left no room for a tag
  bool report_lost = false;                        // Failed, Ended: the report file could not be written
  char helper_build[sizeof(Refusal::build)] = {};  // Failed at Stage::Plan: which build the keeper is
  Report report;                                   // Failed, Ended
};

}  // namespace corral::keeper
