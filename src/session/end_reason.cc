#include "session/end_reason.h"

namespace corral::session {

using instance::Instance;

const char* reason_name(EndReason reason) {
  switch (reason) {
    case EndReason::InputClosed: return "stdin-closed";
    case EndReason::OutputClosed: return "stdout-closed";
    case EndReason::ClientGone: return "client-gone";
    case EndReason::ShimGone: return "shim-gone";
    case EndReason::ServerEnded: return "server-ended";
    case EndReason::SlowReader: return "slow-reader";
    case EndReason::ShuttingDown: return "shutting-down";
    case EndReason::SessionEnded: return "session-ended";
    case EndReason::Removed: return "server-removed";
    case EndReason::Deleted: return "deleted";
    case EndReason::Expired: return "expired";
  }
  return "?";
}

Instance::Haste haste_of(EndReason reason) {
  switch (reason) {
    case EndReason::InputClosed:
    case EndReason::ServerEnded:
    case EndReason::SessionEnded:
    case EndReason::Removed:
    case EndReason::Deleted:
    case EndReason::Expired:
    case EndReason::ShuttingDown: return Instance::Haste::Polite;
    case EndReason::OutputClosed:
    case EndReason::ClientGone:
    case EndReason::ShimGone:
    case EndReason::SlowReader: break;
  }
  return Instance::Haste::ClientGone;
}

}  // namespace corral::session
