// Draws `corral top` as lines for a given width and height. Pure: top_terminal decides about escape
// sequences.
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

/// At most `height` lines of at most `style.width` columns. The last line is for messages and questions.
std::vector<TopLine> draw_top(const TopModel& model, std::size_t height, const TerminalStyle& style);

/// The number of lines for rows.
std::size_t rows_of_top(std::size_t height);

/// The complete list, for --batch.
std::vector<TopLine> list_top(const TopModel& model, const TerminalStyle& style);

}  // namespace corral::cli
