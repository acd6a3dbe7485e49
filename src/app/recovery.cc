#include "app/recovery.h"

#include "base/log.h"
#include "reap/remnants.h"
#include "server/lost_keeper.h"

namespace corral::app {
namespace {

using events::Kind;
using Outcome = reap::Outcome;

Kind kind_of(Outcome::Kind outcome) {
  switch (outcome) {
    case Outcome::Kind::Ended:
    case Outcome::Kind::AlreadyGone: return Kind::Reap;
    case Outcome::Kind::NoPermission:
    case Outcome::Kind::Uninterruptible:
    case Outcome::Kind::StillThere: return Kind::Survivor;
    case Outcome::Kind::NotProved:
    case Outcome::Kind::OtherUser:
    case Outcome::Kind::Debugged:
    case Outcome::Kind::OwnAncestor: break;
  }
  return Kind::Finding;
}

void tell_remnant(events::Stream& stream, const reap::Remnant& remnant) {
  events::Event event;
  event.kind = kind_of(remnant.outcome.kind);
  event.server = remnant.server;
  event.instance = remnant.instance;
  event.pid = remnant.outcome.pid;
  event.cause = event.kind == Kind::Finding ? "remnant" : "restart";
  event.count = 1;
  event.text = remnant.text;
  stream.tell(std::move(event));
}

/// A container is a child of somebody else: it has no mark that could be found in /proc, but a label.
void remove_containers(events::Stream& stream, const registry::Unfinished& unfinished,
                       const std::function<void(pid_t)>& started) {
  for (const registry::InstanceRecord& instance : unfinished.instances) {
    if (instance.container.empty()) continue;
    const pid_t child = server::remove_container(instance.container, instance.id);
    if (child > 0) started(child);
    events::Event event;
    event.kind = child > 0 ? Kind::Reap : Kind::Survivor;
    event.server = instance.server;
    event.instance = instance.id;
    event.cause = "restart";
    event.text = "left by an earlier daemon: the container of server " + instance.server +
                 (child > 0 ? " is being removed, if it is still there"
                            : " could not be removed, for want of a process: see `docker ps`");
    stream.tell(std::move(event));
  }
}

struct Recovered {
  registry::Unfinished unfinished;
  reap::Remnants remnants;
};

}  // namespace

void recover_remnants(Chronicle& chronicle, const std::function<void(pid_t)>& started) {
  const auto work = std::make_shared<std::vector<Recovered>>();
  // Also of those that have nothing to end: one may live beside us (`serve -- COMMAND` shares our registry),
  // and what it starts after it was forgotten would never be looked for.
  for (registry::Unfinished& one : chronicle.registry().unfinished(chronicle.self().id)) {
    work->push_back({std::move(one), {}});
  }
  if (work->empty()) return;
  chronicle.worker().run(
      [work] {
        for (Recovered& one : *work) one.remnants = reap::end_remnants(one.unfinished);
      },
      [work, &chronicle, started] {
        for (const Recovered& one : *work) {
          for (const reap::Remnant& remnant : one.remnants.processes)
            tell_remnant(chronicle.events(), remnant);
          if (!one.remnants.why.empty() && !one.unfinished.instances.empty())
            log_line("instances of another daemon are left alone: " + one.remnants.why);
          if (one.remnants.why.empty()) remove_containers(chronicle.events(), one.unfinished, started);
          if (one.remnants.settled) chronicle.registry().forget(one.unfinished.daemon.id);
        }
      });
}

}  // namespace corral::app
