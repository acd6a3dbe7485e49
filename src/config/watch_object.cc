#include "config/watch_object.h"

#include <array>
#include <boost/json.hpp>

#include "base/version_order.h"

namespace corral::config {
namespace {

// A look takes some milliseconds of a processor.
constexpr std::chrono::seconds kShortestWatch{1};

void read_interval(Reading& reading, const Field& field, WatchRules& watch) {
  const auto time = reading.duration(field);
  if (!time) return;
  if (time->count() != 0 && *time < kShortestWatch) {
    return reading.fail(field.place.value, field.naming() + " is less than a second",
                        R"(Write a time such as "60s", or 0 to switch the watchdog off)");
  }
  watch.interval = *time;
}

void read_foreign(Reading& reading, const Field& field, WatchRules& watch) {
  constexpr std::array<std::string_view, 3> kWords = {"off", "report", "end"};
  constexpr std::array<Foreign, 3> kForeign = {Foreign::Off, Foreign::Report, Foreign::End};
  if (const auto index = reading.choice(field, kWords)) watch.foreign = kForeign[*index];
}

}  // namespace

void read_watch(Reading& reading, const Field& field, WatchRules& watch) {
  if (!field.value.is_object()) {
    return reading.fail(field.place.value, field.naming() + " must be an object",
                        R"(Write "watch": {"interval": "60s", "foreign": "report"})");
  }
  reading.each_member(field.value, field.place.value, "\"watch\"", [&](const Field& member) {
    if (member.key == "interval") return read_interval(reading, member, watch);
    if (member.key == "foreign") return read_foreign(reading, member, watch);
    reading.warn_unknown(member, {"interval", "foreign"});
  });
}

void read_min_version(Reading& reading, const Field& field, std::string& target) {
  const std::optional<std::string> text = reading.text(field);
  if (!text) return;
  if (!is_version(*text)) {
    return reading.fail(field.place.value, field.naming() + " is no version",
                        R"(Write numbers with points: "1.2.0")");
  }
  target = *text;
}

}  // namespace corral::config
