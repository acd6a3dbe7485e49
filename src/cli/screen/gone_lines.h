// The evidence of what went, for people.
#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/screen/page.h"

namespace corral::cli {

/// "1 instance", "3 instances"
std::string count_of(std::size_t number, const std::string& what);

/// One paragraph for every instance in `ended`: "files 1a2b3c4d exited with code 0: 3 processes, gone after
/// 40 ms".
void show_gone(Page& page, const boost::json::value& result);

}  // namespace corral::cli
