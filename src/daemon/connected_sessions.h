// The sessions of the connected clients, by socket or by HTTP, and what each of them asked for. Ids ascend,
// so iterating over them follows the order of arrival.
//
// The hub owns it, adds and removes entries; the other parts of the daemon look sessions up by id. None of
// them keeps a pointer to an entry beyond one turn of the loop. Must be used on the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/id.h"
#include "base/shares.h"
#include "daemon/origin.h"
#include "session/session.h"
#include "transport/http_session_opener.h"
#include "transport/stdio_client.h"

namespace corral::daemon {

/// Whether a session is held by a background process of its client, and whether anybody is attached to that.
/// Belongs to the watch of unattended clients (daemon/unattended_watch.h).
struct ClientBackground {
  enum class By : std::uint8_t { Unknown, Background, Other };

  By by = By::Unknown;
  std::string client;                                 // "Codex"
  pid_t pid = 0;                                      // of the background process
  std::optional<Clock::time_point> unattended_since;  // nothing = somebody is attached, or it is in doubt
};

struct ConnectedSession {
  Origin origin;
  Account::Held quota;                            // by socket; the endpoint counts sessions by HTTP
  std::unique_ptr<transport::StdioClient> stdio;  // null = an HTTP session
  session::Session* by_http = nullptr;            // owned by its transport, which reports its end
  std::optional<transport::HttpArrival> arrival;  // by HTTP: what it asked for
  const char* transport = "stdio";
  InstanceId instance;  // the last one that it was attached to
  pid_t bound = 0;      // by HTTP: the process that it ends with, if known
  ClientBackground background = {};

  session::Session& session() { return stdio ? stdio->session() : *by_http; }
  const session::Session& session() const { return stdio ? stdio->session() : *by_http; }
  pid_t client_pid() const { return stdio ? stdio->client_pid() : bound; }
  pid_t shim_pid() const { return stdio ? stdio->shim_pid() : 0; }
};

class ConnectedSessions {
 public:
  using Map = std::map<SessionId, ConnectedSession>;

  /// The id of the next session. Never given twice.
  SessionId next_id() { return ids_.next(); }

  /// `connected` must have its session. The reference is valid until `remove`.
  ConnectedSession& add(ConnectedSession connected);
  /// Destroys the client of a session by socket. Nothing happens if there is no such session.
  void remove(SessionId id) { sessions_.erase(id); }

  /// Null if there is no such session.
  ConnectedSession* find(SessionId id);
  /// By the number that `corral status` shows; null also if `number` is not a number.
  ConnectedSession* find(std::string_view number);

  /// Sessions by socket that have no instance yet and will need one.
  std::size_t without_instance() const;

  std::size_t size() const { return sessions_.size(); }
  bool empty() const { return sessions_.empty(); }
  Map::iterator begin() { return sessions_.begin(); }
  Map::iterator end() { return sessions_.end(); }
  Map::const_iterator begin() const { return sessions_.begin(); }
  Map::const_iterator end() const { return sessions_.end(); }

 private:
  Map sessions_;
  IdSource<SessionId> ids_;
};

}  // namespace corral::daemon
