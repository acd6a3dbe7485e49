// Functions for Option::apply: each parses the text of an option and stores the value in its target, or
// returns what is wrong with the text. The target must outlive the function.
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
#include "base/unique_fd.h"
#include "cli/frame/command.h"

namespace corral::cli {

using Apply = std::function<Result<void>(const std::string&)>;

Apply set_flag(bool& flag);
Apply set_text(std::string& target);
/// Like set_text, but an empty value is an error.
Apply set_word(std::string& target);
Apply set_age(std::chrono::milliseconds& age);
Apply set_duration(std::chrono::milliseconds& duration);
/// A whole number, 0 or more. `what` names it in the error: "number of copies".
Apply set_count(std::size_t& number, std::string what);
Apply set_count(std::optional<std::size_t>& number, std::string what);
/// 0 to 65535.
Apply set_port(std::optional<std::uint16_t>& port);
Apply set_pid(pid_t& pid);
/// For --since of `corral events` and `corral logs`: milliseconds since 1970.
Apply set_since(std::int64_t& since_ms);

/// The option --runtime-dir of commands that ask a daemon and never start one.
Option runtime_dir_option(std::string& target);

/// Parses "10m" (before `now`) or "2026-11-16T03:40:00Z". The result and `now` are milliseconds since 1970.
Result<std::int64_t> parse_since(std::string_view text, std::int64_t now);

/// Parses a pid; the error says what is expected.
Result<pid_t> parse_pid(const std::string& text);

/// An error if there are arguments; for commands that take only options.
Result<void> expect_no_args(const std::vector<std::string>& args);

/// Opens the file of --report for appending, so that many sessions can share it, readable only by the user.
/// "-" is stderr, duplicated to a descriptor of at least `lowest`. An empty path returns an invalid
/// descriptor. A pipe without a reader is an error after a short wait, because opening it would block the
/// start.
Result<UniqueFd> open_report(const std::string& path, int lowest);

}  // namespace corral::cli
