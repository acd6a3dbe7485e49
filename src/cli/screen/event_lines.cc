#include "cli/screen/event_lines.h"

#include <algorithm>

#include "base/text.h"
#include "base/utc_time.h"
#include "base/words.h"
#include "cli/screen/failure_lines.h"
#include "cli/screen/json_view.h"
#include "events/event.h"

namespace corral::cli {
namespace {

namespace json = boost::json;
using events::Kind;

constexpr std::size_t kKindWidth = 9;

std::int64_t number_of(const json::value& event, std::string_view name) {
  const json::value* const found = member(event, name);
  boost::system::error_code error;
  const std::int64_t number =
      found != nullptr && found->is_number() ? found->to_number<std::int64_t>(error) : 0;
  return error ? 0 : number;
}

bool is_among(const std::vector<std::string>& words, const std::string& word) {
  return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

/// Red for failures, yellow for what may need attention.
Tone tone_of_kind(const std::string& kind) {
  switch (events::kind_called(kind).value_or(Kind::Start)) {
    case Kind::Crash:
    case Kind::Failed:
    case Kind::Survivor:
    case Kind::Broken: return Tone::Bad;
    case Kind::Stale:
    case Kind::Refused:
    case Kind::Finding:
    case Kind::Registry:
    case Kind::Unattended:
    case Kind::Drift:
    case Kind::SlowTurn: return Tone::Warning;
    default: return Tone::Strong;
  }
}

/// What the server wrote last, below the sentence.
std::string error_lines_of(const json::value& event) {
  const std::string below = lines_below(strings_in(list(event, "stderr")));
  return below.empty() ? "" : "\n" + below.substr(0, below.size() - 1);
}

}  // namespace

bool is_chosen(const json::value& event, const EventChoice& choice) {
  return number_of(event, "time_ms") >= choice.since_ms && is_among(choice.kinds, text(event, "kind")) &&
         is_among(choice.servers, text(event, "server"));
}

std::string event_line(const json::value& event, const TerminalStyle& style) {
  const std::string kind = text(event, "kind");
  const std::size_t width = width_of(kind);
  const std::string padding(width < kKindWidth ? kKindWidth - width : 1, ' ');
  return show_utc(number_of(event, "time_ms")) + "  " + toned(kind, tone_of_kind(kind), style) + padding +
         text(event, "text") + error_lines_of(event);
}

std::vector<std::string> event_kinds() {
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Kind::SlowTurn); ++i) {
    kinds.emplace_back(events::name_of(static_cast<Kind>(i)));
  }
  return kinds;
}

Result<void> check_kind(const std::string& name) {
  if (events::kind_called(name)) return {};
  const std::vector<std::string> kinds = event_kinds();
  std::string listed;
  for (const std::string& kind : kinds) listed += (listed.empty() ? "" : ", ") + kind;
  const std::string near = nearest_word(name, kinds);
  return Error{"'" + printable(name) + "' is not a kind of event" +
               (near.empty() ? "." : "; did you mean " + near + "?") + " Known kinds: " + listed};
}

}  // namespace corral::cli
