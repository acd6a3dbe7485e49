// Text for a person: wrapped to the terminal, plain ASCII where the locale asks for it, bold and in colour
// only on a terminal. Strings of foreign origin must be printable already.
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
  bool bold = false;  // and colours
};

/// How much a text should strike the eye.
enum class Tone { Plain, Strong, Warning, Bad };

inline constexpr std::size_t kWidestText = 120;  // longer lines are hard to follow

/// As the terminal behind a descriptor wants it; 80 columns, without bold, where there is none. COLUMNS,
/// NO_COLOR and the locale variables are honoured. A table may be wider than a text.
TerminalStyle terminal_style(int fd, std::size_t widest = kWidestText);

/// Columns that a UTF-8 text takes, one per code point.
std::size_t width_of(std::string_view text);

/// The text in its tone; only where the look has colours. Its width is to be counted before.
std::string toned(const std::string& text, Tone tone, const TerminalStyle& style);

/// Cut to at most `width` columns, with an ellipsis in place of what is missing.
std::string fit(const std::string& text, std::size_t width, const TerminalStyle& style);

/// "~/project" instead of the whole path.
std::string shorten_home(const std::string& path);

/// The same for every path in a sentence.
std::string shorten_homes(std::string text);

class Page {
 public:
  Page(std::ostream& out, TerminalStyle style) : out_(out), style_(style) {}

  const TerminalStyle& style() const { return style_; }
  void blank() { out_ << '\n'; }
  /// Strong, and in a tone beside that.
  void heading(const std::string& text, Tone tone = Tone::Plain);
  /// Wrapped at blanks; `label` stands before the first line, the others are indented below the text.
  void paragraph(const std::string& label, const std::string& text);
  /// To be pasted: never wrapped or cut.
  void command(const std::string& label, const std::string& text) { put(label + text); }

  struct Column {
    std::string title;
    bool right = false;
    bool takes_rest = false;       // shrinks to what is left; at most one
    std::vector<Tone> tones = {};  // of its cells, one for each row; empty = plain
  };
  /// `below` has a sentence for each row, which stands below it; or is empty.
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
