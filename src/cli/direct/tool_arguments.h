// The arguments of a tool call, from the command line. Values keep the text that the user typed, so numbers
// do not change. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::cli {

/// Makes a JSON object from `key=value` (a string if the schema says so, otherwise JSON) and `key:=JSON`.
/// Unknown keys, values of the wrong type, and repeated keys are errors.
Result<std::string> arguments_from_pairs(std::string_view schema, const std::vector<std::string>& args);

/// Checks that the text is a JSON object, and returns it on one line. `where` describes its origin in errors.
Result<std::string> arguments_from_json(std::string_view text, const std::string& where);

/// An error that names missing required arguments, or arguments that the schema does not allow.
Result<void> check_arguments(std::string_view schema, std::string_view arguments);

}  // namespace corral::cli
