// Ends whole process trees that are not ours, and nobody else. Every process is opened by its identity (a
// number may belong to a stranger by now) and signalled only through what was opened; what the tree started
// meanwhile is found and ended with it.
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
    Uninterruptible,  // in a system call that cannot be interrupted; it ends when that returns
    StillThere,       // survived SIGKILL for another reason
    NotProved,        // it is there, but cannot be opened as the one that was seen; left alone
    OtherUser,
    Debugged,
    OwnAncestor,
    OtherInstance,  // of a corral inside the tree, whose keeper lives and answers for it; left alone
  };
  /// How it came to SIGKILL, if it did.
  enum class Killed : std::uint8_t {
    AfterAsking,
    AtOnce,     // it was found when the time for asking was over
    WithGroup,  // nothing but its cgroup said whose it is
  };

  pid_t pid = 0;
  std::string comm;
  Kind kind = Kind::Ended;
  int signal = 0;  // the last one it got
  Killed killed = Killed::AfterAsking;

  bool gone() const { return kind == Kind::Ended || kind == Kind::AlreadyGone; }
};

const char* name_of(Outcome::Kind kind);

/// What became of a single process that was spared for this reason.
Outcome::Kind outcome_of(survey::Protection protection);

struct EndedTree {
  pid_t pid = 0;                  // its top
  std::vector<Outcome> outcomes;  // of each process, those found on the way included
  bool gone() const;              // nothing of it is left
};

/// In the order given, all at once. Bounded by the graces. What must not be touched is looked up anew,
/// whatever was selected.
std::vector<EndedTree> end_trees(const std::vector<const survey::Server*>& servers, const Graces& graces);

}  // namespace corral::reap
