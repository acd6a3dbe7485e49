#include "base/units.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>
#include <string>

namespace corral {
namespace {

struct Quantity {
  double value = 0;
  std::string_view unit;
};

/// Splits a decimal number from the text after it. Signs, exponents and "inf" are not accepted.
bool split(std::string_view text, Quantity& quantity) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string_view digits = text.substr(0, end);
  const auto [rest, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), quantity.value, std::chars_format::fixed);
  if (error != std::errc{} || rest != digits.data() + digits.size()) return false;
  quantity.unit = text.substr(digits.size());
  return true;
}

Error malformed(std::string_view what, std::string_view text, std::string_view expected) {
  return Error{"invalid " + std::string(what) + " '" + std::string(text) + "': use " + std::string(expected)};
}

/// Milliseconds per unit; 0 = unknown unit.
double duration_unit(std::string_view unit) {
  if (unit == "ms") return 1;
  if (unit == "s") return 1000;
  if (unit == "m" || unit == "min") return 60'000;
  if (unit == "h") return 3'600'000;
  if (unit == "d") return 86'400'000;
  return 0;
}

/// Bytes per unit; 0 = unknown unit.
double size_unit(std::string_view unit) {
  if (unit.empty() || unit == "B") return 1;
  const std::string_view suffix = unit.substr(1);
  if (!suffix.empty() && suffix != "B" && suffix != "iB") return 0;
  switch (unit.front()) {
    case 'k':
    case 'K': return 1024.0;
    case 'M': return 1024.0 * 1024;
    case 'G': return 1024.0 * 1024 * 1024;
    case 'T': return 1024.0 * 1024 * 1024 * 1024;
    default: return 0;
  }
}

Result<std::chrono::milliseconds> parse_time(std::string_view text, std::chrono::milliseconds longest,
                                             std::string_view expected) {
  Quantity quantity;
  if (!split(text, quantity)) return malformed("duration", text, expected);
  const double milliseconds = quantity.value * duration_unit(quantity.unit);
  const bool zero_of_a_unit = quantity.value == 0 && duration_unit(quantity.unit) > 0;
  const bool too_long = milliseconds > static_cast<double>(longest.count());
  if ((milliseconds <= 0 && !zero_of_a_unit) || too_long) return malformed("duration", text, expected);
  return std::chrono::milliseconds(std::llround(milliseconds));
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24);
  return parse_time(text, kLongest, "a number and a unit up to 24h, such as 500ms, 2s or 1m");
}

Result<std::chrono::milliseconds> parse_age(std::string_view text) {
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 3650);
  return parse_time(text, kLongest, "a number and a unit, such as 90s, 30m, 2h or 3d");
}

Result<std::uint64_t> parse_size(std::string_view text) {
  constexpr double kLargest = 1e15;
  Quantity quantity;
  const bool parsed = split(text, quantity);
  const double bytes = parsed ? quantity.value * size_unit(quantity.unit) : 0;
  if (!(bytes >= 1) || bytes > kLargest)
    return malformed("size", text, "a number of bytes, such as 512M or 2G");
  return static_cast<std::uint64_t>(bytes);
}

Result<std::uint32_t> parse_cores(std::string_view text) {
  constexpr double kLeast = 0.01;  // the kernel cannot schedule less in one period
  constexpr double kMost = 4096;
  Quantity quantity;
  const bool parsed = split(text, quantity) && (quantity.unit.empty() || quantity.unit == "%");
  const double cores = !parsed ? 0 : quantity.unit.empty() ? quantity.value : quantity.value / 100;
  if (!(cores >= kLeast) || cores > kMost) {
    return malformed("number of cores", text, "a number of cores, such as 0.5, 2 or 150%");
  }
  return static_cast<std::uint32_t>(std::llround(cores * 1000));
}

std::string show_age(std::chrono::milliseconds age) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  const auto two = [](std::int64_t large, const char* unit, std::int64_t small, const char* rest) {
    return std::to_string(large) + unit + (small == 0 ? "" : " " + std::to_string(small) + rest);
  };
  if (seconds < 60) return std::to_string(seconds < 0 ? 0 : seconds) + "s";
  if (seconds < 3600) return two(seconds / 60, "m", seconds % 60, "s");
  if (seconds < 86400) return two(seconds / 3600, "h", seconds / 60 % 60, "m");
  return two(seconds / 86400, "d", seconds / 3600 % 24, "h");
}

std::string show_size(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (number >= 1024 && unit + 1 < std::size(kUnits)) {
    number /= 1024;
    ++unit;
  }
  char text[32];
  // Prints a decimal digit only for small numbers.
  snprintf(text, sizeof text, unit > 0 && number < 10 ? "%.1f %s" : "%.0f %s", number, kUnits[unit]);
  return text;
}

}  // namespace corral
