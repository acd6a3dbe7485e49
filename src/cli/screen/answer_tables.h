// Parts of the daemon's answers that several commands show: which instances ended, and session objects. They
// only print; the values are the daemon's JSON (docs/protocol/control.md).
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "cli/screen/page.h"

namespace corral::cli {

/// One paragraph for every instance in `ended`: "files 1a2b3c4d exited with code 0: 3 processes, gone after
/// 40 ms".
void show_gone(Page& page, const boost::json::value& result);

/// One row for every session object, as `session-list` describes them.
void show_session_objects(Page& page, const boost::json::array& sessions);

}  // namespace corral::cli
