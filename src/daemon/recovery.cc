#include "daemon/recovery.h"

#include "base/log.h"
#include "instance/lost_keeper.h"
#include "reap/remnants.h"

namespace corral::daemon {
namespace {

using events::Kind;
using Outcome = reap::Outcome;

Kind kind_of(Outcome::Kind outcome) {
  switch (outcome) {
    case Outcome::Kind::Ended: return Kind::Reap;
    case Outcome::Kind::NoPermission:
    case Outcome::Kind::Uninterruptible:
    case Outcome::Kind::StillThere: return Kind::Survivor;
    case Outcome::Kind::AlreadyGone:
    case Outcome::Kind::NotProved:
    case Outcome::Kind::OtherUser:
    case Outcome::Kind::Debugged:
    case Outcome::Kind::OwnAncestor:
    case Outcome::Kind::OtherInstance: break;
  }
  return Kind::Finding;
}

void tell_remnant(events::Stream& stream, const reap::Remnant& remnant) {
  events::Event event;
  event.kind = kind_of(remnant.outcome.kind);
  event.server = remnant.server;
  event.instance = remnant.instance;
  event.pid = remnant.outcome.pid;
  event.set_cause(event.kind == Kind::Finding ? events::Cause::Remnant : events::Cause::Restart);
  event.count = 1;
  event.text = remnant.text;
  stream.tell(std::move(event));
}

struct Recovered {
  registry::Unfinished unfinished;
  reap::Remnants remnants;
};

/// What became of a container that an earlier daemon has left.
enum class Container : std::uint8_t { Removed, Left };

void tell_container(events::Stream& stream, const registry::InstanceRecord& instance, Container container) {
  const bool removed = container == Container::Removed;
  events::Event event;
  event.kind = removed ? Kind::Finding : Kind::Survivor;
  event.server = instance.server;
  event.instance = instance.id;
  event.set_cause(events::Cause::Container);
  event.text =
      "left by an earlier daemon: server " + instance.server +
      (removed ? ": its container is gone"
               : ": its container could not be removed: see `docker ps`; the daemon tries again at its next "
                 "start");
  stream.tell(std::move(event));
}

/// Counts the containers of one daemon that are still to be removed.
struct Removal {
  std::string daemon;
  std::size_t pending = 1;  // one for the loop that starts them
  bool failed = false;

  /// When no container is left, the records are marked as ended.
  void done(Records& records, Container container) {
    failed = failed || container == Container::Left;
    if (--pending == 0 && !failed) records.registry().forget(daemon);
  }
};

/// A container is a child of the container runtime: it is found by its label, not by its environment in
/// /proc.
void remove_container(Records& records, const registry::InstanceRecord& instance,
                      const std::shared_ptr<Removal>& removal, const ChildStarted& started) {
  const pid_t child = instance::remove_container(instance.container, instance.id);
  const auto ended = [&records, instance, removal](int status) {
    const Container container = status == 0 ? Container::Removed : Container::Left;
    tell_container(records.events(), instance, container);
    removal->done(records, container);
  };
  ++removal->pending;
  if (child > 0) return started(child, ended);
  ended(-1);
}

void forget(Records& records, const registry::Unfinished& unfinished, const ChildStarted& started) {
  const auto removal = std::make_shared<Removal>();
  removal->daemon = unfinished.daemon.id;
  const bool this_boot = unfinished.daemon.boot_id == records.self().boot_id;
  for (const registry::InstanceRecord& instance : unfinished.instances) {
    if (this_boot && !instance.container.empty()) remove_container(records, instance, removal, started);
  }
  removal->done(records, Container::Removed);  // for the loop
}

void conclude(Records& records, const Recovered& one, const ChildStarted& started) {
  for (const reap::Remnant& remnant : one.remnants.processes) tell_remnant(records.events(), remnant);
  if (!one.remnants.why.empty() && !one.unfinished.instances.empty())
    log_line("instances of another daemon were not ended: " + one.remnants.why);
  if (one.remnants.settled) forget(records, one.unfinished, started);
}

}  // namespace

void recover_remnants(Records& records, const ChildStarted& started) {
  const auto work = std::make_shared<std::vector<Recovered>>();
  // Also daemons that have nothing to end: one may run beside us (`serve -- COMMAND` shares our registry),
  // and what it starts after it was forgotten would never be looked for.
  for (registry::Unfinished& one : records.registry().unfinished(records.self().id)) {
    work->push_back({std::move(one), {}});
  }
  if (work->empty()) return;
  records.worker().run(
      [work] {
        for (Recovered& one : *work) one.remnants = reap::end_remnants(one.unfinished);
      },
      [work, &records, started] {
        for (const Recovered& one : *work) conclude(records, one, started);
      });
}

}  // namespace corral::daemon
