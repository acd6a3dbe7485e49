// Text for people: wrapped to the width of the terminal, in plain ASCII if the locale requires it, bold and
// coloured only on a terminal. Strings from outside must be printable already.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace corral::cli {

struct TerminalStyle {
  std::size_t width = 80;
  bool unicode = true;
  bool bold = false;  // and coloured
};

/// How much a text should stand out.
enum class Tone { Plain, Strong, Good, Warning, Bad };

inline constexpr std::size_t kWidestText = 120;  // longer lines are hard to follow

/// The style for the terminal at a descriptor; 80 columns without bold if it is not a terminal. Honours
/// COLUMNS, NO_COLOR and the locale variables. `widest` limits the width: tables may be wider than text.
TerminalStyle terminal_style(int fd, std::size_t widest = kWidestText);

/// The width of a UTF-8 text in columns, one per code point.
std::size_t width_of(std::string_view text);

/// The text with the escape sequences of its tone, if the style has colours. Count its width before.
std::string toned(const std::string& text, Tone tone, const TerminalStyle& style);

/// Cuts the text to at most `width` columns; an ellipsis replaces the rest.
std::string fit(const std::string& text, std::size_t width, const TerminalStyle& style);

/// "~/project" instead of the whole path.
std::string shorten_home(const std::string& path);

/// The same for all paths in a sentence.
std::string shorten_homes(std::string text);

class Page {
 public:
  Page(std::ostream& out, TerminalStyle style) : out_(out), style_(style) {}

  const TerminalStyle& style() const { return style_; }
  void blank() { out_ << '\n'; }
  /// In bold, and in a tone.
  void heading(const std::string& text, Tone tone = Tone::Plain);
  /// Wrapped at spaces. `label` precedes the first line; the other lines are indented by its width.
  void paragraph(const std::string& label, const std::string& text);
  /// For copying: never wrapped or cut.
  void command(const std::string& label, const std::string& text) { put(label + text); }

  struct Column {
    std::string title;
    bool right = false;
    bool takes_rest = false;       // shrinks to the remaining width; at most one
    std::vector<Tone> tones = {};  // one for each row; empty = plain
  };
  /// `below` is empty, or has a sentence for each row, which is printed under that row.
  void table(const std::string& indent, const std::vector<Column>& columns,
             const std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& below = {});

 private:
  void put(const std::string& line);
  using Cells = std::vector<std::string>;
  std::string table_row(const std::string& indent, const std::vector<Column>& columns,
                        const std::vector<std::size_t>& widths, const Cells& cells,
                        const std::vector<Tone>& tones) const;

  std::ostream& out_;
  TerminalStyle style_;
};

}  // namespace corral::cli
