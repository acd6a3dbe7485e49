// What the HTTP endpoint asks of the daemon. daemon/ implements it; see session_opener.h for the other way
// in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/shares.h"
#include "session/session.h"
#include "session/transport.h"
#include "transport/http_refusal.h"

namespace corral::transport {

/// A request to open a session over HTTP.
struct HttpArrival {
  std::string server;                // its name
  std::string root;                  // absolute; empty = none was named
  std::string principal;             // the owner of the session
  std::string transport;             // "http" or "sse", for display
  std::vector<std::string> roots{};  // for a token: the projects that it may name
};

class HttpSessionOpener {
 public:
  virtual ~HttpSessionOpener() = default;

  /// The transport owns the session, and calls `session_over` before it destroys it. Quotas of sessions are
  /// the caller's to check, with `account`.
  virtual std::variant<std::unique_ptr<session::Session>, HttpRefusal> open(
      const HttpArrival& arrival, session::Transport& transport) = 0;
  virtual void session_over(session::Session& session) = 0;

  /// Why a session of such an arrival may not continue, because the rights of its principal have changed.
  virtual std::optional<HttpRefusal> objection(const HttpArrival&) { return std::nullopt; }
  /// The session ends with this process; 0 = with none.
  virtual void bound(session::Session& session, pid_t process) = 0;

  /// The account of a principal; outlives every session.
  virtual Account& account(const std::string& principal) = 0;
  /// Whether such an arrival would get a private instance. Called for each request of a modern client.
  virtual bool would_be_private(const HttpArrival& arrival) = 0;
  /// The server that a URL without a name refers to; empty if there is none.
  virtual const std::string& only_server() const = 0;
};

}  // namespace corral::transport
