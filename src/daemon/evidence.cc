#include "daemon/evidence.h"

#include <algorithm>

#include "wire/json_text.h"

namespace corral::daemon {
namespace {

template <class List, class Show>
std::string array(const List& list, Show show) {
  std::string text = "[";
  for (const auto& element : list) text += (text.size() == 1 ? "" : ",") + show(element);
  return text + "]";
}

std::string one_gone(const pool::InstanceEnd& gone) {
  return R"({"server":)" + wire::quoted(gone.server) + R"(,"instance":)" +
         wire::quoted(gone.instance.text()) + R"(,"pid":)" + std::to_string(gone.pid) + R"(,"cause":)" +
         wire::quoted(pool::cause_name(gone.cause)) + R"(,"processes":)" +
         std::to_string(gone.ending.ended_processes) + R"(,"end":)" + wire::quoted(gone.ending.sentence) +
         R"(,"proved":)" + (gone.ending.proved_empty ? "true" : "false") + R"(,"ms":)" +
         std::to_string(gone.took.count()) + "}";
}

std::string one_kept(const Kept& kept) {
  return R"({"server":)" + wire::quoted(kept.server) + R"(,"instance":)" +
         wire::quoted(kept.instance.text()) + R"(,"sessions":)" + std::to_string(kept.sessions) + "}";
}

std::string one_survivor(const instance::Survivor& survivor) {
  return R"({"pid":)" + std::to_string(survivor.pid) + R"(,"command":)" + wire::quoted(survivor.command) +
         R"(,"cause":)" + wire::quoted(survivor.cause) + "}";
}

std::string survivors_of(const std::vector<pool::InstanceEnd>& ended) {
  std::vector<instance::Survivor> all;
  for (const pool::InstanceEnd& gone : ended) {
    all.insert(all.end(), gone.ending.survivors.begin(), gone.ending.survivors.end());
  }
  return array(all, one_survivor);
}

}  // namespace

bool SessionEvidence::leaked() const {
  return std::any_of(ended.begin(), ended.end(),
                     [](const pool::InstanceEnd& gone) { return !gone.ending.proved_empty; });
}

std::optional<std::size_t> sessions_of(const pool::Pool& pool, const InstanceId& instance) {
  for (const pool::Slot& slot : pool.slots()) {
    if (slot.router() && slot.router()->instance()->id() == instance) return slot.router()->sessions().size();
  }
  return std::nullopt;
}

std::string gone_json(const std::vector<pool::InstanceEnd>& gone) { return array(gone, one_gone); }

std::string names_json(const std::vector<std::string>& names) {
  return array(names, [](const std::string& name) { return wire::quoted(name); });
}

std::string to_json(const SessionEvidence& evidence) {
  return R"({"session":)" + wire::quoted(evidence.id) + R"(,"survivors":)" + survivors_of(evidence.ended) +
         R"(,"leaked":)" + (evidence.leaked() ? "true" : "false") + R"(,"ended":)" +
         gone_json(evidence.ended) + R"(,"kept":)" + array(evidence.kept, one_kept) + R"(,"ms":)" +
         std::to_string(evidence.took.count()) + "}";
}

}  // namespace corral::daemon
