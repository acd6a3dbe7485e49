#include "cli/screen/ps_page.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/units.h"
#include "base/words.h"

namespace corral::cli {
namespace {

using Cells = std::vector<std::string>;

constexpr std::size_t kWide = 140;   // from this width on the reason has its own column
constexpr std::size_t kNarrow = 76;  // below this width only the most important columns

/// Sessions without an instance, by server and state: "parked", "lazy", "opening", "stopped", "broken".
std::map<std::pair<std::string, std::string>, std::vector<observe::SessionView>> waiting_groups(
    const Overview& overview) {
  std::map<std::pair<std::string, std::string>, std::vector<observe::SessionView>> groups;
  for (const observe::SessionView& session : overview.waiting) {
    groups[{session.server, shown(session.state)}].push_back(session);
  }
  return groups;
}

/// Without a column for the code, the colour of the state shows that the code is stale.
Tone tone_of(const InstanceRow& one) {
  const Tone tone = tone_of_state(one.state);
  return tone == Tone::Plain && !one.stale.empty() ? Tone::Warning : tone;
}

void show_wide(Page& page, const Overview& overview) {
  Page::Column state{"STATE"};
  Page::Column code{"CODE"};
  std::vector<Cells> rows;
  for (const InstanceRow& one : overview.instances) {
    rows.push_back({shown(one.server), shown_pid(one.pid), shown_processes(one), shown(one.level),
                    shown(one.share), std::to_string(one.served.size()),
                    fit(shown_clients(one.served), 16, page.style()), shown_age(one.uptime),
                    shown_memory(one), shown_cpu(one), shown(one.state), shown_code(one),
                    shown_reason(one) + (one.separate.empty() ? "" : "; " + shown(one.separate))});
    state.tones.push_back(tone_of_state(one.state));
    code.tones.push_back(one.stale.empty() ? Tone::Plain : Tone::Warning);
  }
  for (const auto& [key, sessions] : waiting_groups(overview)) {
    rows.push_back({shown(key.first), "-", "-", "-", "-", std::to_string(sessions.size()),
                    fit(shown_clients(sessions), 16, page.style()), "-", "-", "-", key.second,
                    shown_code(observe::InstanceView{.state = key.second}),
                    waiting_reason(overview, key.first, key.second)});
    state.tones.push_back(tone_of_state(key.second));
  }
  page.table("",
             {{"SERVER"},
              {"PID", true},
              {"PROCS", true},
              {"LEVEL"},
              {"SHARE"},
              {"SESSIONS", true},
              {"CLIENT"},
              {"UP", true},
              {"MEMORY", true},
              {"CPU", true},
              state,
              code,
              {"SHARED BECAUSE", false, true}},
             rows);
}

/// What does not fit into a row.
std::string sentence_of(const InstanceRow& one) {
  std::string text = one.reason.empty() ? shown(one.share) : one.reason;
  if (!one.separate.empty()) text += "; " + shown(one.separate);
  text += "; " + shown(one.level) + "; " + shown_code(one) + " code";
  if (!one.served.empty()) text += "; for " + shown_clients(one.served);
  return text;
}

/// The most important columns; the rest is a sentence under each row.
void show_narrow(Page& page, const Overview& overview) {
  Page::Column state{"STATE"};
  std::vector<Cells> rows;
  std::vector<std::string> below;
  for (const InstanceRow& one : overview.instances) {
    rows.push_back({shown(one.server), shown_pid(one.pid), shown_processes(one),
                    std::to_string(one.served.size()), shown_age(one.uptime), shown_memory(one),
                    shown_cpu(one), shown(one.state)});
    below.push_back(sentence_of(one));
    state.tones.push_back(tone_of(one));
  }
  for (const auto& [key, sessions] : waiting_groups(overview)) {
    rows.push_back({shown(key.first), "-", "-", std::to_string(sessions.size()), "-", "-", "-", key.second});
    below.push_back(waiting_reason(overview, key.first, key.second) + "; for " + shown_clients(sessions));
    state.tones.push_back(tone_of_state(key.second));
  }
  page.table("",
             {{"SERVER", false, true},
              {"PID", true},
              {"PROCS", true},
              {"SESS", true},
              {"UP", true},
              {"MEMORY", true},
              {"CPU", true},
              state},
             rows, below);
}

/// For half a terminal.
void show_tiny(Page& page, const Overview& overview) {
  Page::Column state{"STATE"};
  std::vector<Cells> rows;
  std::vector<std::string> below;
  for (const InstanceRow& one : overview.instances) {
    rows.push_back({shown(one.server), shown_pid(one.pid), shown_size(memory_of(one)),
                    fit(shown(one.state), 8, page.style())});
    below.push_back("up " + shown_age(one.uptime) + ", procs " + shown_processes(one) + ", cpu " +
                    shown_cpu(one) + ", sessions " + std::to_string(one.served.size()) + "; " +
                    sentence_of(one));
    state.tones.push_back(tone_of(one));
  }
  for (const auto& [key, sessions] : waiting_groups(overview)) {
    rows.push_back({shown(key.first), "-", "-", fit(key.second, 8, page.style())});
    below.push_back(waiting_reason(overview, key.first, key.second) + "; sessions " +
                    std::to_string(sessions.size()) + "; for " + shown_clients(sessions));
    state.tones.push_back(tone_of_state(key.second));
  }
  page.table("", {{"SERVER", false, true}, {"PID", true}, {"MEMORY", true}, state}, rows, below);
}

/// Rows of a process tree: "  └─ node", with the lines of its ancestors.
class TreeRows {
 public:
  TreeRows(const std::vector<observe::ProcessView>& processes, const TerminalStyle& style) : style_(style) {
    for (const observe::ProcessView& process : processes) children_[process.parent].push_back(&process);
  }

  void add_below(std::int64_t parent, const std::string& indent, std::vector<Cells>& rows) {
    const auto found = children_.find(parent);
    if (found == children_.end()) return;
    const std::vector<const observe::ProcessView*> children =
        std::exchange(found->second, {});  // a loop ends here
    for (std::size_t i = 0; i < children.size(); ++i) {
      const bool last = i + 1 == children.size();
      add(*children[i], indent + branch(last), rows);
      if (indent.size() < kDeepest) add_below(children[i]->pid, indent + trunk(last), rows);
    }
  }

  /// Processes whose parent is not in the list, because it has exited since.
  void add_rest(std::vector<Cells>& rows) {
    while (true) {
      const auto found = std::find_if(children_.begin(), children_.end(),
                                      [](const auto& entry) { return !entry.second.empty(); });
      if (found == children_.end()) return;
      add_below(found->first, "", rows);
    }
  }

 private:
  static constexpr std::size_t kDeepest = 160;

  const char* branch(bool last) const {
    if (!style_.unicode) return last ? "`- " : "|- ";
    return last ? "└─ " : "├─ ";
  }
  const char* trunk(bool last) const {
    if (last) return "   ";
    return style_.unicode ? "│  " : "|  ";
  }
  void add(const observe::ProcessView& process, const std::string& before, std::vector<Cells>& rows) const {
    rows.push_back({before + shown(process.name), shown_pid(process.pid), shown(process.state),
                    shown_size(process.memory), shown_time(process.cpu), shown_age(process.age)});
  }

  TerminalStyle style_;
  std::map<std::int64_t, std::vector<const observe::ProcessView*>> children_;
};

void show_processes(Page& page, const InstanceRow& one) {
  std::vector<Cells> rows = {{"corral-keeper", shown_pid(one.keeper), "-", "-", "-", "-"}};
  if (one.usage) {
    TreeRows tree(one.usage->processes, page.style());
    tree.add_below(one.keeper, "", rows);
    tree.add_rest(rows);
  } else {
    rows.push_back(
        {page.style().unicode ? "└─ server" : "`- server", shown_pid(one.pid), "-", "-", "-", "-"});
  }
  page.table("  ",
             {{"PROCESS", false, true},
              {"PID", true},
              {"STATE"},
              {"MEMORY", true},
              {"CPU TIME", true},
              {"AGE", true}},
             rows);
}

void show_session(Page& page, const observe::SessionView& session) {
  std::string text = shown_client(session) + ", " + shown(session.state) + ", " + shown_age(session.age) +
                     " old, " + shown_number(session.calls) +
                     (session.calls == 1U ? " call in flight" : " calls in flight");
  if (!session.client.command.empty()) text += ", runs " + shorten_homes(session.client.command);
  if (!session.client.root.empty()) text += ", in " + shorten_home(session.client.root);
  page.paragraph("  session " + shown_session(session) + ": ", text);
}

void show_limits_of(Page& page, const observe::LimitsView& limits) {
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  if (limits.memory) add("memory " + show_size(*limits.memory));
  if (limits.recycle) add("replaced at " + show_size(*limits.recycle));
  if (limits.processes) add(std::to_string(*limits.processes) + " processes");
  if (limits.cpu) add("processor " + shown_percent(*limits.cpu));
  if (!text.empty()) page.paragraph("  limits: ", text);
}

void show_tree(Page& page, const Overview& overview, const InstanceRow& one) {
  page.heading(shown(one.server) + (one.version.empty() ? "" : " " + one.version) + " " + shown_id(one.id) +
                   ": " + shown(one.state) + ", up " + shown_age(one.uptime) + ", memory " +
                   shown_memory(one) + ", cpu " + shown_cpu(one),
               tone_of(one));
  show_about(page, "  ", overview, one.server);
  page.paragraph("  ", (one.reason.empty() ? shown(one.share) : one.reason) +
                           (one.separate.empty() ? "" : "; " + shown(one.separate)) + "; kept by " +
                           shown(one.level) +
                           (one.root.empty() ? "" : "; project " + shorten_home(one.root)));
  if (!one.stale.empty()) page.paragraph("  ", "runs old code: " + shorten_home(one.stale));
  show_limits_of(page, one.limits);
  show_processes(page, one);
  for (const observe::SessionView& session : one.served) show_session(page, session);
  if (one.served.empty()) page.paragraph("  ", "has no sessions now");
}

/// The reverse view: the servers of each client.
void show_clients(Page& page, const Overview& overview) {
  std::map<std::pair<std::optional<pid_t>, std::string>, std::vector<std::string>> clients;
  for (const InstanceRow& one : overview.instances) {
    for (const observe::SessionView& session : one.served) {
      clients[{session.client.pid, shown_client(session)}].push_back(
          shown(one.server) + " (pid " + shown_pid(one.pid) + ", session " + shown_session(session) + ")");
    }
  }
  for (const observe::SessionView& session : overview.waiting) {
    clients[{session.client.pid, shown_client(session)}].push_back(
        shown(session.server) + " (" + shown(session.state) + ", session " + shown_session(session) + ")");
  }
  if (clients.empty()) return;
  page.heading("Clients: " + std::to_string(clients.size()));
  for (const auto& [client, served] : clients) {
    std::string text;
    for (const std::string& one : served) {
      if (!text.empty()) text += ", ";
      text += one;
    }
    page.paragraph("  " + client.second + ": ", text);
  }
}

/// What the configuration says about the servers that are shown.
void show_all_about(Page& page, const Overview& overview) {
  std::set<std::string> names;
  for (const InstanceRow& one : overview.instances) names.insert(one.server);
  for (const observe::SessionView& session : overview.waiting) names.insert(session.server);
  for (const std::string& name : names) {
    show_about(page, shown(name) + ": ", overview, name);
  }
}

/// Whether the sentence under a row says this already.
bool is_told(const Overview& overview, const observe::ServerView& server) {
  return std::any_of(overview.waiting.begin(), overview.waiting.end(),
                     [&server](const observe::SessionView& one) {
                       return one.server == server.name && one.state == observe::refusing_state(server);
                     });
}

void show_all_halted(Page& page, const Overview& overview) {
  for (const observe::ServerView& server : overview.halted) page.paragraph("", shown_halt(server));
}

void show_other_halted(Page& page, const Overview& overview) {
  for (const observe::ServerView& server : overview.halted) {
    if (!is_told(overview, server)) page.paragraph("", shown_halt(server));
  }
}

std::string nothing_runs(const Overview& overview) {
  const std::string& name = overview.only;
  if (name.empty()) return "no instance is running, and no client is attached";
  if (std::find(overview.names.begin(), overview.names.end(), name) != overview.names.end()) {
    return "no instance of " + name + " is running, and no client is attached to it";
  }
  const std::string near = nearest_word(name, overview.names);
  return "no server is called '" + name + "': " +
         (near.empty() ? "`corral ps` lists running servers, `corral config check` configured ones"
                       : "did you mean " + near + "?");
}

bool shows_nothing(Page& page, const Overview& overview) {
  if (!overview.instances.empty() || !overview.waiting.empty()) return false;
  page.paragraph("", nothing_runs(overview));
  return true;
}

void show_running(Page& page, const Overview& overview) {
  if (shows_nothing(page, overview)) return show_all_halted(page, overview);
  if (page.style().width >= kWide) {
    show_wide(page, overview);
    show_all_about(page, overview);
    return show_all_halted(page, overview);  // the column is usually too narrow for the whole sentence
  }
  page.style().width >= kNarrow ? show_narrow(page, overview) : show_tiny(page, overview);
  show_all_about(page, overview);
  show_other_halted(page, overview);
}

/// Often nothing else is left of a server that failed.
void show_failures(Page& page, const Overview& overview) {
  for (const observe::FailureView& failure : overview.failures) {
    page.paragraph(shown(failure.server) + " failed " + shown_age(failure.age) + " ago: ",
                   shown(failure.text));
  }
}

}  // namespace

void show_process_table(Page& page, const Overview& overview) {
  show_running(page, overview);
  show_failures(page, overview);
}

void show_process_trees(Page& page, const Overview& overview) {
  if (!shows_nothing(page, overview)) {
    for (const InstanceRow& one : overview.instances) {
      show_tree(page, overview, one);
      page.blank();
    }
    if (!overview.waiting.empty()) {
      page.heading("Sessions without a running server: " + std::to_string(overview.waiting.size()));
      for (const observe::SessionView& session : overview.waiting) {
        page.paragraph("  ", shown(session.server) + ":");
        show_session(page, session);
      }
      page.blank();
    }
    show_clients(page, overview);
  }
  show_all_halted(page, overview);
}

}  // namespace corral::cli
