// Readers of server options that need more than a check of their type. If a value is invalid, a reader
// reports the place and what to write, and leaves the draft unchanged. entry.cc calls them through the table
// of server_options.h, once for each key of an entry.
#pragma once

#include <chrono>

#include "config/server_options.h"

namespace corral::config {

void read_command(Reading& reading, const Field& field, Draft& draft);
void read_env(Reading& reading, const Field& field, Draft& draft);
void read_cwd(Reading& reading, const Field& field, Draft& draft);
/// Clients have several names for the list of allowed tools. A file may be for more than one client, and some
/// clients require a list that allows everything; only one list may exclude tools.
void read_tools(Reading& reading, const Field& field, Draft& draft);
/// Several lists may be given; a tool that is in any of them is denied.
void read_deny(Reading& reading, const Field& field, Draft& draft);
/// "disabled" and "enabled": the server is off if either key says so.
void read_disabled(Reading& reading, const Field& field, Draft& draft);
void read_timeout(Reading& reading, const Field& field, Draft& draft);
void read_share(Reading& reading, const Field& field, Draft& draft);
void read_roots(Reading& reading, const Field& field, Draft& draft);
void read_ignore(Reading& reading, const Field& field, Draft& draft);
void read_containment(Reading& reading, const Field& field, Draft& draft);
void read_probe(Reading& reading, const Field& field, Draft& draft);
void read_era(Reading& reading, const Field& field, Draft& draft);
void read_on_change(Reading& reading, const Field& field, Draft& draft);

}  // namespace corral::config
