#include "cli/screen/page.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace corral::cli {
namespace {

constexpr std::size_t kNarrowest = 40;  // narrower text is unreadable, so let the terminal wrap

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::string environment(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment(name);
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

std::size_t terminal_width(int fd) {
  const std::string columns = environment("COLUMNS");
  std::size_t asked = 0;
  std::from_chars(columns.data(), columns.data() + columns.size(), asked);
  if (asked > 0) return asked;
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

constexpr const char* kPlainAgain = "\x1b[0m";

const char* sequence_of(Tone tone) {
  switch (tone) {
    case Tone::Strong: return "\x1b[1m";
    case Tone::Good: return "\x1b[32m";
    case Tone::Warning: return "\x1b[33m";
    case Tone::Bad: return "\x1b[31m";
    case Tone::Plain: break;
  }
  return "";
}

/// The width of the widest cell of a column, including its title.
std::size_t widest_cell(const std::string& title, const std::vector<std::vector<std::string>>& rows,
                        std::size_t column) {
  std::size_t widest = width_of(title);
  for (const auto& row : rows) widest = std::max(widest, width_of(row[column]));
  return widest;
}

/// The first `columns` code points.
std::string prefix(const std::string& text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (is_continuation(text[at])) continue;
    if (columns == 0) break;
    --columns;
  }
  return text.substr(0, at);
}

}  // namespace

TerminalStyle terminal_style(int fd, std::size_t widest) {
  TerminalStyle style;
  style.width = std::clamp(terminal_width(fd), kNarrowest, widest);
  style.unicode = locale_is_utf8();
  style.bold = isatty(fd) == 1 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return style;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

std::string toned(const std::string& text, Tone tone, const TerminalStyle& style) {
  if (!style.bold || tone == Tone::Plain || text.empty()) return text;
  return sequence_of(tone) + text + kPlainAgain;
}

std::string fit(const std::string& text, std::size_t width, const TerminalStyle& style) {
  const std::string ellipsis = style.unicode ? "…" : "...";
  if (width_of(text) <= width) return text;
  const std::size_t taken = width_of(ellipsis);
  return width <= taken ? prefix(text, width) : prefix(text, width - taken) + ellipsis;
}

std::string shorten_home(const std::string& path) {
  const std::string home = environment("HOME");
  if (home.size() < 2 || !path.starts_with(home)) return path;
  if (path.size() > home.size() && path[home.size()] != '/') return path;
  return "~" + path.substr(home.size());
}

std::string shorten_homes(std::string text) {
  const std::string home = environment("HOME") + "/";
  if (home.size() < 3) return text;
  for (std::size_t at = 0; (at = text.find(home, at)) != std::string::npos; at += 2) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\'';
    if (begins) text.replace(at, home.size(), "~/");
  }
  return text;
}

/// All output goes through here. If the locale has no Unicode, other characters are printed as question
/// marks.
void Page::put(const std::string& line) {
  for (const char byte : line) {
    if (style_.unicode || static_cast<unsigned char>(byte) < 0x80) {
      out_ << byte;
    } else if (!is_continuation(byte)) {
      out_ << '?';
    }
  }
  out_ << '\n';
}

void Page::heading(const std::string& text, Tone tone) {
  if (style_.bold) out_ << sequence_of(Tone::Strong) << sequence_of(tone);
  paragraph("", text);
  if (style_.bold) out_ << kPlainAgain;
}

void Page::paragraph(const std::string& label, const std::string& text) {
  const std::string indent(width_of(label), ' ');
  std::string line = label;
  bool empty = true;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (!empty && width_of(line) + 1 + width_of(word) > style_.width) {
      put(line);
      line = indent;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  put(line);
}

void Page::table(const std::string& indent, const std::vector<Column>& columns,
                 const std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& below) {
  std::vector<std::size_t> widths;
  std::size_t used = width_of(indent);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(widest_cell(columns[i].title, rows, i));
    used += widths.back() + (i == 0 ? 0 : 2);
  }
  const auto shrink = [&](std::size_t i) {
    constexpr std::size_t kLeast = 12;
    const std::size_t too_much = used > style_.width ? used - style_.width : 0;
    const std::size_t given = std::min(too_much, widths[i] > kLeast ? widths[i] - kLeast : 0);
    widths[i] -= given;
    used -= given;
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].takes_rest) shrink(i);
  }
  for (std::size_t i = columns.size(); i-- > 0;)
    shrink(i);  // if that was not enough, the others from the right
  Cells titles;
  titles.reserve(columns.size());
  for (const Column& column : columns) titles.push_back(column.title);
  put(toned(table_row(indent, columns, widths, titles, {}), Tone::Strong, style_));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<Tone> tones;
    tones.reserve(columns.size());
    for (const Column& column : columns) {
      tones.push_back(i < column.tones.size() ? column.tones[i] : Tone::Plain);
    }
    put(table_row(indent, columns, widths, rows[i], tones));
    if (i < below.size()) paragraph(indent + "  ", below[i]);
  }
}

std::string Page::table_row(const std::string& indent, const std::vector<Column>& columns,
                            const std::vector<std::size_t>& widths, const Cells& cells,
                            const std::vector<Tone>& tones) const {
  std::string line = indent;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string cell = fit(cells[i], widths[i], style_);
    const std::string padding(widths[i] - std::min(widths[i], width_of(cell)), ' ');
    const std::string said = toned(cell, i < tones.size() ? tones[i] : Tone::Plain, style_);
    line += (i == 0 ? "" : "  ") + (columns[i].right ? padding + said : said + padding);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace corral::cli
