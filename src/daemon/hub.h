// The daemon's inside: sessions, routers, instances. Built once, on the loop thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/loop.h"
#include "config/configuration.h"
#include "daemon/records.h"
#include "http/access.h"
#include "observe/snapshot.h"
#include "proc/spawner.h"
#include "transport/http_session_opener.h"
#include "transport/session_opener.h"

namespace corral::daemon {

struct Ended {
  std::size_t sessions = 0;   // that were open when the end began
  std::size_t instances = 0;  // that ran when the end began
};

/// What another configuration came to.
struct Reloaded {
  std::vector<std::string> changed;
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::size_t ended = 0;  // instances
  std::vector<std::string> warnings;
};

class Hub final : public transport::SessionOpener, public transport::HttpSessionOpener {
 public:
  /// Reads the configuration once more.
  using ReadAgain = std::function<Result<config::Configuration>()>;
  /// The records outlive it.
  Hub(Loop& loop, config::Configuration configuration, proc::Spawner& spawner, ReadAgain read_again,
      Records& records);
  ~Hub() override;

  void open(transport::Arrival arrival, std::shared_ptr<transport::ShimLine> line) override;
  void answer(transport::Question question, transport::Answer answer) override;

  // Those who come by HTTP.
  std::variant<std::unique_ptr<session::Session>, transport::HttpRefusal> open(
      const transport::HttpArrival& arrival, session::Transport& transport) override;
  Account& account(const std::string& principal) override;
  std::optional<transport::HttpRefusal> objection(const transport::HttpArrival& arrival) override;
  void session_over(session::Session& session) override;
  void bound(session::Session& session, pid_t process) override;
  bool would_be_private(const transport::HttpArrival& arrival) override;
  /// There is one server, this command, and no configuration.
  void serve_alone(std::vector<std::string> argv, std::string cwd, std::vector<std::string> environment);
  /// The name of that server; empty if there is none.
  const std::string& only_server() const override;
  /// Whether every server can be had, and why not, as JSON. It names those that `who` may use; null = nobody
  /// that we know.
  struct Readiness {
    bool ready = false;
    std::string json;
  };
  Readiness readiness(const http::Principal* who) const;
  /// The state now; with what the trees use, which is looked up on another thread and told later.
  observe::Snapshot snapshot() const;
  void measured_snapshot(std::function<void(const observe::Snapshot&)> done);
  /// The trees of these have grown too large, or not: `corral.recycle`.
  void recycle_large(const observe::Snapshot& measured);
  /// Whether any server has a size at which it is recycled.
  bool recycles() const;
  Records& records();
  /// How the pid file is, for whoever asks.
  void describe_pid_file_with(std::function<observe::PidFileView()> describe);
  /// Where we are reached by HTTP; for the status.
  void reached_at(std::string url, std::string unix_path);

  /// Applies what the configuration says now to the servers that it touches. `done` is called when the
  /// instances that it ended are gone; the error says why nothing was changed.
  void reload(const std::string& why, std::function<void(const Result<Reloaded>&)> done);

  /// Ends every session and every instance within the configured times; `done` when none is left or the
  /// bound is reached. A second call while it runs shortens the wait.
  void drain(std::function<void(Ended)> done);

  /// What to do when somebody asks for the end over the socket; the service drains and leaves.
  void when_asked_to_stop(std::function<void(std::string)> task);

  /// A child of this process that is no instance, and is meant to be there until it dies.
  void started(pid_t child, std::function<void(int status)> ended);

  const config::Options& options() const;
  std::size_t sessions() const;
  std::size_t instances() const;
  /// Nobody is here, and no session waits for anybody.
  bool empty() const;
  /// Called whenever it has become empty.
  void when_empty(Task task);

 private:
  void shut_down(const std::string& why, const transport::Answer& answer);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corral::daemon
