// Compares the daemon's records of its instances with what the kernel says. The comparison is pure; the
// reader makes one pass through /proc, so call it on a worker. The two lists are never from the same instant:
// an instance may start or end in between, so only what two checks in a row find counts (`lasting`).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "registry/registry.h"

namespace corral::reap {

/// A running process in the kernel's list.
struct Listed {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t start_ticks = 0;
  std::string comm{};
  std::string cookie{};  // only for processes of our user; empty = none
  bool tagged = false;   // also has the rlimit of a keeper's tree, so the cookie was not just copied
};

struct Disagreement {
  enum class Kind : std::uint8_t {
    KeeperGone,   // the record is open and the tree is alive, but its keeper is gone
    NothingLeft,  // the record is open, but no process is left
    Stray,        // carries the cookie of an instance, but is not below its keeper
    Orphan,       // was started by a `corral run` that is gone
  };
  /// What may be done without asking the user.
  enum class Repair : std::uint8_t {
    None,    // only report it
    End,     // call end_instance (remnants.h) for the record
    Forget,  // the same; it finds nothing and the journal records the end
  };

  Kind kind = Kind::Orphan;
  Repair repair = Repair::None;
  std::string server{};    // empty = unknown
  std::string instance{};  // the cookie
  pid_t pid = 0;           // 0 = no process
  std::string text{};      // for the user: noun, cause, next step

  bool operator==(const Disagreement&) const = default;
};

/// "keeper-gone", "nothing-left", "stray", "orphan".
const char* name_of(Disagreement::Kind kind);

/// `instances` are the open records of this daemon, whose pid is `self`.
std::vector<Disagreement> disagreements(pid_t self, const std::vector<registry::InstanceRecord>& instances,
                                        const std::vector<Listed>& processes);

/// The disagreements of `now` that were also in `before`.
std::vector<Disagreement> lasting(const std::vector<Disagreement>& before, std::vector<Disagreement> now);

/// All processes except zombies, with the cookies of our own user's processes. Empty if /proc cannot be read.
std::vector<Listed> list_processes(const std::string& proc = "/proc");

}  // namespace corral::reap
