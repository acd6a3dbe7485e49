// `corral top` as lines of a given width and height. Pure: what the lines look like on a terminal is decided
// in top_terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/screen/page.h"
#include "cli/screen/top_model.h"

namespace corral::cli {

struct TopLine {
  enum class Style { Plain, Title, Header, Selected, Faint, Warning, Bad };
  std::string text;
  Style style = Style::Plain;
};

/// At most `height` lines of at most `look.width` columns; the last is for messages and questions.
std::vector<TopLine> draw_top(const TopModel& model, std::size_t height, const TerminalStyle& style);

/// How many lines there are for rows.
std::size_t rows_of_top(std::size_t height);

/// The whole list, however long: for --batch.
std::vector<TopLine> list_top(const TopModel& model, const TerminalStyle& style);

}  // namespace corral::cli
