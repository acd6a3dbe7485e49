// Which project a client by URL may name: `?root=` chooses the folder that a server works in, so it is
// checked before the path is looked at.
#pragma once

#include <string>
#include <variant>

#include "base/result.h"
#include "config/configuration.h"
#include "transport/http_session_opener.h"

namespace corral::daemon {

/// The root as it may be used; empty if the server has none. Only a server with `"share": "root"` has one,
/// and a token may name only those that it or the entry lists. Pure: the file system is not asked, so that no
/// client learns which folders exist. `entry` may be null: no such server.
std::variant<std::string, transport::HttpRefusal> root_for(const transport::HttpArrival& arrival,
                                                           const config::Server* entry);

/// Its real path; an error if it is not a folder.
Result<std::string> project_folder(const std::string& root);

}  // namespace corral::daemon
