// Finds the instance that a session speaks to, or starts one: shared where the evidence allows, private
// otherwise. Owns the routers, and remembers what their instances taught us.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "base/loop.h"
#include "config/configuration.h"
#include "proc/launch_spec.h"
#include "proc/spawner.h"
#include "router/router.h"
#include "router/sharing.h"
#include "server/children.h"
#include "server/manifest.h"

namespace corral::router {

/// The server that a session wants.
struct Wanted {
  std::string server;  // its name, or the name of the command
  proc::LaunchSpec spec;
  std::string key;  // of `spec`
  config::Share share = config::Share::Auto;
  bool from_configuration = false;
  bool stateless = false;
  std::function<bool(std::string_view)> allows_tool;  // empty = all
  Clock::duration call_timeout = std::chrono::hours(1);
  Clock::duration idle = std::chrono::minutes(10);
};

class Switchboard final : private Router::Owner {
 public:
  struct Entry {
    std::unique_ptr<Router> router;
    std::shared_ptr<const Wanted> wanted;
    server::Era era = server::Era::Legacy;
    SharingDecision decision;
    std::unique_ptr<Timer> idle;
    bool stopping = false;  // by us, so that its end is no news
    bool ended = false;
  };

  Switchboard(Loop& loop, proc::Spawner& spawner, std::size_t line_cap);
  ~Switchboard() override;

  /// The port hears `opened`, perhaps before this returns.
  void open(SessionPort& port, const std::shared_ptr<const Wanted>& wanted, server::Era era,
            const std::string& initialize_params);
  /// The session's lease ends. True if the instance ends with it; `when_gone` is called when its tree is
  /// gone.
  bool release(SessionPort& port, server::Instance::Haste haste, Task when_gone);

  /// Nobody waits any more for the end of the instance that this session has released.
  void hasten(SessionPort& port);
  /// Whether the session holds an instance, or waits for one.
  bool serves(SessionPort& port) { return entry_of(port) != nullptr; }

  void stop_all(server::Instance::Haste haste);

  const std::list<Entry>& entries() const { return entries_; }
  std::size_t living() const;
  std::uint64_t started() const { return started_; }

 private:
  void learned_read_only(Router& router, bool read_only) override;
  void learned_conversational(Router& router) override;
  void learned_era(Router& router, bool modern) override;
  void router_ended(Router& router, const server::Ending& ending) override;

  struct Knowledge {
    server::Manifest manifest;
    bool hinted = false;
    bool refuted = false;  // a shared instance showed a tool that is not read-only
  };
  Entry* find_shared(const std::string& key, server::Era era);
  Result<Entry*> start(const std::shared_ptr<const Wanted>& wanted, server::Era era,
                       const SharingDecision& decision);
  void forget_some();
  void hint(SessionPort& port, const Wanted& wanted, const SharingDecision& decision);
  Entry* entry_of(const Router& router);
  Entry* entry_of(SessionPort& port);
  Knowledge& knowledge_of(const Router& router);

  Loop& loop_;
  proc::Spawner& spawner_;
  std::size_t line_cap_;
  server::Children children_;
  std::list<Entry> entries_;
  std::map<std::string, Knowledge, std::less<>> knowledge_;  // by launch key
  struct Awaiting {
    SessionPort* port;
    Task task;
  };
  std::multimap<const Router*, Awaiting> awaiting_end_;
  std::uint64_t started_ = 0;
};

}  // namespace corral::router
