// Which descriptors a shim hands to the daemon, and the daemon takes.
#pragma once

namespace corral::control {

/// A pipe or a stream socket: only these can be waited for without blocking, and are the client's alone.
bool can_be_passed(int fd);

}  // namespace corral::control
