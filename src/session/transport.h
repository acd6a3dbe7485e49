// How a session speaks to its client. transport/ implements it for pipes, Streamable HTTP and HTTP+SSE.
// The transport owns its session and calls it on the loop thread; the session may call any of these functions
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
  /// Queues a message for the client, with these places replaced. Never calls the session back.
  virtual void send(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) = 0;
  /// The same for the server's answer to the client's request `id`.
  virtual void answer(const wire::Message& message, std::string_view id) {
    send(message.line(), {{message.where().id, id}});
  }
  /// Answers the client's request `id` with an error; without an id the client gets one that belongs to none.
  void send_error(std::string_view id, int code, std::string_view message, std::string_view data = {}) {
    send({wire::error_message(id, code, message, data), nullptr});
  }
  /// True when the client has left more unread than this transport allows, which is always more than one
  /// answer of the largest size. The session is ended then.
  virtual bool overflowing() const = 0;
  /// Stops reading what the client sends; what was read already may still arrive.
  virtual void pause() = 0;
  virtual void resume() = 0;

  /// The client sees the end of its pipes: after what is queued, or at once.
  enum class Close { Flushed, AtOnce };
  virtual void close(Close how) = 0;
  /// The last call: the exit code for the process that the client started, and why. The transport destroys
  /// the session some time after it, not from within.
  virtual void exit(int code, const std::string& why) = 0;
};

}  // namespace corral::session
