// Which user's socket is at the other end of a connection on this machine. The kernel tells, by sock_diag for
// TCP and by the credentials of the connection for Unix sockets. Does not block.
#pragma once

#include "http/message.h"

namespace corral::http {

/// Call right after accept, before a byte is read: a socket that is closed by then belongs to no user. Only
/// an open socket of exactly our own user counts as ours; root's does not, unless we are root.
Peer peer_of_tcp(int accepted);

/// By the credentials of the process that connected. Its `inode` is that of the process in the kernel's pidfs
/// (Linux 6.9): the pid alone may belong to another process later.
Peer peer_of_unix(int accepted);

}  // namespace corral::http
