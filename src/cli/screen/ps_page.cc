#include "cli/screen/ps_page.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/units.h"
#include "base/words.h"
#include "cli/screen/daemon_notes.h"
#include "cli/screen/failure_lines.h"
#include "cli/screen/ps_rows.h"
#include "cli/screen/sharing_text.h"

namespace corral::cli {
namespace {

using Cells = std::vector<std::string>;

constexpr std::size_t kLeastText = 12;      // the least width of a column of text that can be cut
constexpr std::size_t kLinesOfFailure = 3;  // of one failure, without --verbose
constexpr std::size_t kWide = 140;          // from this width on the reason has its own column
constexpr std::size_t kWidestClients = 16;
constexpr std::size_t kWidestState = 30;
constexpr std::size_t kIndent = 2;  // of the sentence under a row

struct PsColumn {
  const char* title;
  const char* word;  // what the value is called where it has no column; null = the sentence has it
  bool right;
  bool always;  // not only on a wide page
  int worth;    // if there is no room, the column with the lowest is dropped first
  std::string PsRow::*cell;
};

const std::vector<PsColumn>& ps_columns() {
  static const std::vector<PsColumn> columns = {
      {"SERVER", "server", false, true, 100, &PsRow::server},
      {"PID", "pid", true, true, 80, &PsRow::pid},
      {"PROCS", "procs", true, true, 30, &PsRow::processes},
      {"LEVEL", nullptr, false, false, 20, &PsRow::level},
      {"SHARE", nullptr, false, false, 20, &PsRow::share},
      {"SESS", "sessions", true, true, 60, &PsRow::sessions},
      {"CLIENT", nullptr, false, false, 20, &PsRow::clients},
      {"UP", "up", true, true, 50, &PsRow::age},
      {"MEMORY", "memory", true, true, 70, &PsRow::memory},
      {"CPU", "cpu", true, true, 40, &PsRow::cpu},
      {"STATE", "state", false, true, 90, &PsRow::state},
      {"CODE", nullptr, false, false, 20, &PsRow::code},
      {"SHARED BECAUSE", nullptr, false, false, 10, &PsRow::reason},
  };
  return columns;
}

bool is_column(const PsColumn& column, std::string PsRow::*cell) { return column.cell == cell; }

/// The columns of the page, in their order, and those for which it has no room.
struct Fitting {
  std::vector<PsColumn> kept;
  std::vector<PsColumn> dropped;
};

/// The name and the reason can be cut, so only their first letters must fit. With --verbose the reason is in
/// the sentence.
Fitting fitting_columns(const std::vector<PsRow>& rows, std::size_t width, const PsView& view) {
  Fitting fitting;
  for (const PsColumn& column : ps_columns()) {
    if (is_column(column, &PsRow::reason) && view.verbose) continue;
    if (column.always || width >= kWide) fitting.kept.push_back(column);
  }
  const auto width_of_column = [&rows](const PsColumn& column) {
    std::size_t widest = width_of(column.title);
    for (const PsRow& row : rows) widest = std::max(widest, width_of(row.*column.cell));
    const bool can_be_cut = is_column(column, &PsRow::server) || is_column(column, &PsRow::reason);
    return can_be_cut ? std::min(widest, std::max(width_of(column.title), kLeastText)) : widest;
  };
  const auto used = [&] {
    std::size_t sum = 0;
    for (const PsColumn& column : fitting.kept) sum += width_of_column(column) + (sum == 0 ? 0 : 2);
    return sum;
  };
  while (fitting.kept.size() > 1 && used() > width) {
    const auto least =
        std::min_element(fitting.kept.begin(), fitting.kept.end(),
                         [](const PsColumn& a, const PsColumn& b) { return a.worth < b.worth; });
    fitting.dropped.push_back(*least);
    fitting.kept.erase(least);
  }
  return fitting;
}

/// A word that is wider than the page, usually a path, is cut.
std::string cut_words(const std::string& text, std::size_t room, const TerminalStyle& style) {
  std::string fitting;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    fitting += (at == 0 ? "" : " ") + fit(text.substr(at, end - at), room, style);
    at = end + 1;
  }
  return fitting;
}

void show_cut(Page& page, const std::string& label, const std::string& text) {
  const std::size_t room = page.style().width - std::min(page.style().width, width_of(label));
  page.paragraph(label, cut_words(text, room, page.style()));
}

/// What --verbose says under a row.
std::string sentence_of(const PsRow& row, const std::vector<PsColumn>& dropped) {
  std::string text;
  for (const PsColumn& column : dropped) {
    if (column.word == nullptr) continue;
    text += (text.empty() ? "" : ", ") + std::string(column.word) + " " + row.*column.cell;
  }
  for (const std::string& line : row.why) text += (text.empty() ? "" : "; ") + line;
  if (row.runs) text += "; " + row.level + "; " + row.code + " code";
  if (row.clients != "-") text += "; for " + row.clients;
  return text;
}

std::string old_code_of(const InstanceRow& one) {
  return shorten_home(one.stale) + (one.rolls ? "; new sessions get the new code"
                                              : "; `corral restart " + one.server + "` runs the new code");
}

enum class ShowsCode : std::uint8_t { InColumn, InState };

/// Without a column for the code, the colour of the state shows that the code is stale.
Tone tone_of(const PsRow& row, const PsColumn& column, ShowsCode shows) {
  const bool old = row.stale && (is_column(column, &PsRow::code) || shows == ShowsCode::InState);
  if (is_column(column, &PsRow::code)) return old ? Tone::Warning : Tone::Plain;
  if (!is_column(column, &PsRow::state)) return Tone::Plain;
  return row.state_tone == Tone::Plain && old ? Tone::Warning : row.state_tone;
}

/// The columns that fit, in one line for each row; with --verbose the rest as a sentence under it.
void show_rows(Page& page, std::vector<PsRow> rows, const PsView& view) {
  std::vector<std::string> below;
  for (PsRow& row : rows) row.state = fit(row.state, kWidestState, page.style());
  const Fitting fitting = fitting_columns(rows, page.style().width, view);
  for (PsRow& row : rows) {
    const std::string sentence = shorten_homes(sentence_of(row, fitting.dropped));
    if (view.verbose) below.push_back(cut_words(sentence, page.style().width - kIndent, page.style()));
    row.clients = fit(row.clients, kWidestClients, page.style());
  }
  const auto has = [&fitting](std::string PsRow::*cell) {
    return std::any_of(fitting.kept.begin(), fitting.kept.end(),
                       [cell](const PsColumn& column) { return is_column(column, cell); });
  };
  const bool reasons = has(&PsRow::reason);
  const ShowsCode codes = has(&PsRow::code) ? ShowsCode::InColumn : ShowsCode::InState;
  std::vector<Page::Column> columns;
  for (const PsColumn& column : fitting.kept) {
    const bool rest = is_column(column, reasons ? &PsRow::reason : &PsRow::server);
    Page::Column& made = columns.emplace_back(Page::Column{column.title, column.right, rest});
    for (const PsRow& row : rows) made.tones.push_back(tone_of(row, column, codes));
  }
  std::vector<Cells> cells;
  for (const PsRow& row : rows) {
    Cells line;
    for (const PsColumn& column : fitting.kept) line.push_back(row.*column.cell);
    cells.push_back(std::move(line));
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
               !one.stale.empty() && tone_of_state(one.state) == Tone::Plain ? Tone::Warning
                                                                             : tone_of_state(one.state));
  show_about(page, "  ", overview, one.server);
  std::string why;
  for (const std::string& line : sharing_lines(one)) why += line + "; ";
  show_cut(page, "  ", shorten_homes(why + "kept by " + shown(one.level)));
  if (!one.stale.empty()) page.paragraph("  ", "runs old code: " + shorten_home(one.stale));
  if (!one.unattended.empty()) page.paragraph("  ", shorten_homes(one.unattended));
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
  return unknown_server(name, overview.names);
}

bool shows_nothing(Page& page, const Overview& overview) {
  if (!overview.instances.empty() || !overview.waiting.empty()) return false;
  page.paragraph("", nothing_runs(overview));
  return true;
}

void show_running(Page& page, const Overview& overview, const PsView& view) {
  if (shows_nothing(page, overview)) return show_halted(page, overview, Halted::All);
  show_rows(page, view.verbose ? rows_by_process(overview) : rows_by_server(overview), view);
  if (view.verbose) {
    for (const InstanceRow& one : overview.instances) {
      if (!one.stale.empty()) show_cut(page, shown(one.server) + " runs old code: ", old_code_of(one));
    }
    show_all_about(page, overview);
  }
  show_halted(page, overview, view.verbose ? Halted::Untold : Halted::All);
}

/// What a server wrote last: all of it, or the last lines, each on one line of the page.
void show_error_lines(Page& page, const std::vector<std::string>& lines, const PsView& view) {
  constexpr std::size_t kFew = 3;
  const std::size_t room = page.style().width - std::min(page.style().width, width_of(kErrorLineLabel));
  const std::size_t first = view.verbose ? 0 : lines.size() - std::min(lines.size(), kFew);
  for (std::size_t i = first; i < lines.size(); ++i) {
    show_cut(page, kErrorLineLabel, view.verbose ? lines[i] : fit(lines[i], room, page.style()));
  }
}

/// Often nothing else is left of a server that failed.
void show_failures(Page& page, const Overview& overview, const PsView& view) {
  const std::size_t room = view.verbose ? std::string::npos : kLinesOfFailure * page.style().width;
  for (const observe::FailureView& failure : overview.failures) {
    const std::string label = failed_ago(failure.server, failure.kind, shown_age(failure.age));
    show_cut(page, "", label + fit(shown(failure.text), room, page.style()));
    show_error_lines(page, failure.error_lines, view);
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
  show_notes(page, overview);
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
