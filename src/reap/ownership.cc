#include "reap/ownership.h"

#include <algorithm>

#include "keeper/report.h"
#include "survey/details.h"

// The reason for each rule.
// User: any process that may read the environment can copy a cookie; only processes of our own user may be
// ended.
// Age: a variable can be set by hand; a process that is older than the daemon was not started by it.
// Limit: a variable can be copied with a whole environment (an `at` job, a terminal, an editor that was asked
// to open a window). The tag is a hard limit, which is inherited and can be lowered, but not raised without
// privileges. A process with the cookie and a higher limit than the instance had is not below it, or is able
// to raise it.
// Instance: a corral inside a server gives its servers another cookie, but its keepers inherit the tag. They
// end by themselves when their owner does, and take their trees with them, which they could not if we killed
// them.
// Number: start times have a resolution of 10 ms, so without pidfs two processes can share pid, time and
// user.

namespace corral::reap {
namespace {

using survey::Protection;

bool is_dead(char state) { return state == 'Z' || state == 'X' || state == 'x'; }

/// Whether the process can have inherited the tag and lowered it since.
bool may_have_inherited(std::uint64_t tag, const Bearer& bearer) {
  return tag == 0 || (bearer.rlimit_tag != 0 && bearer.rlimit_tag <= tag);
}

}  // namespace

bool is_instance_id(std::string_view text) {
  const auto hexadecimal = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == keeper::kInstanceIdLength && std::all_of(text.begin(), text.end(), hexadecimal);
}

bool is_cgroup_of(std::string_view directory, std::string_view instance) {
  if (!is_instance_id(instance) || !directory.starts_with('/')) return false;
  if (directory.find("/../") != std::string_view::npos || directory.find('\0') != std::string_view::npos) {
    return false;
  }
  const std::string name = "/corral-" + std::string(instance);
  return directory.ends_with(name) && directory.size() > name.size();
}

Claim claim_of(const registry::DaemonRecord& daemon, const registry::InstanceRecord& instance) {
  Claim claim;
  if (is_instance_id(instance.id)) claim.cookie = instance.id;
  if (survey::is_rlimit_tag(instance.rlimit_tag)) claim.rlimit_tag = instance.rlimit_tag;
  claim.not_before = daemon.process.start_ticks;
  claim.uid = daemon.process.uid;
  return claim;
}

Verdict judge(const Bearer& bearer, const Claim& claim) {
  const std::optional<Protection> spared =
      survey::protection_of({bearer.real, bearer.effective, bearer.tracer, bearer.own}, claim.uid);
  if (bearer.pid <= 1 || spared == Protection::OwnLine) return Verdict::Own;
  if (is_dead(bearer.state)) return Verdict::Gone;
  const bool by_cookie = !claim.cookie.empty() && bearer.cookie == claim.cookie;
  const bool by_tag = claim.rlimit_tag != 0 && bearer.rlimit_tag == claim.rlimit_tag;
  const bool recorded = bearer.known == Bearer::Known::Proved;
  if (!recorded && !by_cookie && !by_tag) {
    return bearer.known == Bearer::Known::Number ? Verdict::NotProved : Verdict::NotMarked;
  }
  if (spared == Protection::OtherUser) return Verdict::OtherUser;
  if (bearer.known == Bearer::Known::No && !bearer.keeper && !may_have_inherited(claim.rlimit_tag, bearer)) {
    return bearer.start_ticks < claim.not_before ? Verdict::Older : Verdict::NotProved;
  }
  if (bearer.start_ticks < claim.not_before) return Verdict::Older;
  if (!recorded && !by_cookie && is_instance_id(bearer.cookie)) return Verdict::OtherInstance;
  return spared == Protection::Debugger ? Verdict::Debugged : Verdict::Ours;
}

std::optional<Protection> protection_in_group(const Bearer& bearer) {
  constexpr uid_t kOurs = 0;  // any uid, as long as it is the same
  return survey::protection_of({kOurs, kOurs, bearer.tracer, bearer.own}, kOurs);
}

Fate judge(const registry::DaemonRecord& daemon, const Here& here) {
  using Kind = Fate::Kind;
  if (daemon.boot_id.empty() || here.boot_id.empty()) {
    return {Kind::LeftAlone, "it is not known whether the machine was restarted since; mount /proc"};
  }
  if (!daemon.machine.empty() && !here.machine.empty() && daemon.machine != here.machine) {
    return {Kind::LeftAlone, "it ran on another machine that shares this registry; start corral there"};
  }
  if (daemon.boot_id != here.boot_id) return {Kind::Settled, {}};
  if (daemon.pid_namespace == 0 || daemon.pid_namespace != here.pid_namespace) {
    return {Kind::LeftAlone,
            "it ran in another PID namespace (a container), whose processes cannot be seen from here; start "
            "corral there"};
  }
  if (daemon.process.pid <= 0) {
    return {Kind::LeftAlone, "its record does not contain its pid, so it may still be running"};
  }
  if (daemon.process.uid != here.uid) {
    return {Kind::LeftAlone, "it ran as user " + std::to_string(daemon.process.uid) +
                                 "; only that user's corral may end the processes that it left"};
  }
  if (here.daemon_lives) {
    return {Kind::LeftAlone,
            "the daemon that started them is still running (pid " + std::to_string(daemon.process.pid) + ")"};
  }
  return {Kind::End, {}};
}

}  // namespace corral::reap
