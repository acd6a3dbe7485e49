// A server's question to the person at the terminal: a form, asked field by field, or an address to visit.
// Nothing is answered for them, and nothing is opened.
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/frame/interrupts.h"

namespace corral::cli {

/// Whether there is somebody to ask: stdin and stderr are a terminal.
bool has_person();

/// What a field with this schema takes, in words that steer no terminal.
std::string expectation(const boost::json::value& schema);

/// The result of elicitation/create; nothing if Ctrl+C came. Ctrl+D cancels the question alone.
std::optional<std::string> ask_person(std::string_view params, Interrupts& interrupts);

}  // namespace corral::cli
