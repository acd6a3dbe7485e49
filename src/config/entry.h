// Reads and checks one entry of `mcpServers`. server_options.h lists the keys.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "config/configuration.h"
#include "config/reading.h"

namespace corral::config {

/// The keys in which clients write the URL of a remote server.
inline constexpr std::array<std::string_view, 4> kAddressKeys = {"url", "httpUrl", "serverUrl", "baseUrl"};

/// Why a server cannot have this name, as a clause without a full stop; empty if it can. The name is used as
/// an argument of `connect`, in URLs and in messages.
std::string objection_to_name(const std::string& name);

/// Empty if the entry is invalid (`reading` has failed) or describes a remote server (`reading` has a
/// warning).
std::optional<Server> read_entry(Reading& reading, const Field& entry);

}  // namespace corral::config
