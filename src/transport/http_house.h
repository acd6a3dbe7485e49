// What the clients that come by HTTP need of the daemon. app/ implements it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/shares.h"
#include "session/session.h"
#include "session/transport.h"

namespace corral::transport {

/// Somebody wants a server.
struct HttpArrival {
  std::string server;                // its name
  std::string root;                  // absolute; empty = none was named
  std::string principal;             // whose session it will be
  std::string transport;             // "http" or "sse", for people
  std::vector<std::string> roots{};  // of a token: the projects that it may name
};

struct HttpRefusal {
  int status = 404;
  int code = 0;         // of the JSON-RPC error
  std::string message;  // noun, cause, what to do next
  std::string data;     // JSON; empty = none
  std::string allow;    // of a 405
};

class HttpHouse {
 public:
  virtual ~HttpHouse() = default;

  /// The transport owns the session, and tells `session_over` before it destroys it.
  virtual std::variant<std::unique_ptr<session::Session>, HttpRefusal> open(
      const HttpArrival& arrival, session::Transport& transport) = 0;
  /// Why a session of such an arrival may not go on: what its principal may choose has changed since then.
  virtual std::optional<HttpRefusal> objection(const HttpArrival&) { return std::nullopt; }
  virtual void session_over(session::Session& session) = 0;

  /// The session ends with this process; 0 = with none.
  virtual void bound(session::Session& session, pid_t process) = 0;

  /// Where it is counted what a principal holds; outlives every session.
  virtual Account& account(const std::string& principal) = 0;
  /// Whether such an arrival would get an instance of its own.
  virtual bool would_be_private(const HttpArrival& arrival) = 0;
  /// The server that a URL without a name means; empty if there is none.
  virtual const std::string& alone() const = 0;
};

}  // namespace corral::transport
