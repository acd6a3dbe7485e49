// Elicitation: a question from the server to the user at the terminal, either a form, asked field by field,
// or a URL to visit. corral never answers in the user's place and never opens a URL.
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "cli/frame/interrupts.h"

namespace corral::cli {

/// Whether a user can be asked: stdin and stderr are a terminal.
bool has_person();

/// Describes the values that a field with this schema accepts, without control characters.
std::string expectation(const boost::json::value& schema);

/// Asks, and returns the result of elicitation/create; nothing after Ctrl+C. Ctrl+D cancels only the
/// question.
std::optional<std::string> ask_person(std::string_view params, Interrupts& interrupts);

}  // namespace corral::cli
