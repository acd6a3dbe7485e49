// Session objects, for people.
#pragma once

#include <boost/json/array.hpp>

#include "cli/screen/page.h"

namespace corral::cli {

/// As docs/protocol/control.md describes them under `session-list`.
void show_session_objects(Page& page, const boost::json::array& sessions);

}  // namespace corral::cli
