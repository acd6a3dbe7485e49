#include "cli/frame/option_values.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <thread>

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
    if (text.empty()) return Error{"the value is empty: give a value, or omit the option"};
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
    return Error{"invalid " + what + " '" + text + "': use a whole number, such as 9"};
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
      return Error{"invalid port '" + text + "': use a number from 0 to 65535"};
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
  return Error{"invalid time '" + std::string(text) +
               "': use an age (10m, 3h, 2d) or a date (2026-11-16T03:40:00Z)"};
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
  return {"--runtime-dir", "DIR", "Directory of the daemon's socket, instead of the usual one",
          set_word(target)};
}

Result<pid_t> parse_pid(const std::string& text) {
  pid_t pid = 0;
  if (parse_whole(text, pid) && pid > 0) return pid;
  return Error{"invalid pid '" + text + "': use a number as shown by `ps` or `corral doctor`"};
}

Result<void> expect_no_args(const std::vector<std::string>& args) {
  if (args.empty()) return {};
  return Error{"unexpected argument '" + args.front() + "': this command takes only options"};
}

namespace {

/// The reader of a pipe gets a moment to open it.
UniqueFd open_to_append(const std::string& path) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{50};
  UniqueFd file;
  for (int i = 0; i < kTries; ++i) {
    file =
        UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
    if (file.valid() || errno != ENXIO) break;
    std::this_thread::sleep_for(kPause);
    errno = ENXIO;
  }
  if (file.valid()) fcntl(file.get(), F_SETFL, O_APPEND);  // only open() must not block
  return file;
}

}  // namespace

Result<UniqueFd> open_report(const std::string& path, int lowest) {
  if (path.empty()) return UniqueFd();
  UniqueFd file(path == "-" ? UniqueFd(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, lowest)) : open_to_append(path));
  if (!file.valid() && errno == ENXIO) {
    return Error{"the report file '" + path +
                 "' is a pipe without a reader: start the reader first, or correct --report"};
  }
  if (!file.valid()) {
    return Error{"cannot open the report file '" + path + "': " + strerror(errno) + "; correct --report"};
  }
  return file;
}

}  // namespace corral::cli
