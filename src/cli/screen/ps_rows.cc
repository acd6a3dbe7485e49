#include "cli/screen/ps_rows.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cli/screen/sharing_text.h"

namespace corral::cli {
namespace {

using std::chrono::milliseconds;

/// Sessions of one server in one state, without an instance: "parked", "lazy", "opening", "stopped",
/// "broken".
struct Waiting {
  std::string state;
  std::vector<observe::SessionView> sessions;
};

/// What one row stands for; at least one of the two is not empty.
struct Group {
  std::string server;
  std::vector<const InstanceRow*> running;
  std::vector<Waiting> waiting;
};

std::vector<Group> waiting_groups(const Overview& overview) {
  std::map<std::pair<std::string, std::string>, std::vector<observe::SessionView>> found;
  for (const observe::SessionView& session : overview.waiting) {
    found[{session.server, shown(session.state)}].push_back(session);
  }
  std::vector<Group> groups;
  for (auto& [key, sessions] : found) {
    groups.push_back({key.first, {}, {{key.second, std::move(sessions)}}});
  }
  return groups;
}

/// "ready"; "mixed" if they differ.
std::string common(const Group& group, std::string (*text)(const InstanceRow&)) {
  std::set<std::string> texts;
  for (const InstanceRow* const one : group.running) texts.insert(text(*one));
  if (texts.empty()) return "-";
  return texts.size() == 1 ? *texts.begin() : "mixed";
}

/// Of several idle processes the last one to end: then the server has none. Nothing if one of them is in use.
std::optional<milliseconds> end_of(const Group& group) {
  std::optional<milliseconds> last;
  for (const InstanceRow* const one : group.running) {
    if (!one->ends_in) return std::nullopt;
    last = std::max(last.value_or(milliseconds(0)), *one->ends_in);
  }
  return last;
}

/// How often each state occurs, in the order of the rows; of sessions that wait it does not matter.
std::vector<std::pair<std::string, std::size_t>> states_of(const Group& group) {
  std::vector<std::pair<std::string, std::size_t>> states;
  const auto count = [&states](const std::string& state) -> std::size_t& {
    for (auto& [known, number] : states) {
      if (known == state) return number;
    }
    return states.emplace_back(state, 0).second;
  };
  for (const InstanceRow* const one : group.running) ++count(shown(one->state));
  for (const Waiting& waiting : group.waiting) count(waiting.state);
  return states;
}

std::string state_of(const Group& group) {
  const auto states = states_of(group);
  observe::InstanceView all;
  all.state = states.front().first;
  all.ends_in = end_of(group);
  if (states.size() == 1) return shown_state(all);
  std::string text;
  for (const auto& [state, number] : states) {
    text += (text.empty() ? "" : ", ") + state + (number > 1 ? " x" + std::to_string(number) : "");
  }
  return text;
}

Tone tone_of(const Group& group) {
  Tone worst = Tone::Plain;
  const auto add = [&worst](const std::string& state) { worst = std::max(worst, tone_of_state(state)); };
  for (const InstanceRow* const one : group.running) add(one->state);
  for (const Waiting& waiting : group.waiting) add(waiting.state);
  return worst;
}

void add_use(const Group& group, PsRow& row) {
  if (group.running.size() == 1) {
    const InstanceRow& one = *group.running.front();
    row.pid = shown_pid(one.pid);
    row.processes = shown_processes(one);
    row.memory = shown_memory(one);
    row.cpu = shown_cpu(one);
    row.age = shown_age(one.uptime);
    return;
  }
  // Limits are those of one process, so a sum has none.
  std::optional<std::size_t> processes;
  std::optional<std::uint64_t> memory;
  std::optional<double> cpu;
  std::optional<milliseconds> age;
  for (const InstanceRow* const one : group.running) {
    if (one->usage) processes = processes.value_or(0) + one->usage->processes.size();
    if (memory_of(*one)) memory = memory.value_or(0) + *memory_of(*one);
    if (cpu_of(*one)) cpu = cpu.value_or(0) + *cpu_of(*one);
    if (one->uptime) age = std::max(age.value_or(milliseconds(0)), *one->uptime);
  }
  row.pid = group.running.empty() ? "-" : std::to_string(group.running.size()) + " pids";
  row.processes = processes ? std::to_string(*processes) : "-";
  row.memory = shown_size(memory);
  row.cpu = cpu ? shown_percent(*cpu) : "-";
  row.age = shown_age(age);
}

std::string code_of(const Group& group) {
  if (!group.running.empty()) return shown_code(*group.running.front());
  return shown_code(observe::InstanceView{.state = group.waiting.front().state});
}

PsRow row_of(const Overview& overview, const Group& group) {
  PsRow row;
  row.server = shown(group.server);
  std::vector<observe::SessionView> sessions;
  for (const InstanceRow* const one : group.running) {
    sessions.insert(sessions.end(), one->served.begin(), one->served.end());
    row.stale = row.stale || !one->stale.empty();
  }
  for (const Waiting& waiting : group.waiting) {
    sessions.insert(sessions.end(), waiting.sessions.begin(), waiting.sessions.end());
  }
  row.sessions = std::to_string(sessions.size());
  row.clients = shown_clients(sessions);
  add_use(group, row);
  row.level = common(group, [](const InstanceRow& one) { return shown(one.level); });
  row.share = common(group, [](const InstanceRow& one) { return shown(one.share); });
  row.reason = common(group, [](const InstanceRow& one) { return shown_reason(one); });
  if (row.reason == "mixed") row.reason = "several reasons: `corral ps -v`";
  row.state = state_of(group);
  row.state_tone = tone_of(group);
  row.code = row.stale ? "stale" : code_of(group);
  row.runs = std::any_of(group.running.begin(), group.running.end(),
                         [](const InstanceRow* one) { return !one->id.empty(); });
  if (!group.running.empty()) {
    row.why = sharing_lines(*group.running.front());
    row.root = group.running.front()->root;
  } else {
    row.reason = waiting_reason(overview, group.server, group.waiting.front().state);
    row.why = {row.reason};
  }
  return row;
}

std::vector<PsRow> rows_of(const Overview& overview, const std::vector<Group>& groups) {
  std::vector<PsRow> rows;
  rows.reserve(groups.size());
  for (const Group& group : groups) rows.push_back(row_of(overview, group));
  return rows;
}

/// In the order in which the servers occur.
std::vector<Group> groups_by_server(const Overview& overview) {
  std::vector<Group> groups;
  const auto group_of = [&groups](const std::string& server) -> Group& {
    for (Group& group : groups) {
      if (group.server == server) return group;
    }
    return groups.emplace_back(Group{server, {}, {}});
  };
  for (const InstanceRow& one : overview.instances) group_of(one.server).running.push_back(&one);
  for (Group& waits : waiting_groups(overview)) {
    group_of(waits.server).waiting.push_back(std::move(waits.waiting.front()));
  }
  return groups;
}

}  // namespace

std::vector<PsRow> rows_by_server(const Overview& overview) {
  return rows_of(overview, groups_by_server(overview));
}

std::vector<PsRow> rows_by_process(const Overview& overview) {
  std::vector<Group> groups;
  for (Group& server : groups_by_server(overview)) {
    for (const InstanceRow* const one : server.running) groups.push_back({server.server, {one}, {}});
    for (Waiting& waits : server.waiting) groups.push_back({server.server, {}, {std::move(waits)}});
  }
  return rows_of(overview, groups);
}

}  // namespace corral::cli
