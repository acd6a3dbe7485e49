// The way back: what a router may ask of the session behind a call. session/ implements it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "server/instance.h"
#include "wire/line_reader.h"
#include "wire/out_queue.h"

namespace corral::router {

using SessionId = std::uint64_t;

class Router;

/// How the opening of an instance ended, as one session hears it.
struct Opened {
  enum class Kind : std::uint8_t {
    Ready,
    Refused,   // the server said no: `text` is its error as JSON
    OtherEra,  // a legacy server was asked in the modern way
    Again,     // what was believed of the server was wrong: ask the switchboard once more
    Failed,    // it could not be started, or died: `text` is a sentence
  };
  Kind kind = Kind::Failed;
  Router* router = nullptr;  // Ready
  std::string text;          // Ready: the result as JSON
  int exit_code = 125;       // Failed, before there was a process
};

class SessionPort {
 public:
  virtual ~SessionPort() = default;

  virtual SessionId session() const = 0;
  virtual void opened(const Opened& opened) = 0;
  /// To the client.
  virtual void deliver(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) = 0;
  /// The client does not read: only answers, no news.
  virtual bool congested() const = 0;
  /// The server reads again.
  virtual void server_drained() = 0;
  virtual void error_output(std::string_view bytes) = 0;
  virtual void note(const std::string& sentence) = 0;
  /// The instance is gone for good, after every call of ours was answered.
  virtual void instance_ended(const server::Ending& ending) = 0;
};

}  // namespace corral::router
