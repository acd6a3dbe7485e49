#include "cli/frame/since.h"

#include <algorithm>

#include "base/units.h"
#include "base/utc_time.h"

namespace corral::cli {

Result<std::int64_t> parse_since(std::string_view text, std::int64_t now) {
  if (const std::optional<std::int64_t> moment = parse_utc(text)) return *moment;
  const Result<std::chrono::milliseconds> age = parse_age(text);
  if (age) return std::max<std::int64_t>(now - age->count(), 0);
  return Error{"'" + std::string(text) +
               "' is no time: write how long ago (10m, 3h, 2d), or when (2026-11-16T03:40:00Z)"};
}

Apply set_since(std::int64_t& since_ms) {
  return [&since_ms](const std::string& text) -> Result<void> {
    const Result<std::int64_t> parsed = parse_since(text, unix_time_ms());
    if (!parsed) return parsed.error();
    since_ms = *parsed;
    return {};
  };
}

}  // namespace corral::cli
