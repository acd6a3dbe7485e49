// Whether every configured server can be used now: the answer of `/readyz`. A daemon is not ready while it
// shuts down, and while a server is stopped or broken. Pure.
//
// A server that is not running counts as ready, because the next call starts it. A disabled server is not
// checked.
#pragma once

#include <string>

#include "daemon/server_definitions.h"
#include "http/access.h"
#include "pool/pool.h"

namespace corral::daemon {

/// The answer: whether the daemon is ready, and the body of the response.
struct Readiness {
  bool ready = false;  // false = the response is 503
  std::string json;    // the status, and the reason for each server that is not ready
};

/// Whether the daemon is shutting down.
enum class ShuttingDown : bool { No, Yes };

/// The JSON names only the servers that `who` may use. Null = an unknown client, which only learns whether
/// the daemon is ready.
Readiness readiness_of(const ServerDefinitions& definitions, const pool::Pool& pool,
                       ShuttingDown shutting_down, const http::Principal* who);

}  // namespace corral::daemon
