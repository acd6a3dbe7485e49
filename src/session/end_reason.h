// Why a session ends, its name in events, and how fast its private instance must end. Pure.
#pragma once

#include <cstdint>

#include "instance/instance.h"

namespace corral::session {

enum class EndReason : std::uint8_t {
  InputClosed,   // the client closed its output, and has its answers
  OutputClosed,  // the client no longer reads
  ClientGone,    // the client's process died
  ShimGone,      // the process that the client started was ended
  ServerEnded,   // the server has ended and is not started again
  SlowReader,    // the client left too many answers unread
  ShuttingDown,  // the daemon is shutting down
  SessionEnded,  // the session object that it belongs to was ended
  Removed,       // the server is no longer configured
  Deleted,       // the client ended it by an HTTP DELETE
  Expired,       // nobody used it for too long, over HTTP
};

/// The name in events and in the registry: "stdin-closed", …
const char* reason_name(EndReason reason);

/// How fast the private instance of the session must end. After a polite end the client still gets its
/// answers.
instance::Instance::Haste haste_of(EndReason reason);

}  // namespace corral::session
