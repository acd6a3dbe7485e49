// Accepts connections and speaks HTTP/1.1 on them: heads and bodies with caps, time limits against those who
// say or take nothing, keep-alive, pipelining. What a request means is the handler's.
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

struct Limits {
  std::size_t head = std::size_t{32} << 10;
  std::size_t body = std::size_t{64} << 20;
  std::size_t bodies = std::size_t{512} << 20;  // of all requests together that are still coming
  std::size_t unsent = std::size_t{1} << 30;    // of all answers together that their clients do not take
  std::size_t connections = 16384;              // a quarter of them only for our own user
  std::size_t connections_per_peer = 12288;     // of one user, or of one address; 0 = no limit of its own
  Clock::duration head_patience = std::chrono::seconds(10);   // from the first byte on, or from the accept
  Clock::duration body_patience = std::chrono::seconds(20);   // without a byte of it
  Clock::duration write_patience = std::chrono::seconds(30);  // without a byte taken
  Clock::duration keep_alive = std::chrono::seconds(75);      // between two requests
};

struct ListenerCounters {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;  // too many connections
  std::uint64_t requests = 0;
  std::uint64_t malformed = 0;
  std::uint64_t too_slow = 0;
};

/// Asked about a request whose body has not come with its head, before more of it is read: an answer refuses
/// it.
using Gate = std::function<std::optional<Response>(const Request& head)>;

class Listener {
 public:
  /// `socket` listens already, TCP or Unix. `handler` and `gate` are called on the loop.
  Listener(Loop& loop, UniqueFd socket, Limits limits, Handler handler, Gate gate = nullptr);
  ~Listener();
  Listener(const Listener&) = delete;

  /// Accepts nobody any more. Those who are here get their answers.
  void close();
  std::size_t connections() const;
  const ListenerCounters& counters() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::http
