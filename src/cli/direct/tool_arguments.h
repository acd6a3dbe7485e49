// The arguments of a call from what stands on a command line. Values keep the text that the user wrote, so no
// number changes on the way. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::cli {

/// An object from `key=value` (as the schema says: text stays text, everything else is JSON) and `key:=JSON`.
/// Refuses a key that the schema does not have, a value of another type, and a key that is given twice.
Result<std::string> arguments_from_pairs(std::string_view schema, const std::vector<std::string>& args);

/// An object from JSON text, on one line. `where` names the text in errors.
Result<std::string> arguments_from_json(std::string_view text, const std::string& where);

/// An error that names what the schema requires and the arguments do not have, or what it forbids.
Result<void> check_arguments(std::string_view schema, std::string_view arguments);

}  // namespace corral::cli
