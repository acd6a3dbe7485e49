#include "cli/frame/option_values.h"

#include <algorithm>
#include <charconv>

#include "base/units.h"
#include "base/utc_time.h"

namespace corral::cli {
namespace {

template <class Number>
bool parse_whole(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Apply set_flag(bool& flag) {
  return [&flag](const std::string&) -> Result<void> {
    flag = true;
    return {};
  };
}

Apply set_text(std::string& target) {
  return [&target](const std::string& text) -> Result<void> {
    target = text;
    return {};
  };
}

Apply set_word(std::string& target) {
  return [&target](const std::string& text) -> Result<void> {
    if (text.empty()) return Error{"the value is empty: leave the option out, or write what to look for"};
    target = text;
    return {};
  };
}

Apply set_age(std::chrono::milliseconds& age) {
  return [&age](const std::string& text) -> Result<void> {
    const Result<std::chrono::milliseconds> parsed = parse_age(text);
    if (!parsed) return parsed.error();
    age = *parsed;
    return {};
  };
}

Apply set_duration(std::chrono::milliseconds& duration) {
  return [&duration](const std::string& text) -> Result<void> {
    const Result<std::chrono::milliseconds> parsed = parse_duration(text);
    if (!parsed) return parsed.error();
    duration = *parsed;
    return {};
  };
}

Apply set_count(std::size_t& number, std::string what) {
  return [&number, what = std::move(what)](const std::string& text) -> Result<void> {
    if (parse_whole(text, number)) return {};
    return Error{"'" + text + "' is no " + what + ": write a whole number such as 9"};
  };
}

Apply set_count(std::optional<std::size_t>& number, std::string what) {
  return [&number, what = std::move(what)](const std::string& text) {
    return set_count(number.emplace(), what)(text);
  };
}

Apply set_port(std::optional<std::uint16_t>& port) {
  return [&port](const std::string& text) -> Result<void> {
    std::uint16_t number = 0;
    if (!parse_whole(text, number)) {
      return Error{"'" + text + "' is no port: write a number from 0 to 65535"};
    }
    port = number;
    return {};
  };
}

Apply set_pid(pid_t& pid) {
  return [&pid](const std::string& text) -> Result<void> {
    const Result<pid_t> parsed = parse_pid(text);
    if (!parsed) return parsed.error();
    pid = *parsed;
    return {};
  };
}

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

Option runtime_dir_option(std::string& target) {
  return {"--runtime-dir", "DIR", "Where to find the daemon, if not in the usual places", set_word(target)};
}

Result<pid_t> parse_pid(const std::string& text) {
  pid_t pid = 0;
  if (parse_whole(text, pid) && pid > 0) return pid;
  return Error{"'" + text + "' is no process number: write the PID as `ps` or `corral doctor` shows it"};
}

Result<void> expect_no_args(const std::vector<std::string>& args) {
  if (args.empty()) return {};
  return Error{"unexpected '" + args.front() + "': this command takes options only"};
}

}  // namespace corral::cli
