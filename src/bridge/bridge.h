// Stands between one client and a server of another era, and makes each see the other as one of its own.
// Pure: messages in, messages out. Knows nothing of sockets, of processes or of other sessions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/id.h"
#include "base/loop.h"
#include "wire/line_reader.h"
#include "wire/message.h"
#include "wire/out_queue.h"

namespace corral::bridge {

/// A request of a bridge to its server, as the server's side of it is named. Given once in a session.
using UpId = Id<struct UpTag>;

/// Where the messages of a bridge go, each a whole JSON-RPC message without a line end.
class Outlet {
 public:
  virtual ~Outlet() = default;
  virtual void to_client(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) = 0;
  /// In the words of the server's era, under an id of the bridge's own. The answer comes to `from_server`,
  /// perhaps before this returns.
  virtual void to_server(const std::string& message) = 0;
  /// An id for a question to the client; none is given twice in a session.
  virtual QuestionId next_question() = 0;
  /// Whether several programs may be behind the client, which must not be asked each other's questions.
  virtual bool of_several_programs() const { return false; }
};

class Bridge {
 public:
  virtual ~Bridge() = default;

  /// A request, notification or response of the client. The caller has answered already what needs no server:
  /// initialize, server/discover, ping, and what the client's revision does not have.
  virtual void from_client(const wire::Message& message, Clock::time_point now) = 0;
  /// A request, notification or response of the server; also the error that stands for an answer which will
  /// never come.
  virtual void from_server(const wire::Message& message, Clock::time_point now) = 0;

  /// Another instance has taken the place of the last one, whose calls were all answered. `handshake` is the
  /// result of its initialize or server/discover.
  virtual void instance_changed(std::string_view handshake) = 0;
  /// The client will say no more: whatever waits for its word is given up.
  virtual void client_ended() = 0;

  /// When `expire` has something to do; nothing = never, as it stands.
  virtual std::optional<Clock::time_point> next_deadline() const = 0;
  virtual void expire(Clock::time_point now) = 0;
};

}  // namespace corral::bridge
