// Which process belongs to an instance of a dead daemon, and which daemon is dead. Facts in, verdict out:
// whoever reads the facts sees to it that all of them are of one process. Every doubt is a verdict of its
// own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/registry.h"
#include "survey/protection.h"

namespace corral::reap {

/// What makes a process one of an instance, from its record alone.
struct Claim {
  std::string cookie;            // empty = the record is damaged: nothing can be claimed
  std::uint64_t rlimit_tag = 0;  // 0 = not known
  std::uint64_t not_before = 0;  // start ticks; what is older than the daemon cannot be of it
  uid_t uid = 0;
};

/// Takes from a record only what can be true. A tag that no keeper chooses ("unlimited" above all) would
/// claim everybody.
Claim claim_of(const registry::DaemonRecord& daemon, const registry::InstanceRecord& instance);

/// What a process shows, read while it was held open.
struct Bearer {
  enum class Known : std::uint8_t {
    No,      // found by its mark
    Number,  // number, start time and user are as recorded, which two processes can share
    Proved,  // the kernel says that it is the recorded one
  };

  pid_t pid = 0;
  char state = '?';
  uid_t real = 0;
  uid_t effective = 0;
  pid_t tracer = 0;
  std::uint64_t start_ticks = 0;
  std::string cookie{};          // empty = none, or not to be read
  std::uint64_t rlimit_tag = 0;  // its hard RLIMIT_RTTIME; 0 = none
  Known known = Known::No;
  bool keeper = false;  // looks like one: it has the limits of its owner
  bool own = false;     // this process, one above it, or one below it
};

enum class Verdict : std::uint8_t {
  Ours,
  Gone,           // a zombie: nothing is left to end
  NotMarked,      // nothing says that it is of the instance
  OtherInstance,  // inherited the tag, but somebody else has started it since, and answers for it
  Older,          // carries the mark, but lived before the daemon did
  OtherUser,
  Debugged,
  NotProved,  // has the recorded number and start time, and no mark; or the cookie alone, and too high a
              // limit
  Own,
};

Verdict judge(const Bearer& bearer, const Claim& claim);

/// Why a member of the instance's own cgroup must not be ended. The group proves whose it is, whoever it runs
/// as by now and whatever marks it shows; it does not prove that nobody works with it.
std::optional<survey::Protection> protection_in_group(const Bearer& bearer);

/// What is true here and now.
struct Here {
  std::string machine;  // its id; empty = it has none
  std::string boot_id;
  std::uint64_t pid_namespace = 0;
  uid_t uid = 0;
  bool daemon_lives = false;  // or something that cannot be told from it
};

struct Fate {
  enum class Kind : std::uint8_t { Settled, LeftAlone, End } kind;
  std::string why{};
};

/// Whether anything of that daemon can be left, and may be ended.
Fate judge(const registry::DaemonRecord& daemon, const Here& here);

/// 32 hexadecimal digits.
bool is_instance_id(std::string_view text);

/// The directory that a keeper's owner makes for this instance, and nothing else.
bool is_cgroup_of(std::string_view directory, std::string_view instance);

}  // namespace corral::reap
