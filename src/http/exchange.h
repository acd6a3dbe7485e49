// The answer to one request.
//
// The handler of a request gets its exchange and owns it, alone or shared, for as long as it needs. It is
// answered once: either by `reply` or `reply_json`, or by `begin`, any number of `write`, and `finish`.
// Further calls have no effect. If the last owner lets go of an exchange that was not answered, the
// connection is closed.
//
// All calls are made on the loop's thread. None of them calls a callback or the handler before it returns, so
// an exchange may be used from anywhere. The exchange may outlive its connection and its listener: then calls
// have no effect.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "http/message.h"
#include "wire/out_queue.h"

namespace corral::http {

/// A complete answer.
struct Response {
  int status = 200;
  Headers headers;  // without Content-Length, Date and Connection, which the exchange adds
  std::string body;
  std::shared_ptr<const std::string> large_body;  // instead of `body`: it is not copied
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  /// The sender of the request. Valid as long as the exchange, even if the client is gone.
  virtual const Peer& peer() const = 0;

  /// Sends a complete answer. To a HEAD request, or with a status that has no body, only the head is sent.
  virtual void reply(Response response) = 0;
  /// The same with status 200 and a line of JSON as its body, in which one edit is made. A large line with an
  /// owner is not copied.
  virtual void reply_json(const wire::Line& line, const wire::Edit& edit);

  /// Begins an answer of unknown length: chunked for HTTP/1.1, until the end of the connection for 1.0.
  virtual void begin(int status, Headers headers) = 0;
  /// Adds a piece to it. A piece with an owner is not copied. What is written in one turn of the loop is sent
  /// together at the end of the turn, or waits until the client reads. There is no limit here: the caller
  /// must watch `queued`.
  virtual void write(const wire::Line& piece) = 0;
  /// Ends it. What is queued is still sent.
  virtual void finish() = 0;

  /// The bytes that the client has not read yet; 0 after `reply` or `finish`.
  virtual std::size_t queued() const = 0;
  /// The task runs each time that the client has read everything; from the loop, never from within a call of
  /// the exchange. A second task replaces the first. It may destroy the exchange.
  virtual void when_drained(Task task) = 0;
  /// The task runs once, when the client is gone before it has its answer; from the loop, even if the client
  /// left before this call. Not after `reply` or `finish`, and not when the listener is destroyed. A second
  /// task replaces the first. It may destroy the exchange.
  virtual void when_gone(Task task) = 0;
};

/// Called for every well-formed request, on the loop's thread. `request` is valid only during the call; its
/// body and its peer may be kept. The exchange may be answered at once or later.
using Handler = std::function<void(const Request& request, std::shared_ptr<Exchange> exchange)>;

}  // namespace corral::http
