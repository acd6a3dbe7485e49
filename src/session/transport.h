// How a session speaks to its client; client/ implements it for pipes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "wire/line_reader.h"
#include "wire/message.h"
#include "wire/out_queue.h"

namespace corral::session {

class Transport {
 public:
  virtual ~Transport() = default;

  virtual void send(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) = 0;
  /// The same for what a server answered to the client's request `id`.
  virtual void answer(const wire::Message& message, std::string_view id) {
    send(message.line(), {{message.where().id, id}});
  }
  /// What the client has not read yet is more than one answer of the largest size, and a good deal on top.
  virtual bool overflowing() const = 0;
  /// It stays above the high-water mark until the session hears `output_drained`.
  virtual bool congested() const = 0;
  virtual void pause() = 0;
  virtual void resume() = 0;

  /// Messages of the server that reached nobody: no open request can be their cause, or its client did not
  /// read.
  virtual std::uint64_t dropped() const { return 0; }

  virtual void error_output(std::string_view bytes) = 0;
  virtual void note(const std::string& sentence) = 0;
  /// Whether several programs may speak through it, which must not hear of each other.
  virtual bool of_several_programs() const { return false; }

  /// The client sees the end of its pipes: after what is queued, or at once.
  enum class Close { Flushed, AtOnce };
  virtual void close(Close how) = 0;
  /// Says what the program that stands for us in the client's eyes should exit with; the last word.
  virtual void exit(int code, const std::string& why) = 0;
};

}  // namespace corral::session
