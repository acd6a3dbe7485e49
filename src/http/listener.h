// Accepts connections and serves HTTP/1.1 on them: limits for the size of heads and bodies, time limits for
// clients that send or read nothing, keep-alive, pipelining. The handler decides what a request means. Must
// be used on the loop's thread, from which it calls the handler.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "http/exchange.h"

namespace corral::http {

/// In bytes, numbers and times. A request beyond a limit is refused; a client that is too slow is
/// disconnected.
struct Limits {
  std::size_t head = std::size_t{32} << 10;
  std::size_t body = std::size_t{64} << 20;
  std::size_t bodies = std::size_t{512} << 20;  // of all requests together that are still arriving
  std::size_t unsent = std::size_t{1} << 30;    // of all answers together that their clients do not read
  std::size_t connections = 16384;              // a quarter of them is reserved for our own user
  std::size_t connections_per_peer = 12288;     // of one user, or of one address; 0 = no such limit
  Clock::duration head_patience = std::chrono::seconds(10);   // from the first byte, or from the accept
  Clock::duration body_patience = std::chrono::seconds(20);   // without a new byte of it
  Clock::duration write_patience = std::chrono::seconds(30);  // without a byte read
  Clock::duration keep_alive = std::chrono::seconds(75);      // between two requests
};

/// Since the listener was created.
struct ListenerCounters {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;  // too many connections
  std::uint64_t requests = 0;
  std::uint64_t malformed = 0;
  std::uint64_t too_slow = 0;  // disconnected by a time limit, or because of what they did not read
};

/// Decides about a request whose body did not arrive with its head, before more of it is read, so that a
/// client without access cannot make the daemon read a large body. A response refuses the request.
using Gate = std::function<std::optional<Response>(const Request& head)>;

class Listener {
 public:
  /// `socket` is listening already, TCP or Unix. `loop` must outlive the listener. `handler` and `gate` are
  /// called from the loop, not any more after the listener is destroyed; they must not destroy it.
  Listener(Loop& loop, UniqueFd socket, Limits limits, Handler handler, Gate gate = nullptr);
  /// Closes all connections at once. Exchanges may exist longer, and have no effect.
  ~Listener();
  Listener(const Listener&) = delete;

  /// Accepts no more connections. Requests that have begun still get their answers, then their connections
  /// close.
  void close();
  /// The number of open connections.
  std::size_t connections() const;
  const ListenerCounters& counters() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::http
