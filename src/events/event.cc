#include "events/event.h"

#include <algorithm>
#include <array>

#include "base/loop.h"
#include "wire/json_writer.h"

namespace corral::events {
namespace {

constexpr std::array kKindNames = {"start",    "shutdown",   "spawn",   "restart",  "ready",   "attach",
                                   "detach",   "crash",      "failed",  "stop",     "extinct", "survivor",
                                   "broken",   "stale",      "refused", "reload",   "reap",    "finding",
                                   "registry", "unattended", "drift",   "slow-turn"};
static_assert(kKindNames.size() == static_cast<std::size_t>(Kind::SlowTurn) + 1);

constexpr std::array kCauseNames = {"spawn",    "warm",    "spare",   "manifest", "shared",    "private",
                                    "died",     "hung",    "restart", "remnant",  "container", "whole",
                                    "degraded", "damaged", "older",   "lost",     "parked",    "kept"};
static_assert(kCauseNames.size() == static_cast<std::size_t>(Cause::Kept) + 1);

}  // namespace

const char* name_of(Cause cause) { return kCauseNames[static_cast<std::size_t>(cause)]; }

const char* name_of(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<Kind> kind_called(std::string_view name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (name == kKindNames[i]) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

bool is_failure(Kind kind) {
  return kind == Kind::Failed || kind == Kind::Crash || kind == Kind::Broken || kind == Kind::Refused;
}

std::string sentence_of(const Event& event) {
  const std::string word = std::string(name_of(event.kind)) + ": ";
  return event.text.starts_with(word) ? event.text.substr(word.size()) : event.text;
}

std::vector<std::string> last_lines(std::string_view text) {
  constexpr std::size_t kMostLines = 10;
  constexpr std::size_t kLongestLine = 300;
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < kMostLines) {
    const std::size_t before = text.rfind('\n');
    const std::string_view line = text.substr(before == std::string_view::npos ? 0 : before + 1);
    text.remove_suffix(line.size());
    if (!text.empty()) text.remove_suffix(1);  // the line feed
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    lines.emplace_back(line.substr(0, std::min(line.find_last_not_of(" \t\r") + 1, kLongestLine)));
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

Event event_of(const SlowTurn& turn) {
  Event event;
  event.kind = Kind::SlowTurn;
  event.cause = turn.longest.what != nullptr ? turn.longest.what : "unknown";
  event.took = turn.cpu;
  event.count = turn.longest.count;
  event.text = "one turn of the daemon's loop took " + std::to_string(turn.cpu.count()) +
               " ms of CPU time (" + std::to_string(turn.wall.count()) + " ms wall time, " +
               std::to_string(turn.calls) + " calls) and delayed all sessions; most of it went to " +
               event.cause + ": " + std::to_string(turn.longest.count) + ", " +
               std::to_string(turn.longest.bytes) + " bytes";
  return event;
}

std::string members_of(const Event& event) {
  wire::JsonObject json;
  json.text("kind", name_of(event.kind));
  if (!event.server.empty()) json.text("server", event.server);
  if (!event.instance.empty()) json.text("instance", event.instance);
  if (event.session != 0) json.number("session", event.session);
  if (!event.cause.empty()) json.text("cause", event.cause);
  if (event.took) json.number("took_ms", event.took->count());
  if (event.count != 0) json.number("count", event.count);
  return json.bare();
}

std::string to_json(const Event& event) {
  wire::JsonObject json;
  json.number("number", event.number).number("time_ms", event.time_ms).members(members_of(event));
  if (event.pid != 0) json.number("pid", event.pid);
  json.text("text", event.text);
  if (!event.error_lines.empty()) json.raw("stderr", wire::array_of_texts(event.error_lines));
  return json.json();
}

}  // namespace corral::events
