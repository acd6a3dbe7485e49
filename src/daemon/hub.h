// The centre of the daemon: creates its parts in the order of the data path (definitions, pool, sessions),
// and opens sessions for clients that connect by socket or by HTTP. Other requests, reloading, draining and
// snapshots are separate parts, which the hub passes requests to.
//
// Created once, on the loop's thread, and used only there. The daemon process owns it (serve/daemon.cc);
// listeners and the watchdog call it and are destroyed before it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/lifetime.h"
#include "base/loop.h"
#include "base/shares.h"
#include "config/configuration.h"
#include "daemon/connected_sessions.h"
#include "daemon/drain.h"
#include "daemon/heirs.h"
#include "daemon/owned_sessions.h"
#include "daemon/readiness.h"
#include "daemon/records.h"
#include "daemon/recycling.h"
#include "daemon/reload.h"
#include "daemon/server_definitions.h"
#include "daemon/session_records.h"
#include "daemon/snapshots.h"
#include "daemon/unattended_watch.h"
#include "daemon/verbs.h"
#include "pool/pool.h"
#include "proc/spawner.h"
#include "transport/http_session_opener.h"
#include "transport/session_opener.h"

namespace corral::daemon {

class Hub final : public transport::SessionOpener, public transport::HttpSessionOpener {
 public:
  /// `spawner` and `records` must outlive this object.
  Hub(Loop& loop, config::Configuration configuration, proc::Spawner& spawner,
      ServerDefinitions::ReadAgain read_again, Records& records);

  // By socket.
  void open(transport::Arrival arrival, std::shared_ptr<transport::ShimLine> line) override;
  void answer(transport::Question question, transport::Answer answer) override;

  // By HTTP.
  std::variant<std::unique_ptr<session::Session>, transport::HttpRefusal> open(
      const transport::HttpArrival& arrival, session::Transport& transport) override;
  std::optional<transport::HttpRefusal> objection(const transport::HttpArrival& arrival) override;
  void session_over(session::Session& session) override { remove(session); }
  void bound(session::Session& session, pid_t process) override;
  Account& account(const std::string& principal) override { return shares_.account(principal); }
  bool would_be_private(const transport::HttpArrival& arrival) override;
  const std::string& only_server() const override { return definitions_.only_server(); }

  /// Serves one command and no configuration. Call it before any client connects.
  void serve_only(std::vector<std::string> argv, std::string cwd, Environment environment);

  /// Whether every server can be used; see readiness.h.
  Readiness readiness(const http::Principal* who) const;
  /// See reload.h.
  void reload(const std::string& why, Reload::Done done) { reload_.run(why, std::move(done)); }
  /// Ends every session and every instance within the configured times; see drain.h.
  void drain(Drain::Done done) { drain_.run(options().drain, std::move(done)); }
  /// Called when a client of the socket asks for a shutdown: the daemon process drains and exits.
  void when_asked_to_stop(std::function<void(std::string why)> task) {
    verbs_.when_asked_to_stop(std::move(task));
  }

  /// Watches a child process that is not an instance; it ends by itself.
  void started(pid_t child, std::function<void(int status)> ended);

  const config::Options& options() const { return definitions_.options(); }
  Snapshots& snapshots() { return snapshots_; }
  UnattendedWatch& unattended() { return unattended_; }
  Heirs& heirs() { return heirs_; }
  Records& records() { return records_; }
  std::size_t sessions() const { return sessions_.size(); }
  std::size_t instances() const { return pool_.living(); }
  /// No session is connected, and no session object is open.
  bool empty() const { return sessions_.empty() && owned_.empty(); }
  /// Called whenever the hub becomes empty.
  void when_empty(Task task) { when_empty_ = std::move(task); }

 private:
  /// Why a shim gets no session: it must run the server itself, or it is refused.
  struct Rejection {
    enum class How : std::uint8_t { RunIt, Refuse };
    How how;
    std::string cause;  // one word, for a refusal
    std::string why;
  };

  std::optional<Rejection> check(const transport::Arrival& arrival) const;
  Result<Origin> origin_of(transport::Arrival& arrival);
  std::string known_name(const transport::HttpArrival& arrival) const;
  std::string why_full(const std::shared_ptr<const pool::ServerSpec>& spec);
  void reject(const Rejection& rejection, const std::string& server, transport::ShimLine& line);
  void remove(const session::Session& session);
  void tell_if_empty();
  void handle(const events::Event& event);

  Loop& loop_;
  Shares shares_;  // outlives everything that holds a share
  Records& records_;
  ServerDefinitions definitions_;
  pool::Pool pool_;
  ConnectedSessions sessions_;
  OwnedSessions owned_;
  SessionRecords session_records_;
  Heirs heirs_;
  Drain drain_;
  Reload reload_;
  UnattendedWatch unattended_;
  Snapshots snapshots_;
  Recycling recycling_;
  Verbs verbs_;
  Task when_empty_;
  Lifetime lifetime_;
};

}  // namespace corral::daemon
