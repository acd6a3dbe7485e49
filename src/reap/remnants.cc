#include "reap/remnants.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "base/unique_fd.h"
#include "base/unique_id.h"
#include "keeper/kernel.h"
#include "reap/ownership.h"
#include "reap/remnant_ending.h"

namespace corral::reap {
namespace {

/// A dying daemon releases its lock a moment before it is dead.
bool ends_soon(const UniqueFd& process) {
  constexpr int kPatience = 1000;  // milliseconds
  pollfd ready{process.get(), POLLIN, 0};
  return poll(&ready, 1, kPatience) == 1;
}

/// True also if that is not known.
bool lives(const registry::DaemonRecord& daemon) {
  const proc::Whereabouts found = proc::look_for(identity_of(daemon, daemon.process));
  return found.process ? !ends_soon(*found.process) : !found.known;
}

Here here_and_now() {
  Here here;
  here.boot_id = boot_id();
  here.machine = machine_id();
  here.uid = geteuid();
  struct stat status {};
  if (stat("/proc/self/ns/pid", &status) == 0) here.pid_namespace = status.st_ino;
  return here;
}

}  // namespace

Remnants end_remnants(const registry::Unfinished& unfinished, const RemnantRules& rules) {
  Here here = here_and_now();
  here.daemon_lives = lives(unfinished.daemon);
  const Fate fate = judge(unfinished.daemon, here);
  if (fate.kind == Fate::Kind::End) {
    if (unfinished.instances.empty()) return {true, {}, {}};
    return RemnantEnding(unfinished.daemon, unfinished.instances, rules, RemnantEnding::Below::Spared).run();
  }
  return {fate.kind == Fate::Kind::Settled, {}, fate.why};
}

Remnants end_instance(const registry::DaemonRecord& self, const registry::InstanceRecord& instance,
                      const RemnantRules& rules) {
  const Fate fate =
      judge(self, here_and_now());  // daemon_lives stays false: the living daemon is this process
  if (fate.kind != Fate::Kind::End) return {fate.kind == Fate::Kind::Settled, {}, fate.why};
  if (instance.keeper.pid > 0) {
    const proc::Whereabouts keeper = proc::look_for(identity_of(self, instance.keeper));
    if (!keeper.known)
      return {false, {}, "cannot check whether its keeper is running: no free file descriptor"};
    if (keeper.process && !process_ended(*keeper.process))
      return {false, {}, "its keeper is running and is responsible for it"};
  }
  return RemnantEnding(self, {instance}, rules, RemnantEnding::Below::Ended).run();
}

}  // namespace corral::reap
