// The revisions of MCP that corral speaks, as a table: one row per revision, one column per difference that
// some code asks about. This is the only file in src/ that names their dates; `tools/check_words.py` sees to
// that. Constant values, usable on any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace corral::wire {

/// How a server is spoken to: with `initialize` and a session, or without either. One process speaks one era.
enum class Era : std::uint8_t { Legacy, Modern };

struct Revision {
  std::string_view date;
  Era era = Era::Legacy;
  bool batches = false;          // several messages may come as one JSON array
  bool audio = false;            // content of type "audio"
  bool resource_links = false;   // content of type "resource_link"
  bool structured = false;       // `structuredContent` of results and `outputSchema` of tools
  bool url_elicitation = false;  // `elicitation/create` with mode "url"
  bool extensions = false;       // `extensions` among the capabilities
  bool primed_streams = false;  // an SSE stream begins with an empty event whose id lets the client resume it
};

/// Oldest first; the modern ones after the legacy ones.
inline constexpr std::array kRevisions = {
    Revision{.date = "2024-11-05", .era = Era::Legacy},
    Revision{.date = "2025-03-26", .era = Era::Legacy, .batches = true, .audio = true},
    Revision{
        .date = "2025-06-18", .era = Era::Legacy, .audio = true, .resource_links = true, .structured = true},
    Revision{.date = "2025-11-25",
             .era = Era::Legacy,
             .audio = true,
             .resource_links = true,
             .structured = true,
             .url_elicitation = true,
             .extensions = true,
             .primed_streams = true},
    Revision{.date = "2026-07-28",
             .era = Era::Modern,
             .audio = true,
             .resource_links = true,
             .structured = true,
             .url_elicitation = true,
             .extensions = true},
};

/// Null if corral does not speak it.
constexpr const Revision* find_revision(std::string_view date) {
  const auto* const found = std::find_if(kRevisions.begin(), kRevisions.end(),
                                         [date](const Revision& revision) { return revision.date == date; });
  return found == kRevisions.end() ? nullptr : found;
}

constexpr const Revision& oldest_revision(Era era) {
  return *std::find_if(kRevisions.begin(), kRevisions.end(),
                       [era](const Revision& revision) { return revision.era == era; });
}

constexpr const Revision& newest_revision(Era era) {
  return *std::find_if(kRevisions.rbegin(), kRevisions.rend(),
                       [era](const Revision& revision) { return revision.era == era; });
}

/// The legacy revision of this date; for any other date the newest legacy one, because that is what a client
/// that asks for something else is offered.
constexpr const Revision& legacy_revision(std::string_view date) {
  const Revision* const found = find_revision(date);
  return found != nullptr && found->era == Era::Legacy ? *found : newest_revision(Era::Legacy);
}

constexpr bool is_legacy_version(std::string_view date) {
  const Revision* const found = find_revision(date);
  return found != nullptr && found->era == Era::Legacy;
}

constexpr bool is_modern_version(std::string_view date) {
  const Revision* const found = find_revision(date);
  return found != nullptr && found->era == Era::Modern;
}

inline constexpr std::string_view kOldestLegacy = oldest_revision(Era::Legacy).date;
inline constexpr std::string_view kNewestLegacy = newest_revision(Era::Legacy).date;
inline constexpr std::string_view kOldestModern = oldest_revision(Era::Modern).date;
inline constexpr std::string_view kModern = newest_revision(Era::Modern).date;

/// All of them for a message to a person: "A, B and C".
std::string revisions_in_words();

/// The `data` of the error that refuses a request of an unknown modern revision. `requested` is JSON text.
std::string unsupported_version_data(std::string_view requested);

}  // namespace corral::wire
