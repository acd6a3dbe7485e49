// Whether what the daemon believes of its instances and what the kernel says agree. The judgement is pure;
// the reader takes one pass through /proc, and belongs on a worker. A look is never of one instant: an
// instance may start or end between the two lists, so only what two looks in a row find counts (`lasting`).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "registry/registry.h"

namespace corral::reap {

/// A living process as the kernel lists it.
struct Listed {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t start_ticks = 0;
  std::string comm{};
  std::string cookie{};  // only of processes of our user; empty = none
  bool tagged = false;   // has the limit of a keeper's tree, too, so the cookie was not just copied
};

struct Disagreement {
  enum class Kind : std::uint8_t {
    KeeperGone,   // the record lives and so does the tree, but nobody holds it
    NothingLeft,  // the record lives, and nothing of it does
    Stray,        // carries the cookie of an instance, but its keeper does not hold it
    Orphan,       // was started by a `corral run` that is gone
  };
  /// What may be done about it without asking.
  enum class Repair : std::uint8_t {
    None,    // reported, and left to people
    End,     // end_instance (remnants.h) of that record
    Forget,  // the same, which then finds nothing: the journal is told that it has ended
  };

  Kind kind = Kind::Orphan;
  Repair repair = Repair::None;
  std::string server{};    // empty = not known
  std::string instance{};  // the cookie
  pid_t pid = 0;           // 0 = there is none
  std::string text{};      // noun, cause, next step

  bool operator==(const Disagreement&) const = default;
};

/// "keeper-gone", "nothing-left", "stray", "orphan".
const char* name_of(Disagreement::Kind kind);

/// `instances` are the open records of this daemon, whose number is `self`.
std::vector<Disagreement> disagreements(pid_t self, const std::vector<registry::InstanceRecord>& instances,
                                        const std::vector<Listed>& processes);

/// What was found before and is found still.
std::vector<Disagreement> lasting(const std::vector<Disagreement>& before, std::vector<Disagreement> now);

/// Everybody who is no zombie, with the cookies of our own user's. Empty if /proc cannot be read.
std::vector<Listed> list_processes(const std::string& proc = "/proc");

}  // namespace corral::reap
