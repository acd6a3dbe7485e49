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

constexpr std::size_t kLeastText = 12;      // the least width of a column of text
constexpr std::size_t kLinesOfFailure = 3;  // of one failure, without --verbose
constexpr std::size_t kWide = 140;          // from this width on the reason has its own column

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
                    shown_memory(one), shown_cpu(one), shown_state(one), shown_code(one),
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

struct PsColumn {
  const char* title;
  const char* word;  // what the value is called where it has no column
  bool right;
  int worth;  // if there is no room, the column with the lowest is dropped first
  std::string (*cell)(const InstanceRow&);
};

const std::vector<PsColumn>& ps_columns() {
  static const std::vector<PsColumn> columns = {
      {"SERVER", "server", false, 100, [](const InstanceRow& one) { return shown(one.server); }},
      {"PID", "pid", true, 80, [](const InstanceRow& one) { return shown_pid(one.pid); }},
      {"PROCS", "procs", true, 30, [](const InstanceRow& one) { return shown_processes(one); }},
      {"SESS", "sessions", true, 60,
       [](const InstanceRow& one) { return std::to_string(one.served.size()); }},
      {"UP", "up", true, 50, [](const InstanceRow& one) { return shown_age(one.uptime); }},
      {"MEMORY", "memory", true, 70, [](const InstanceRow& one) { return shown_memory(one); }},
      {"CPU", "cpu", true, 40, [](const InstanceRow& one) { return shown_cpu(one); }},
      {"STATE", "state", false, 90, [](const InstanceRow& one) { return shown(one.state); }},
  };
  return columns;
}

/// The sessions without an instance, as rows.
std::vector<InstanceRow> rows_of(const Overview& overview) {
  std::vector<InstanceRow> rows = overview.instances;
  for (const auto& [key, sessions] : waiting_groups(overview)) {
    InstanceRow row;
    row.server = key.first;
    row.state = key.second;
    row.reason = waiting_reason(overview, key.first, key.second);
    row.served = sessions;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Splits the columns into those that fit into the width, in their order, and those that do not. A column of
/// text can be cut, so only its first letters must fit.
std::pair<std::vector<PsColumn>, std::vector<PsColumn>> fitting_columns(const std::vector<InstanceRow>& rows,
                                                                        std::size_t width) {
  std::vector<PsColumn> kept = ps_columns();
  std::vector<PsColumn> dropped;
  const auto width_of_column = [&rows](const PsColumn& column) {
    std::size_t widest = width_of(column.title);
    for (const InstanceRow& row : rows) widest = std::max(widest, width_of(column.cell(row)));
    return column.right ? widest : std::min(widest, kLeastText);
  };
  const auto used = [&] {
    std::size_t sum = 0;
    for (const PsColumn& column : kept) sum += width_of_column(column) + (sum == 0 ? 0 : 2);
    return sum;
  };
  while (kept.size() > 1 && used() > width) {
    const auto least = std::min_element(
        kept.begin(), kept.end(), [](const PsColumn& a, const PsColumn& b) { return a.worth < b.worth; });
    dropped.push_back(*least);
    kept.erase(least);
  }
  return {kept, dropped};
}

/// What --verbose says under a row.
std::string sentence_of(const InstanceRow& one, const std::vector<PsColumn>& dropped) {
  std::string text;
  for (const PsColumn& column : dropped) {
    text += (text.empty() ? "" : ", ") + std::string(column.word) + " " + column.cell(one);
  }
  if (!text.empty()) text += "; ";
  text += one.reason.empty() ? shown(one.share) : one.reason;
  if (!one.separate.empty()) text += "; " + shown(one.separate);
  if (!one.id.empty()) text += "; " + shown(one.level) + "; " + shown_code(one) + " code";
  if (!one.root.empty()) text += "; project " + shorten_home(one.root);
  if (!one.served.empty()) text += "; for " + shown_clients(one.served);
  return text;
}

std::string old_code_of(const InstanceRow& one) {
  return shorten_home(one.stale) + (one.rolls ? "; new sessions get the new code"
                                              : "; `corral restart " + one.server + "` runs the new code");
}

/// The columns that fit, in one line for each row; with --verbose the rest as a sentence under it.
void show_narrow(Page& page, const Overview& overview, const PsView& view) {
  const std::vector<InstanceRow> rows = rows_of(overview);
  const auto [kept, dropped] = fitting_columns(rows, page.style().width);
  std::vector<Page::Column> columns;
  for (const PsColumn& column : kept) {
    Page::Column made{column.title, column.right, columns.empty()};
    if (std::string_view(column.title) == "STATE") {
      for (const InstanceRow& row : rows) made.tones.push_back(tone_of(row));
    }
    columns.push_back(std::move(made));
  }
  std::vector<Cells> cells;
  std::vector<std::string> below;
  for (const InstanceRow& row : rows) {
    Cells line;
    for (const PsColumn& column : kept) line.push_back(column.cell(row));
    cells.push_back(std::move(line));
    if (view.verbose) below.push_back(sentence_of(row, dropped));
  }
  page.table("", columns, cells, below);
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
      const Child child = i + 1 == children.size() ? Child::Last : Child::Earlier;
      add(*children[i], indent + branch(child), rows);
      if (indent.size() < kDeepest) add_below(children[i]->pid, indent + trunk(child), rows);
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

  enum class Child : std::uint8_t { Earlier, Last };

  const char* branch(Child child) const {
    const bool last = child == Child::Last;
    if (!style_.unicode) return last ? "`- " : "|- ";
    return last ? "└─ " : "├─ ";
  }
  const char* trunk(Child child) const {
    if (child == Child::Last) return "   ";
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
                   ": " + shown_state(one) + ", up " + shown_age(one.uptime) + ", memory " +
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

/// A paragraph without a word that is wider than the page: such a word, usually a path, is cut.
void show_cut(Page& page, const std::string& label, const std::string& text) {
  const std::size_t room = page.style().width - std::min(page.style().width, width_of(label));
  std::string fitting;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    fitting += (at == 0 ? "" : " ") + fit(text.substr(at, end - at), room, page.style());
    at = end + 1;
  }
  page.paragraph(label, fitting);
}

enum class Halted : std::uint8_t { All, Untold };

/// `Untold`: those of which no row says it.
void show_halted(Page& page, const Overview& overview, Halted which) {
  for (const observe::ServerView& server : overview.halted) {
    if (which == Halted::All || !is_told(overview, server)) show_cut(page, "", shown_halt(server));
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

void show_running(Page& page, const Overview& overview, const PsView& view) {
  if (shows_nothing(page, overview)) return show_halted(page, overview, Halted::All);
  const bool wide = page.style().width >= kWide;
  wide ? show_wide(page, overview) : show_narrow(page, overview, view);
  if (view.verbose) {
    for (const InstanceRow& one : overview.instances) {
      if (!one.stale.empty()) show_cut(page, shown(one.server) + " runs old code: ", old_code_of(one));
    }
    show_all_about(page, overview);
  }
  // A column is usually too narrow for the whole sentence.
  show_halted(page, overview, wide || !view.verbose ? Halted::All : Halted::Untold);
}

/// Often nothing else is left of a server that failed.
void show_failures(Page& page, const Overview& overview, const PsView& view) {
  const std::size_t room = view.verbose ? std::string::npos : kLinesOfFailure * page.style().width;
  for (const observe::FailureView& failure : overview.failures) {
    const std::string label = shown(failure.server) + " failed " + shown_age(failure.age) + " ago: ";
    show_cut(page, "", label + fit(shown(failure.text), room, page.style()));
  }
}

}  // namespace

void show_daemon(Page& page, const Overview& overview) {
  const observe::DaemonView& daemon = overview.daemon;
  show_cut(page, "",
           "corral " + shown(daemon.version) + " (build " + shown(daemon.build) + "), pid " +
               shown_pid(daemon.pid) + ", up " + shown_age(daemon.uptime) +
               (daemon.config.empty() ? "" : ", configured by " + shorten_home(daemon.config)));
  if (!overview.url.empty()) show_cut(page, "  ", "by URL: " + overview.url);
  if (!daemon.config_error.empty()) {
    show_cut(page, "  ",
             "The file has changed but cannot be used; the previous configuration is in force: " +
                 daemon.config_error);
  }
}

void show_process_table(Page& page, const Overview& overview, const PsView& view) {
  show_running(page, overview, view);
  show_failures(page, overview, view);
  if (view.hint && !overview.instances.empty() && page.style().width < kWide && !view.verbose) {
    page.paragraph("", "`corral ps -v` says why each process is shared or private");
  }
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
  show_halted(page, overview, Halted::All);
}

}  // namespace corral::cli
