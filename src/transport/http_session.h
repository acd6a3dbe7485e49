// The endpoint's view of every HTTP session, whichever transport it uses.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "http/exchange.h"
#include "session/session.h"
#include "session/transport.h"
#include "wire/message.h"

namespace corral::transport {

/// One message that a client posted, checked and scanned.
struct Posted {
  wire::Message message;      // with its owner, and on one line, as a server that reads lines requires
  std::uint64_t program = 0;  // identifies the sending program, if it was looked up

  /// The id for an error that answers it. The id of a response was chosen by the server, and might be that of
  /// another call of this client.
  std::string_view answer_id() const {
    const bool own = message.has_id() && message.kind() != wire::Kind::Response;
    return own ? message.id() : "null";
  }
};

struct HttpLimits {
  std::size_t waiting = 64;         // messages of one program that wait because the server does not read
  std::size_t open_requests = 256;  // POSTs of one session or program that wait for their answers
  std::size_t queued = std::size_t{96} << 20;        // bytes that one session's client has not read
  std::size_t replay = std::size_t{1} << 20;         // bytes that are kept for a client that comes back
  Clock::duration hold = std::chrono::seconds(10);   // how long a status line waits for the first message
  Clock::duration alive = std::chrono::seconds(20);  // between two comments on a silent stream
  Clock::duration retry = std::chrono::seconds(2);   // what clients are told to wait before they come back
};

/// Owned by the endpoint. `Gone` is called once, when the session needs nothing more, and may destroy it.
class HttpSession : public session::Transport {
 public:
  using Gone = std::function<void(HttpSession&)>;

  /// Call once, before anything else.
  virtual void begin(std::unique_ptr<session::Session> session) = 0;
  virtual session::Session& session() = 0;
  virtual void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) = 0;
  /// The number of open streams and requests; if it is not 0, the session is in use.
  virtual std::size_t in_use() const = 0;
  /// Whether it holds answers or questions for a client that may come back for them.
  virtual bool owes() const { return false; }

  /// HTTP has no channel for notes, so it is logged: each once, within the log quota of its principal.
  void note(const std::string& sentence) override;

 private:
  std::string last_note_;
};

}  // namespace corral::transport
