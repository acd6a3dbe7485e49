// Selects and shows events of the daemon, which may be of another version. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/screen/page.h"

namespace corral::cli {

struct EventChoice {
  std::int64_t since_ms = 0;
  std::vector<std::string> kinds;    // empty = all
  std::vector<std::string> servers;  // empty = all
};

bool is_chosen(const boost::json::value& event, const EventChoice& choice);

/// "2026-11-16T03:40:00.123Z  spawn     instance 1a2b3c4d of server files: started"
std::string event_line(const boost::json::value& event, const TerminalStyle& style);

/// All kinds of events: "start", "shutdown", …
std::vector<std::string> event_kinds();

/// An error, with a list of all kinds, if `name` is not a kind of event.
Result<void> check_kind(const std::string& name);

}  // namespace corral::cli
