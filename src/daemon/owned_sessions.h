// Session objects: an id that owns several servers, for programs that run longer than they need the servers.
// A session object ends on request, when its owner process ends, or after a time without messages; always in
// the same way, and with evidence. The hub owns all of them. Must be used on the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/loop.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "control/hello.h"
#include "daemon/connected_sessions.h"
#include "daemon/evidence.h"
#include "daemon/origin.h"
#include "observe/snapshot.h"

namespace corral::daemon {

/// Whether a process is confined more tightly than the daemon (control/confinement.h).
enum class Confined : std::uint8_t { No, Yes };

/// A session object while it is open, and while it ends.
struct OwnedSession {
  std::string id;
  std::vector<std::string> servers;  // names, in the order in which they came
  std::map<std::string, std::vector<std::string>> commands;
  std::string cwd;
  std::shared_ptr<const Environment> environment;
  Confined creator = Confined::No;
  Clock::time_point since = Clock::now();
  Clock::time_point last_heard = since;  // the last message of connected sessions that have ended

  pid_t owner = 0;
  UniqueFd owner_fd;  // a pidfd
  std::unique_ptr<Watch> owner_watch;
  std::optional<std::chrono::milliseconds> ttl;
  std::unique_ptr<Timer> timer;  // for the silence, later for the polite end

  bool ending = false;
  Clock::time_point ending_since{};
  std::size_t awaited = 0;  // ends that have not been reported yet
  SessionEvidence evidence{};
  std::vector<std::function<void(const SessionEvidence&)>> waiting{};
};

/// The name of a command in a session: `wanted`, with a number if the name is taken.
std::string unique_name(const std::string& wanted, const std::vector<std::string>& taken);

class OwnedSessions {
 public:
  /// `resolves` returns an error if a server cannot be used. `empty` is called whenever the last session
  /// object has ended. All references must outlive this object.
  using Resolves = std::function<Result<void>(const Origin&)>;
  OwnedSessions(Loop& loop, ConnectedSessions& connected, pool::Pool& pool, Resolves resolves, Task empty);

  /// Creates a session object for a `SessionCreate` hello. The error says what is wrong with it.
  Result<const OwnedSession*> create(const control::Hello& hello,
                                     std::shared_ptr<const Environment> environment, Confined creator);

  /// The origin of a client that names this session: a command of the session or a configured server, started
  /// with the working directory and the environment of the session's creator. A command that the client sends
  /// itself is not changed.
  Result<Origin> attach(const std::string& id, Origin origin, Confined client) const;
  void attached(const std::string& id, const std::string& server);
  /// A connected session has ended.
  void left(const session::Session& session);

  using Ended = std::function<void(const SessionEvidence&)>;
  /// Ends everything that was started for the session; `done` gets the evidence when it has ended. False if
  /// there is no such session.
  bool end(std::string id, const std::string& why, Ended done);
  /// The daemon shuts down: from now on, sessions no longer end because of their owner or of silence.
  void close();

  bool empty() const { return sessions_.empty(); }
  std::vector<observe::SessionObjectView> list() const;

 private:
  Result<void> add_servers(const control::Hello& hello, OwnedSession& session) const;
  Result<void> watch_owner(OwnedSession& session);
  void watch_silence(OwnedSession& session, Clock::duration after);
  void end_connected(OwnedSession& session);
  void hasten(const std::string& id);
  static void remember(OwnedSession& session, const pool::InstanceEnd& end);
  void one_ended(const std::string& id, const pool::InstanceEnd* end);
  void note_kept(OwnedSession& session) const;
  void finish_if_gone(std::string id);
  Clock::time_point last_heard(const OwnedSession& session) const;
  bool has_calls(const OwnedSession& session) const;
  observe::SessionObjectView view_of(const OwnedSession& session) const;

  Loop& loop_;
  ConnectedSessions& connected_;
  pool::Pool& pool_;
  Resolves resolves_;
  Task empty_;
  std::map<std::string, OwnedSession> sessions_;
  Lifetime lifetime_;
};

}  // namespace corral::daemon
