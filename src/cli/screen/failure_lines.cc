#include "cli/screen/failure_lines.h"

#include "base/text.h"
#include "cli/screen/overview.h"
#include "events/event.h"

namespace corral::cli {

std::string failed_ago(const std::string& server, const std::string& kind, const std::string& age) {
  const bool refused = kind == events::name_of(events::Kind::Refused);
  return printable(shown(server)) + (refused ? " refused " : " failed ") + age + " ago: ";
}

std::string lines_below(const std::vector<std::string>& error_lines) {
  std::string text;
  for (const std::string& line : error_lines) text += kErrorLineLabel + printable(line) + "\n";
  return text;
}

void show_failure(Page& page, const observe::FailureView& failure) {
  page.paragraph(failed_ago(failure.server, failure.kind, shown_age(failure.age)),
                 printable(shown(failure.text)));
  for (const std::string& line : failure.error_lines) page.paragraph(kErrorLineLabel, printable(line));
}

std::vector<std::string> strings_in(const boost::json::array& lines) {
  std::vector<std::string> strings;
  for (const boost::json::value& line : lines) {
    if (line.is_string()) strings.emplace_back(line.get_string());
  }
  return strings;
}

boost::json::array as_json(const std::vector<std::string>& lines) {
  boost::json::array list;
  for (const std::string& line : lines) list.emplace_back(line);
  return list;
}

}  // namespace corral::cli
