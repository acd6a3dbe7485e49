// Which keys the machine's file can lock, and what a lock covers. A lock is the name of an option of the
// daemon
// ("keep", "http", "http.bind"), of an option of servers ("share"), or of a whole server ("servers.git"). A
// name that is an option of both ("min_version") locks both. Pure.
#pragma once

#include <string>
#include <string_view>

#include "config/configuration.h"
#include "config/reading.h"

namespace corral::config {

/// Whether a lock of this name covers a key: the same name, or "http" for "http.bind".
bool covers_key(std::string_view lock, std::string_view key);

/// The key of a whole server.
std::string key_of_server(std::string_view name);

/// Adds the locks of the list "locked" to the configuration. Fails for a name that is none of its keys or
/// servers: a misspelt lock would lock nothing. The servers must have been read.
void read_locks(Reading& reading, const Field& field, Configuration& configuration);

/// Takes the values of the locked options from the machine's entry of that name. The others were not read, so
/// they have their defaults.
void apply_locked_options(const Configuration& machine, Server& server);

}  // namespace corral::config
