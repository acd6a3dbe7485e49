#include "pool/slot_events.h"

#include "base/text.h"

namespace corral::pool {

using events::Event;
using events::Kind;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

namespace {

std::string naming(const std::string& instance, const std::string& server) {
  return "instance " + instance.substr(0, 8) + " of server " + server;
}

/// The sentence begins with the server in its long form; here the instance is its subject.
std::string naming(const Event& event, const std::string& sentence) {
  const std::string subject = "server " + event.server + " ";
  const bool has_subject = sentence.starts_with(subject);
  return naming(event.instance, event.server) +
         (has_subject ? sentence.substr(subject.size() - 1) : ": " + sentence);
}

Event about(const Slot& slot, Kind kind) {
  Event event;
  event.kind = kind;
  event.server = slot.spec().server;
  if (slot.router() != nullptr && slot.router()->instance() != nullptr) {
    event.instance = slot.router()->instance()->id().text();
    event.pid = slot.router()->instance()->server_pid();
  }
  return event;
}

std::string processes(std::uint32_t number) { return counted(number, "process", "processes"); }

std::string survivors_in(const instance::TreeEnd& ending) {
  std::string list;
  for (const instance::Survivor& survivor : ending.survivors) {
    list += "; process " + std::to_string(survivor.pid) + " (" + survivor.command +
            ") could not be ended: " + survivor.cause;
  }
  return list;
}

}  // namespace

Event started_event(const Slot& slot) {
  const bool again = slot.life() == Life::Restarting;
  Event event = about(slot, again ? Kind::Restart : Kind::Spawn);
  event.set_cause(slot.holder().is_spare() ? events::Cause::Spare
                  : slot.decision().shared ? events::Cause::Shared
                                           : events::Cause::Private);
  event.text = naming(event.instance, event.server) + ": " + (again ? "started again, " : "started, ") +
               slot.decision().reason;
  return event;
}

Event ready_event(const Slot& slot) {
  Event event = about(slot, Kind::Ready);
  event.took = duration_cast<milliseconds>(Clock::now() - slot.router()->instance()->started());
  event.text =
      naming(event.instance, event.server) + ": ready after " + std::to_string(event.took->count()) + " ms";
  return event;
}

Event attached_event(const Slot& slot, const Waiter& waiter) {
  Event event = about(slot, Kind::Attach);
  event.session = waiter.port->id().value();
  event.set_cause(waiter.way);
  event.text =
      "session " + std::to_string(event.session) + ": attached to " + naming(event.instance, event.server);
  return event;
}

Event answered_without_instance_event(const router::SessionPort& port, const ServerSpec& spec) {
  Event event;
  event.kind = Kind::Attach;
  event.server = spec.server;
  event.session = port.id().value();
  event.set_cause(events::Cause::Manifest);
  event.text = "session " + std::to_string(event.session) + ": attached to server " + event.server +
               " without starting it";
  return event;
}

Event crashed_event(const Slot& slot, const router::LastWords& why) {
  Event event = about(slot, Kind::Crash);
  event.set_cause(slot.run().cause() == Cause::Hung ? events::Cause::Hung : events::Cause::Died);
  event.text = naming(event, why.sentence);
  event.error_lines = events::last_lines(why.stderr_end);
  return event;
}

Event stopping_event(const Slot& slot) {
  Event event = about(slot, Kind::Stop);
  event.cause = cause_name(slot.run().cause());
  event.text = naming(event.instance, event.server) + ": is being ended (" + event.cause + ")";
  return event;
}

Event slot_event(const Slot& slot, Kind kind, const std::string& cause, const std::string& sentence,
                 std::string_view error_output) {
  Event event = about(slot, kind);
  event.cause = cause;
  event.text = sentence;
  event.error_lines = events::last_lines(error_output);
  return event;
}

std::vector<Event> ended_events(const InstanceEnd& ended) {
  Event event;
  event.kind = ended.ending.proved_empty ? Kind::Extinct : Kind::Survivor;
  event.server = ended.server;
  event.instance = ended.instance.text();
  if (ended.ending.proved_empty) event.pid = ended.pid;
  if (!ended.ending.survivors.empty()) event.pid = ended.ending.survivors.front().pid;
  event.cause = cause_name(ended.cause);
  event.took = ended.took;
  event.count = ended.ending.proved_empty ? ended.ending.ended_processes : 1;  // each survivor is an event
  event.text = naming(event.instance, ended.server) + ": " + ended.ending.sentence + " (" + event.cause +
               ", " + processes(ended.ending.ended_processes) + ", " + std::to_string(ended.took.count()) +
               " ms), " + (ended.ending.proved_empty ? "its tree is gone" : "its tree was not proved gone") +
               survivors_in(ended.ending);
  std::vector<Event> events{event};
  for (std::size_t i = 1; i < ended.ending.survivors.size(); ++i) {
    event.pid = ended.ending.survivors[i].pid;
    events.push_back(event);
  }
  return events;
}

}  // namespace corral::pool
