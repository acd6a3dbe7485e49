// How a session sends to its client. transport/ implements it for pipes, Streamable HTTP and HTTP+SSE. The
// transport owns its session and calls it on the loop's thread; the session may call any of these functions
// from within such a call.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "router/session_port.h"
#include "wire/json_text.h"
#include "wire/line_reader.h"
#include "wire/message.h"
#include "wire/out_queue.h"

namespace corral::session {

class Transport : public router::ClientOutput {
 public:
  /// Queues a message for the client, with these parts replaced. Must not call the session.
  virtual void send(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) = 0;
  /// The same for the server's answer to the client's request `id`.
  virtual void answer(const wire::Message& message, std::string_view id) {
    send(message.line(), {{message.where().id, id}});
  }
  /// Answers the client's request `id` with an error. An empty id means that the request has no readable id.
  void send_error(std::string_view id, int code, std::string_view message, std::string_view data = {}) {
    send({wire::error_message(id, code, message, data), nullptr});
  }
  /// True if the client has left more unread than this transport allows, which is always more than one answer
  /// of the largest size. The session then ends itself.
  virtual bool overflowing() const = 0;
  /// Stops reading what the client sends; what was read already may still arrive.
  virtual void pause() = 0;
  virtual void resume() = 0;

  /// Closes the connection to the client: after the queued messages are sent, or at once.
  enum class Close { Flushed, AtOnce };
  virtual void close(Close how) = 0;
  /// Always the last call: the exit code for the process that the client started, and the reason. The
  /// transport destroys the session later, not from within this call.
  virtual void exit(int code, const std::string& why) = 0;
};

}  // namespace corral::session
