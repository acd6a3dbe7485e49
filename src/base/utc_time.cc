#include "base/utc_time.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace corral {
namespace {

using std::chrono::milliseconds;

/// Removes `count` digits from the front; -1 if there are fewer.
int take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return -1;
  int number = 0;
  for (const char digit : text.substr(0, count)) {
    if (digit < '0' || digit > '9') return -1;
    number = number * 10 + (digit - '0');
  }
  text.remove_prefix(count);
  return number;
}

bool take_letter(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<milliseconds> take_time_of_day(std::string_view& text) {
  const int hour = take_digits(text, 2);
  const bool colon = take_letter(text, ":");
  const int minute = take_digits(text, 2);
  if (!colon || hour < 0 || hour > 23 || minute < 0 || minute > 59) return std::nullopt;
  milliseconds time = std::chrono::hours(hour) + std::chrono::minutes(minute);
  if (!take_letter(text, ":")) return time;
  const int second = take_digits(text, 2);
  if (second < 0 || second > 60) return std::nullopt;
  time += std::chrono::seconds(second);
  if (!take_letter(text, ".")) return time;
  int unit = 100;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), unit /= 10) {
    time += milliseconds((text.front() - '0') * unit);
  }
  return time;
}

/// The offset that must be added to get UTC.
std::optional<milliseconds> take_offset(std::string_view& text) {
  if (text.empty() || take_letter(text, "Zz")) return milliseconds(0);
  const bool west = text.front() == '-';
  if (!take_letter(text, "+-")) return std::nullopt;
  const int hour = take_digits(text, 2);
  const bool colon = take_letter(text, ":");
  const int minute = take_digits(text, 2);
  if (!colon || hour < 0 || hour > 23 || minute < 0 || minute > 59) return std::nullopt;
  const milliseconds offset = std::chrono::hours(hour) + std::chrono::minutes(minute);
  return west ? offset : -offset;
}

}  // namespace

std::int64_t unix_time_ms() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(since).count();
}

std::string show_utc(std::int64_t unix_ms) {
  constexpr std::int64_t kLast =
      253'402'300'799'999;  // end of the year 9999; later times would make the text longer
  using std::chrono::floor;
  const std::chrono::sys_time<milliseconds> time{milliseconds(std::clamp(unix_ms, std::int64_t{0}, kLast))};
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02ld:%02ld:%02ld.%03ldZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                clock.seconds().count(), clock.subseconds().count());
  return text.data();
}

std::optional<std::int64_t> parse_utc(std::string_view text) {
  const int year = take_digits(text, 4);
  const bool first = take_letter(text, "-");
  const int month = take_digits(text, 2);
  const bool second = take_letter(text, "-");
  const int day = take_digits(text, 2);
  if (!first || !second || year < 1970 || month < 1 || day < 1) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const milliseconds midnight = std::chrono::sys_days(date).time_since_epoch();
  if (text.empty()) return midnight.count();
  if (!take_letter(text, "Tt ")) return std::nullopt;
  const std::optional<milliseconds> time = take_time_of_day(text);
  const std::optional<milliseconds> offset = time ? take_offset(text) : std::nullopt;
  if (!offset || !text.empty()) return std::nullopt;
  return (midnight + *time + *offset).count();
}

std::string show_utc_seconds(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  const std::size_t length = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

}  // namespace corral
