// Translates between one client and a server of another era, so that each sees a peer of its own era. Pure:
// messages in, messages out. It uses no sockets, processes or other sessions. Used on one thread.
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

/// The id of a request from a bridge to its server. Unique within a session.
using UpId = Id<struct UpTag>;

/// The owner of a bridge, which delivers its messages. Each is a complete JSON-RPC message without a line
/// end. The outlet must outlive the bridge.
class Outlet {
 public:
  virtual ~Outlet() = default;
  /// `line` and the texts of the edits are valid only during the call.
  virtual void to_client(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) = 0;
  /// The message follows the server's era and has an id of the bridge. The answer arrives at `from_server`,
  /// possibly before this call returns.
  virtual void to_server(const wire::Message& message) = 0;
  /// An id for a question to the client. Unique within a session.
  virtual QuestionId next_question() = 0;
};

/// No method may be called from within `Outlet::to_client`; `from_server` may be called from within
/// `to_server`.
class Bridge {
 public:
  virtual ~Bridge() = default;

  /// A request, notification or response from the client. The caller has already answered what needs no
  /// server: initialize, server/discover, ping, and methods that the client's revision does not have.
  virtual void from_client(const wire::Message& message, Clock::time_point now) = 0;
  /// A request, notification or response from the server; also the error that replaces an answer that will
  /// never come.
  virtual void from_server(const wire::Message& message, Clock::time_point now) = 0;

  /// Another instance has replaced the previous one, whose calls were all answered. `handshake` is the result
  /// of its initialize or server/discover.
  virtual void instance_changed(std::string_view handshake) = 0;
  /// The client will send nothing more: calls that wait for its answers are abandoned.
  virtual void client_ended() = 0;

  /// When `expire` has something to do; empty = never, in the current state.
  virtual std::optional<Clock::time_point> next_deadline() const = 0;
  virtual void expire(Clock::time_point now) = 0;
};

}  // namespace corral::bridge
