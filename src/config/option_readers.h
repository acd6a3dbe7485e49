// The values of server options that need more than their type checked. Each reader fails at the field, with a
// hint what to write, and leaves the draft as it was. Called for each key of an entry by entry.cc.
#pragma once

#include <chrono>

#include "config/server_options.h"

namespace corral::config {

void read_command(Reading& reading, const Field& field, Draft& draft);
void read_env(Reading& reading, const Field& field, Draft& draft);
void read_cwd(Reading& reading, const Field& field, Draft& draft);
/// Clients have several names for the list of allowed tools. A file may be for more than one client, and some
/// require a list that names everything; only one list may set a limit.
void read_tools(Reading& reading, const Field& field, Draft& draft);
/// A tool that any of the lists names is denied.
void read_deny(Reading& reading, const Field& field, Draft& draft);
/// "disabled" and "enabled": the server is off if either key says so.
void read_disabled(Reading& reading, const Field& field, Draft& draft);
void read_timeout(Reading& reading, const Field& field, Draft& draft);
void read_share(Reading& reading, const Field& field, Draft& draft);
void read_roots(Reading& reading, const Field& field, Draft& draft);
void read_containment(Reading& reading, const Field& field, Draft& draft);
void read_probe(Reading& reading, const Field& field, Draft& draft);
void read_era(Reading& reading, const Field& field, Draft& draft);
void read_on_change(Reading& reading, const Field& field, Draft& draft);

}  // namespace corral::config
