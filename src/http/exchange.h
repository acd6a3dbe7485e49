// The way back of one request. Either `reply`, or `begin`, any number of `write`, and `finish`; once. Letting
// go of an exchange that was not answered closes the connection.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "http/message.h"
#include "wire/out_queue.h"

namespace corral::http {

struct Response {
  int status = 200;
  Headers headers;  // without Content-Length, Date, Connection: the exchange adds them
  std::string body;
  std::shared_ptr<const std::string> large_body;  // instead of `body`: not copied
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const Peer& peer() const = 0;

  virtual void reply(Response response) = 0;
  /// With status 200 and a line of JSON as its body, in which one edit is made; a large line is not copied.
  virtual void reply_json(const wire::Line& line, const wire::Edit& edit);

  /// An answer whose length nobody knows yet: chunked for HTTP/1.1, until the end of the connection for 1.0.
  virtual void begin(int status, Headers headers) = 0;
  /// A piece of it. With an owner it is not copied. What is written in one turn of the loop goes out together
  /// at its end, or waits until the client reads.
  virtual void write(const wire::Line& piece) = 0;
  virtual void finish() = 0;

  /// What the client has not taken yet, in bytes.
  virtual std::size_t queued() const = 0;
  /// Called each time when nothing is queued any more; from the loop, never from within a call here.
  virtual void when_drained(Task task) = 0;
  /// Called once when the client is gone before it has its answer; from the loop, also if it went before this
  /// was asked. Not after `reply` or `finish`, and not when the listener is destroyed.
  virtual void when_gone(Task task) = 0;
};

/// Takes every request that is well-formed. The exchange may be answered at once or later.
using Handler = std::function<void(const Request& request, std::shared_ptr<Exchange> exchange)>;

}  // namespace corral::http
