// Parts of the daemon's answers that several commands show: which instances ended, and session objects. They
// only print; docs/protocol/control.md describes the answers.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "cli/screen/page.h"
#include "observe/snapshot.h"

namespace corral::cli {

/// One paragraph for every instance in `ended`: "files 1a2b3c4d exited with code 0: 3 processes, gone after
/// 40 ms".
void show_gone(Page& page, const boost::json::value& result);

/// Whether the server of a `restart` had sessions, which start it again. Yes if the daemon does not say.
bool has_sessions(const boost::json::value& result);

/// One row for every session object.
void show_session_objects(Page& page, const std::vector<observe::SessionObjectView>& objects);

}  // namespace corral::cli
