#include "daemon/evidence.h"

#include <algorithm>

#include "wire/json_writer.h"

namespace corral::daemon {
namespace {

std::string one_ended(const pool::InstanceEnd& ended) {
  return wire::JsonObject()
      .text("server", ended.server)
      .text("instance", ended.instance.text())
      .number("pid", ended.pid)
      .text("cause", pool::cause_name(ended.cause))
      .number("processes", ended.ending.ended_processes)
      .text("end", ended.ending.sentence)
      .flag("proved", ended.ending.proved_empty)
      .number("ms", ended.took.count())
      .json();
}

std::string one_kept(const Kept& kept) {
  return wire::JsonObject()
      .text("server", kept.server)
      .text("instance", kept.instance.text())
      .number("sessions", kept.sessions)
      .json();
}

std::string one_survivor(const instance::Survivor& survivor) {
  return wire::JsonObject()
      .number("pid", survivor.pid)
      .text("command", survivor.command)
      .text("cause", survivor.cause)
      .json();
}

std::string survivors_of(const std::vector<pool::InstanceEnd>& ended) {
  std::vector<instance::Survivor> all;
  for (const pool::InstanceEnd& one : ended) {
    all.insert(all.end(), one.ending.survivors.begin(), one.ending.survivors.end());
  }
  return wire::array_of(all, one_survivor);
}

}  // namespace

bool SessionEvidence::leaked() const {
  return std::any_of(ended.begin(), ended.end(),
                     [](const pool::InstanceEnd& one) { return !one.ending.proved_empty; });
}

std::optional<std::size_t> sessions_of(const pool::Pool& pool, const InstanceId& instance) {
  for (const pool::Slot& slot : pool.slots()) {
    if (slot.router() && slot.router()->instance()->id() == instance) return slot.router()->sessions().size();
  }
  return std::nullopt;
}

std::string ended_json(const std::vector<pool::InstanceEnd>& ended) {
  return wire::array_of(ended, one_ended);
}

std::string to_json(const SessionEvidence& evidence) {
  return wire::JsonObject()
      .text("session", evidence.id)
      .raw("survivors", survivors_of(evidence.ended))
      .flag("leaked", evidence.leaked())
      .raw("ended", ended_json(evidence.ended))
      .raw("kept", wire::array_of(evidence.kept, one_kept))
      .number("ms", evidence.took.count())
      .json();
}

}  // namespace corral::daemon
