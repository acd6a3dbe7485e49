// Which project an HTTP client may choose: `?root=` in the URL sets the directory that a server works in, so
// the choice is checked before the file system is accessed.
//
// The check has two steps. `root_for` decides by the names alone. Only if it allows the root,
// `project_folder` accesses the path. So a client without permission gets the same refusal whether or not the
// directory exists.
#pragma once

#include <string>
#include <variant>

#include "base/result.h"
#include "config/configuration.h"
#include "transport/http_session_opener.h"

namespace corral::daemon {

/// The root that the session gets, empty if the server has none; or the refusal. Only a server with
/// `"share": "root"` has one. The user may choose any path; a token may choose only the roots that the token
/// or the entry lists. Pure: it does not access the file system, so that no client learns which directories
/// exist. `entry` is null if there is no such server.
std::variant<std::string, transport::HttpRefusal> root_for(const transport::HttpArrival& arrival,
                                                           const config::Server* entry);

/// The directory that the server is started in: the path without symbolic links. An error if it is not a
/// directory. Call only for a root that `root_for` has allowed, because the error reveals whether the
/// directory exists.
Result<std::string> project_folder(const std::string& root);

}  // namespace corral::daemon
