// The keys of the top-level "corral" object, and the objects inside the top-level "corral" object: "http" and
// "watch". Each reader reports the place of an invalid value, warns about unknown members, and keeps the
// defaults of members that are not set.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "config/configuration.h"
#include "config/reading.h"

namespace corral::config {

inline constexpr std::array<std::string_view, 10> kDaemonKeys = {
    "line_cap", "drain", "linger",      "max_instances", "keep",
    "http",     "watch", "min_version", "unattended",    "history"};
inline constexpr std::array<std::string_view, 5> kHttpKeys = {"port", "bind", "hosts", "origins", "idle"};
inline constexpr std::array<std::string_view, 2> kWatchKeys = {"interval", "foreign"};

/// Whether `key` is one of them. If not, the user is warned.
bool is_known(Reading& reading, const Field& field, std::span<const std::string_view> keys);

void read_http(Reading& reading, const Field& field, Http& http);
void read_watch(Reading& reading, const Field& field, WatchRules& watch);

}  // namespace corral::config
