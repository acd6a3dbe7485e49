// Whose socket is at the other end of a connection on this machine: asked of the kernel, by sock_diag for TCP
// and by the credentials of the connection for Unix sockets. Waits for nobody.
#pragma once

#include "http/message.h"

namespace corral::http {

/// To be asked right after accept, before a byte is read: a socket that is closed by then is nobody's. Only a
/// living socket of exactly our own user counts as ours; root's does not, unless we are root.
Peer peer_of_tcp(int accepted);

/// By the credentials of whoever connected. Its `inode` is that of the process in the kernel's pidfs (Linux
/// 6.9): the pid alone may be somebody else's by the time that anybody looks.
Peer peer_of_unix(int accepted);

}  // namespace corral::http
