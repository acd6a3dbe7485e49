// What options do with their text: set a value, or say what is wrong with it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"

namespace corral::cli {

using Apply = std::function<Result<void>(const std::string&)>;

Apply set_flag(bool& flag);
Apply set_text(std::string& target);
/// The same, and not empty.
Apply set_word(std::string& target);
Apply set_age(std::chrono::milliseconds& age);
Apply set_duration(std::chrono::milliseconds& duration);
/// A whole number from 0. `what` names it in the error: "number of copies".
Apply set_count(std::size_t& number, std::string what);
Apply set_count(std::optional<std::size_t>& number, std::string what);
/// 0 to 65535.
Apply set_port(std::optional<std::uint16_t>& port);
Apply set_pid(pid_t& pid);
/// --since of `corral events` and `corral logs`: milliseconds since 1970.
Apply set_since(std::int64_t& since_ms);

/// --runtime-dir, of every command that asks a daemon and starts none.
Option runtime_dir_option(std::string& target);

/// "10m" before `now`, or "2026-11-16T03:40:00Z": milliseconds since 1970, as `now` is.
Result<std::int64_t> parse_since(std::string_view text, std::int64_t now);

/// A process number; the error says what it should have been.
Result<pid_t> parse_pid(const std::string& text);

/// An error if words are left that the command has no use for.
Result<void> expect_no_args(const std::vector<std::string>& args);

}  // namespace corral::cli
