#include "cli/screen/top_screen.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/units.h"

namespace corral::cli {
namespace {

using Style = TopLine::Style;
using TopCells = std::vector<std::string>;

constexpr std::size_t kAround = 4;     // other lines: two of summary, the header, the message
constexpr std::size_t kLeastRest = 8;  // the least width of the column that takes the rest

enum class Align : std::uint8_t { Left, Right };

struct TopColumn {
  const char* title;
  Align align;
  int worth;  // if there is no room, the column with the lowest is dropped first; the name stays
  std::string (*cell)(const InstanceRow&);
};

const std::vector<TopColumn>& top_columns() {
  static const std::vector<TopColumn> columns = {
      {"SERVER", Align::Left, 100, [](const InstanceRow& row) { return shown(row.server); }},
      {"PID", Align::Right, 80, [](const InstanceRow& row) { return shown_pid(row.pid); }},
      {"PROCS", Align::Right, 50, [](const InstanceRow& row) { return shown_processes(row); }},
      {"SESS", Align::Right, 60, [](const InstanceRow& row) { return std::to_string(row.served.size()); }},
      {"UP", Align::Right, 40, [](const InstanceRow& row) { return shown_age(row.uptime); }},
      {"MEMORY", Align::Right, 90, [](const InstanceRow& row) { return shown_memory(row); }},
      {"CPU", Align::Right, 70, [](const InstanceRow& row) { return shown_cpu(row); }},
      {"STATE", Align::Left, 85, [](const InstanceRow& row) { return shown_state(row); }},
      {"CODE", Align::Left, 30, [](const InstanceRow& row) { return shown_code(row); }},
      {"LEVEL", Align::Left, 10, [](const InstanceRow& row) { return shown(row.level); }},
      {"CLIENT", Align::Left, 20, [](const InstanceRow& row) { return shown_clients(row.served); }},
      {"SHARED BECAUSE", Align::Left, 5, [](const InstanceRow& row) { return shown_reason(row); }},
  };
  return columns;
}

/// One byte per column if the locale has no Unicode; cut to the width of the screen.
std::string plain(const std::string& text, const TerminalStyle& style) {
  std::string cut = fit(text, style.width, style);
  if (style.unicode) return cut;
  std::string ascii;
  for (const char byte : cut) {
    const auto value = static_cast<unsigned char>(byte);
    if (value < 0x80) {
      ascii += byte;
    } else if ((value & 0xC0U) != 0x80U) {
      ascii += '?';
    }
  }
  return ascii;
}

std::string padded(const std::string& text, std::size_t width, Align align, const TerminalStyle& style) {
  const std::string cut = fit(text, width, style);
  const std::string room(width - std::min(width, width_of(cut)), ' ');
  return align == Align::Right ? room + cut : cut + room;
}

/// The columns that fit, with their widths. The first takes the rest.
class Layout {
 public:
  Layout(const std::vector<InstanceRow>& rows, const TerminalStyle& style) : style_(style) {
    for (const TopColumn& column : top_columns()) {
      std::size_t widest = width_of(column.title);
      for (const InstanceRow& row : rows) widest = std::max(widest, width_of(column.cell(row)));
      chosen_.push_back({&column, std::min(widest, kWidestCell)});
    }
    while (chosen_.size() > 1 && used() + kLeastRest > room()) drop_least();
    const std::size_t others = used();
    const std::size_t rest = room() > others ? room() - others : 1;
    chosen_.front().second = std::min(std::max(chosen_.front().second, kLeastRest), rest);
  }

  TopLine header() const {
    TopCells titles;
    for (const auto& [column, width] : chosen_) titles.emplace_back(column->title);
    TopLine line{row_text("  ", titles), Style::Header};
    line.text.resize(line.text.size() + style_.width - std::min(style_.width, width_of(line.text)), ' ');
    return line;
  }

  /// `mark` begins the line and is two columns wide.
  std::string text_of(const InstanceRow& row, const char* mark) const {
    TopCells cells;
    for (const auto& [column, width] : chosen_) cells.push_back(column->cell(row));
    return row_text(mark, cells);
  }

 private:
  static constexpr std::size_t kWidestCell = 24;

  std::size_t room() const { return style_.width > 2 ? style_.width - 2 : 1; }
  /// The width of all columns except the first.
  std::size_t used() const {
    std::size_t sum = 0;
    for (std::size_t i = 1; i < chosen_.size(); ++i) sum += chosen_[i].second + 2;
    return sum;
  }
  void drop_least() {
    chosen_.erase(std::min_element(chosen_.begin(), chosen_.end(), [](const auto& a, const auto& b) {
      return a.first->worth < b.first->worth;
    }));
  }
  std::string row_text(const std::string& mark, const TopCells& cells) const {
    std::string line = mark;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += (i == 0 ? "" : "  ") + padded(cells[i], chosen_[i].second, chosen_[i].first->align, style_);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return plain(line, style_);
  }

  TerminalStyle style_;
  std::vector<std::pair<const TopColumn*, std::size_t>> chosen_;
};

Style style_of(const InstanceRow& row) {
  const Tone tone = tone_of_state(row.state);
  if (tone == Tone::Bad) return Style::Bad;
  if (tone == Tone::Warning || !row.stale.empty()) return Style::Warning;
  return row.id.empty() || row.state == "idle" ? Style::Faint : Style::Plain;
}

std::string sum_line(const TopModel& model) {
  const Overview& all = model.overview();
  std::uint64_t memory = 0;
  double cpu = 0;
  std::size_t processes = 0;
  std::size_t sessions = all.waiting.size();
  bool measured = all.instances.empty();
  for (const InstanceRow& one : all.instances) {
    memory += memory_of(one).value_or(0);
    cpu += cpu_of(one).value_or(0);
    processes += one.usage ? one.usage->processes.size() : 0;
    sessions += one.served.size();
    measured = measured || one.usage;
  }
  const auto known = [measured](const std::string& value) { return measured ? value : std::string("-"); };
  return "instances " + std::to_string(all.instances.size()) + ", processes " +
         known(std::to_string(processes)) + ", sessions " + std::to_string(sessions) + ", memory " +
         known(show_size(memory)) + ", cpu " + known(shown_percent(cpu));
}

std::string title_line(const TopModel& model) {
  const Overview& all = model.overview();
  return "corral " + shown(all.daemon.version) + ", pid " + shown_pid(all.daemon.pid) + ", up " +
         shown_age(all.daemon.uptime) + ", by " + name_of(model.order());
}

/// The processes, parents first, indented by depth; then the sessions.
void add_tree(const InstanceRow& row, const TerminalStyle& style, std::vector<TopLine>& lines) {
  std::map<std::int64_t, std::size_t> depth;
  if (row.usage) {
    for (const observe::ProcessView& process : row.usage->processes) {
      const auto above = depth.find(process.parent);
      const std::size_t deep = above == depth.end() ? 0 : std::min<std::size_t>(above->second + 1, 20);
      depth[process.pid] = deep;
      lines.push_back(
          {plain("    " + std::string(deep * 2, ' ') + std::to_string(process.pid) + " " +
                     shown(process.name) + "  " + shown(process.state) + "  " + shown_size(process.memory) +
                     "  " + shown_time(process.cpu) + "  " + shown_age(process.age),
                 style)});
    }
  }
  for (const observe::SessionView& session : row.served) {
    lines.push_back({plain("    session " + shown_session(session) + ": " + shown_client(session) + ", " +
                               shown(session.state) + ", " + shown_age(session.age) + ", calls " +
                               shown_number(session.calls) +
                               (session.client.root.empty() ? "" : ", " + shorten_home(session.client.root)),
                           style),
                     Style::Faint});
  }
}

enum class Selection : std::uint8_t { Marked, Hidden };

/// All rows. `selected` gets the line of the selected row and the line after its tree.
std::vector<TopLine> row_lines(const TopModel& model, const Layout& layout, const TerminalStyle& style,
                               Selection selection, std::pair<std::size_t, std::size_t>& selected) {
  std::vector<TopLine> lines;
  for (std::size_t i = 0; i < model.rows().size(); ++i) {
    const InstanceRow& row = model.rows()[i];
    const bool chosen = selection == Selection::Marked && i == model.selected();
    if (chosen) selected.first = lines.size();
    lines.push_back({layout.text_of(row, chosen ? "> " : "  "), chosen ? Style::Selected : style_of(row)});
    if (model.shows_trees()) add_tree(row, style, lines);
    if (chosen) selected.second = lines.size();
  }
  return lines;
}

std::vector<TopLine> help_lines(const TerminalStyle& style) {
  std::vector<TopLine> lines;
  for (const char* const line :
       {"up, down, k, j    select a server (page up, page down, home, end)",
        "m c u s n         sort by memory, cpu, uptime, sessions, name",
        "t                 show the processes and sessions of each instance",
        "r                 restart the selected server",
        "x                 stop it, until `corral start NAME`", "q, Ctrl+C         quit", "",
        "CPU is the usage since the last update; 100% is one core.",
        "A parked session has no process until its next call.",
        "A stopped or broken server refuses calls; `corral start NAME` allows them.", "",
        "press any other key to return"}) {
    lines.push_back({plain(std::string("  ") + line, style)});
  }
  return lines;
}

TopLine last_line(const TopModel& model, const TerminalStyle& style) {
  if (!model.question().empty()) return {plain(model.question(), style), Style::Title};
  if (!model.message().empty()) return {plain(model.message(), style), Style::Title};
  if (!model.trouble().empty()) return {plain(model.trouble(), style), Style::Bad};
  return {plain("? help  q quit  r restart  x stop  t tree  sort: m c u s n", style), Style::Faint};
}

/// The visible part: it contains the selected row, and as much of its tree as fits.
std::vector<TopLine> window(std::vector<TopLine> lines, std::size_t room,
                            const std::pair<std::size_t, std::size_t>& selected) {
  if (lines.size() <= room) return lines;
  std::size_t first = 0;
  if (selected.second > room) first = selected.second - room;
  first = std::min(first, selected.first);
  first = std::min(first, lines.size() - room);
  return {lines.begin() + static_cast<std::ptrdiff_t>(first),
          lines.begin() + static_cast<std::ptrdiff_t>(first + room)};
}

}  // namespace

std::size_t rows_of_top(std::size_t height) { return height > kAround ? height - kAround : 1; }

std::vector<TopLine> draw_top(const TopModel& model, std::size_t height, const TerminalStyle& style) {
  if (height == 0 || style.width == 0) return {};
  std::vector<TopLine> lines = {{plain(title_line(model), style), Style::Title},
                                {plain(sum_line(model), style)}};
  const std::size_t room = rows_of_top(height);
  std::vector<TopLine> body;
  if (model.shows_help()) {
    lines.push_back({plain("keys", style), Style::Header});
    body = help_lines(style);
    body.resize(std::min(body.size(), room));
  } else {
    const Layout layout(model.rows(), style);
    lines.push_back(layout.header());
    std::pair<std::size_t, std::size_t> selected;
    body = window(row_lines(model, layout, style, Selection::Marked, selected), room, selected);
    if (body.empty())
      body.push_back({plain("  no instance is running, and no client is attached", style), Style::Faint});
  }
  body.resize(room);
  lines.insert(lines.end(), body.begin(), body.end());
  lines.push_back(last_line(model, style));
  // On a very low screen, rows and questions are more important than the lines above them.
  if (lines.size() > height) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(height));
  return lines;
}

std::vector<TopLine> list_top(const TopModel& model, const TerminalStyle& style) {
  const Layout layout(model.rows(), style);
  std::pair<std::size_t, std::size_t> selected;
  std::vector<TopLine> lines = {
      {plain(title_line(model), style), Style::Title}, {plain(sum_line(model), style)}, layout.header()};
  for (TopLine& line : row_lines(model, layout, style, Selection::Hidden, selected))
    lines.push_back(std::move(line));
  return lines;
}

}  // namespace corral::cli
