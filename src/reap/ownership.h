// Which process belongs to an instance of a dead daemon, and which daemon is dead. Pure: facts in, verdict
// out. The caller makes sure that all facts of a Bearer come from one process. Every kind of doubt has its
// own verdict.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/registry.h"
#include "survey/protection.h"

namespace corral::reap {

/// What identifies the processes of an instance, taken from its record.
struct Claim {
  std::string cookie;            // empty = the record is damaged and nothing can be claimed
  std::uint64_t rlimit_tag = 0;  // 0 = unknown
  std::uint64_t not_before = 0;  // start ticks; a process that is older than the daemon cannot belong to it
  uid_t uid = 0;
};

/// Uses only plausible values of a record. A tag that no keeper chooses ("unlimited" above all) would claim
/// every process.
Claim claim_of(const registry::DaemonRecord& daemon, const registry::InstanceRecord& instance);

/// The properties of a process, read while it was held open.
struct Bearer {
  enum class Known : std::uint8_t {
    No,      // found by its mark
    Number,  // pid, start time and user match the record, but two processes can share them
    Proved,  // the kernel proves that it is the recorded process
  };

  pid_t pid = 0;
  char state = '?';
  uid_t real = 0;
  uid_t effective = 0;
  pid_t tracer = 0;
  std::uint64_t start_ticks = 0;
  std::string cookie{};          // empty = none, or not readable
  std::uint64_t rlimit_tag = 0;  // its hard RLIMIT_RTTIME; 0 = none
  Known known = Known::No;
  bool keeper = false;  // looks like a keeper, which has the limits of its owner
  bool own = false;     // this process, its ancestor or its descendant
};

enum class Verdict : std::uint8_t {
  Ours,
  Gone,           // a zombie: nothing is left to end
  NotMarked,      // nothing shows that it belongs to the instance
  OtherInstance,  // inherited the tag, but another owner started it and is responsible
  Older,          // carries the mark, but is older than the daemon
  OtherUser,
  Debugged,
  /// Has the recorded pid and start time but no mark; or only the cookie, and too high a limit.
  NotProved,
  Own,
};

Verdict judge(const Bearer& bearer, const Claim& claim);

/// Why a member of the instance's own cgroup must not be ended. The group proves which instance it belongs
/// to, whichever user it runs as and whatever marks it shows; it does not prove that the process is not in
/// use.
std::optional<survey::Protection> protection_in_group(const Bearer& bearer);

/// The current state of this machine.
struct Here {
  std::string machine;  // machine id; empty = it has none
  std::string boot_id;
  std::uint64_t pid_namespace = 0;
  uid_t uid = 0;
  bool daemon_lives = false;  // or a process that cannot be distinguished from it
};

struct Fate {
  enum class Kind : std::uint8_t { Settled, LeftAlone, End } kind;
  std::string why{};
};

/// Whether anything of that daemon can be left, and whether it may be ended.
Fate judge(const registry::DaemonRecord& daemon, const Here& here);

/// True for 32 hexadecimal digits.
bool is_instance_id(std::string_view text);

/// Whether this is the directory that a keeper's owner creates for this instance.
bool is_cgroup_of(std::string_view directory, std::string_view instance);

}  // namespace corral::reap
