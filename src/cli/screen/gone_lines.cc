#include "cli/screen/gone_lines.h"

#include "cli/screen/json_view.h"

namespace corral::cli {

std::string count_of(std::size_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

void show_gone(Page& page, const boost::json::value& result) {
  for (const boost::json::value& gone : list(result, "ended")) {
    const std::string processes = text(gone, "processes");
    page.paragraph(
        "  ", text(gone, "server") + " " + text(gone, "instance").substr(0, 8) + " " + text(gone, "end") +
                  ": " + processes + (processes == "1" ? " process, " : " processes, ") +
                  (flag(gone, "proved") ? "gone" : "NOT proved gone") + " after " + text(gone, "ms") + " ms");
  }
}

}  // namespace corral::cli
