// One entry of `mcpServers`: which keys it may have and what each of them means.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "config/configuration.h"
#include "config/reading.h"

namespace corral::config {

/// Where clients say that a server is reached by URL, and not started.
inline constexpr std::array<std::string_view, 4> kAddressKeys = {"url", "httpUrl", "serverUrl", "baseUrl"};

/// Why a server may not be called so, as half a sentence; empty if it may. A name is an argument of
/// `connect`, a part of addresses, and a word in messages.
std::string objection_to_name(const std::string& name);

/// Nothing if the entry is wrong (a failure) or is not for us (a warning).
std::optional<Server> read_entry(Reading& reading, const Field& entry);

}  // namespace corral::config
