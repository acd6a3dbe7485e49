// Reads members of the daemon's JSON as text for people. The daemon may be another version: a member that is
// missing or has another type is shown as "-".
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace corral::cli {

/// Null if there is no such member.
const boost::json::value* member(const boost::json::value& value, std::string_view name);

/// A string, a number or a boolean on one line, with nothing in it that steers a terminal.
std::string text(const boost::json::value& value, std::string_view name);

/// Whether `text` has something to show: a string that is not empty, a number or a flag. Use this; do not
/// compare the text with "-".
bool has(const boost::json::value& value, std::string_view name);

/// A number of milliseconds: "4m 10s".
std::string age(const boost::json::value& value, std::string_view name);

/// Empty if there is no such list.
const boost::json::array& list(const boost::json::value& value, std::string_view name);

/// The strings of a list, with commas: "files, memory".
std::string joined(const boost::json::value& value, std::string_view name);

bool flag(const boost::json::value& value, std::string_view name);

}  // namespace corral::cli
