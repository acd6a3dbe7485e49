// Ends whole process trees that corral did not start, and nothing else. Every process is opened by its
// identity (its pid may have been reused) and signalled only through that descriptor. Processes that the tree
// starts in the meantime are found and ended too.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "proc/identity.h"
#include "survey/protection.h"
#include "survey/survey.h"

namespace corral::reap {

struct Graces {
  std::chrono::milliseconds term{2000};  // from SIGTERM to SIGKILL
  std::chrono::milliseconds kill{2000};  // from SIGKILL to giving up
};

struct Outcome {
  enum class Kind : std::uint8_t {
    Ended,
    AlreadyGone,
    NoPermission,
    Uninterruptible,  // blocked in a system call; it ends when the call returns
    StillThere,       // survived SIGKILL for another reason
    NotProved,        // exists, but cannot be opened as the process that was seen; left alone
    OtherUser,
    Debugged,
    OwnAncestor,
    OtherInstance,  // belongs to a corral inside the tree whose running keeper is responsible; left alone
  };
  /// Why SIGKILL was used, if it was.
  enum class Killed : std::uint8_t {
    AfterAsking,
    AtOnce,     // found after the SIGTERM grace was over
    WithGroup,  // only its cgroup showed that it belongs to the instance
  };

  pid_t pid = 0;
  std::string comm;
  Kind kind = Kind::Ended;
  int signal = 0;  // the last signal sent to it
  Killed killed = Killed::AfterAsking;

  bool gone() const { return kind == Kind::Ended || kind == Kind::AlreadyGone; }
};

/// The name used in JSON.
const char* name_of(Outcome::Kind kind);

/// The outcome for a single process that was spared for this reason.
Outcome::Kind outcome_of(survey::Protection protection);

struct EndedTree {
  pid_t pid = 0;                  // the top process
  std::vector<Outcome> outcomes;  // for each process, including those found later
  bool gone() const;              // nothing of the tree is left
};

/// Ends all trees at once; the results are in the given order. Blocking; bounded by the graces. Protections
/// are checked again here, whatever was selected.
std::vector<EndedTree> end_trees(const std::vector<const survey::Server*>& servers, const Graces& graces);

}  // namespace corral::reap
