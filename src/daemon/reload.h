// Applies a changed configuration while sessions run. Unchanged servers are not affected. Instances of
// changed and removed servers end after their calls; their sessions continue with the new definition, or end
// with a reason.
//
// Also applies the daemon's own options to the pool, at the start and at each reload. Belongs to the loop's
// thread; the hub owns it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/result.h"
#include "daemon/connected_sessions.h"
#include "daemon/drain.h"
#include "daemon/server_definitions.h"
#include "events/stream.h"
#include "pool/pool.h"

namespace corral::daemon {

/// What a reload has changed: names of servers, and how many instances it ended.
struct Reloaded {
  std::vector<std::string> changed;
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::size_t ended = 0;  // instances
  std::vector<std::string> warnings;
};

class Reload {
 public:
  using Done = std::function<void(const Result<Reloaded>&)>;

  /// All arguments must outlive this object.
  Reload(ServerDefinitions& definitions, ConnectedSessions& sessions, pool::Pool& pool, const Drain& drain,
         events::Stream& events);

  /// Reads the configuration again and applies it. `why` is for the event. `done`, which may be empty, is
  /// called when the affected instances have ended, possibly before this returns; its error says why nothing
  /// was changed.
  void run(const std::string& why, Done done);

 private:
  void apply_options();
  void redefine(const std::string& server);
  void redefine(ConnectedSession& connected);
  void tell(const std::string& cause, const std::string& text);
  void fail(const std::string& why, std::string problem, const Done& done);

  ServerDefinitions& definitions_;
  ConnectedSessions& sessions_;
  pool::Pool& pool_;
  const Drain& drain_;
  events::Stream& events_;
  Lifetime lifetime_;
};

}  // namespace corral::daemon
