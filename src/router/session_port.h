// A session as the pool and the router of its instance see it. session/ implements it.
//
// Contract. All calls are made on the loop's thread. The router calls a session only between `attach` and
// `detach`. A session may call the router and the pool from each of these functions, and each may end this
// session or others, which detaches them: a caller that goes through several sessions looks each of them up
// by its id before it calls it. A session that has ended is destroyed in a later turn of the loop, so the
// caller may use its reference until it returns. No session destroys the router or the pool.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/id.h"
#include "base/shares.h"
#include "instance/instance.h"
#include "router/changed_list.h"
#include "router/session_memory.h"
#include "wire/line_reader.h"
#include "wire/message.h"
#include "wire/out_queue.h"

namespace corral::pool {
struct ServerSpec;
}

namespace corral::router {

using corral::SessionId;

class Router;

/// How the opening of an instance ended, for one session.
struct Opened {
  enum class Kind : std::uint8_t {
    Ready,
    Refused,  // by the server: `text` is its error as JSON
    Again,    // the server is not what was known about it: ask the pool once more
    Failed,   // the server could not be started, or died: `text` is a sentence
  };
  Kind kind = Kind::Failed;
  Router* router = nullptr;  // Ready
  std::string text;          // Ready: the result as JSON
  int exit_code = 125;       // Failed
  /// Ready: the specification that was asked for; all sessions of the instance share it.
  std::shared_ptr<const pool::ServerSpec> spec{};
};

/// Why a session loses its instance, and what follows. The session itself continues.
enum class Departure : std::uint8_t {
  Died,      // the next instance is being started
  Replaced,  // the next instance is being started
  Parked,    // the next call starts an instance
  Stopped,   // by the user: the next instance is started when the user allows it
};

/// What a client receives besides messages. Each transport implements it. Sessions, the router and the pool
/// call it, on the loop's thread; it calls none of them back.
class ClientOutput {
 public:
  virtual ~ClientOutput() = default;

  /// The client does not read: its queue is above the high-water mark, until the session is told
  /// `output_drained`. Meanwhile it gets answers, but no notifications of a shared server.
  virtual bool congested() const = 0;
  /// What the server wrote to stderr. Dropped and counted if the client does not read it.
  virtual void error_output(std::string_view bytes) = 0;
  /// A sentence of corral for the person at the client.
  virtual void note(const std::string& sentence) = 0;
  /// Whether that person may want to know how to share the server.
  virtual bool wants_advice() const { return true; }
  /// Whether several programs, which must not learn about each other, may use this transport.
  virtual bool of_several_programs() const { return false; }
  /// How many messages of the server reached no client: no open request can have caused them, or the client
  /// did not read.
  virtual std::uint64_t dropped() const { return 0; }
};

/// How a client introduced itself, in its handshake or in its last modern request.
struct ClientFacts {
  knowledge::Era era = knowledge::Era::Legacy;
  std::string introduction;  // the parameters of an initialize request, JSON
  std::string version;       // the revision agreed on with a legacy client
  std::string info;          // name and version of its program. JSON; may be empty
};

class SessionPort {
 public:
  /// `owner` is the session object that the session belongs to (empty = none). `account` limits what it holds
  /// (null = no limit). Account and output outlive the session.
  SessionPort(SessionId id, std::string owner, Account* account, ClientOutput& output)
      : id_(id), owner_(std::move(owner)), account_(account), output_(output) {}
  virtual ~SessionPort() = default;
  SessionPort(const SessionPort&) = delete;

  SessionId id() const { return id_; }
  const std::string& owner() const { return owner_; }
  Account* account() const { return account_; }
  const ClientFacts& client() const { return client_; }
  knowledge::Era era() const { return client_.era; }
  const std::string& introduction() const { return client_.introduction; }
  SessionMemory& memory() { return memory_; }
  const SessionMemory& memory() const { return memory_; }
  /// Whether the client may still send requests. If not, the session ends with its server.
  bool may_ask() const { return may_ask_; }

  bool congested() const { return output_.congested(); }
  void error_output(std::string_view bytes) { output_.error_output(bytes); }
  void note(const std::string& sentence) { output_.note(sentence); }
  bool wants_advice() const { return output_.wants_advice(); }
  bool of_several_programs() const { return output_.of_several_programs(); }
  std::uint64_t dropped() const { return output_.dropped(); }

  // From the pool.
  /// The instance that the session asked for is open, or could not be opened. Called once for each request to
  /// the pool, perhaps before that request returns.
  virtual void opened(const Opened& opened) = 0;
  /// The session was detached from its instance and continues without it. Each of its calls was answered
  /// before.
  virtual void instance_lost(Departure departure, const std::string& why) = 0;
  /// The session was detached, its instance has ended, and none will follow. Each of its calls was answered
  /// before.
  virtual void instance_ended(const instance::TreeEnd& ending) = 0;

  // From the router.
  /// Sends a message to the client, with these places replaced. The line is only valid during the call.
  virtual void deliver(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) = 0;
  /// Sends the server's answer to the client's request `id`.
  virtual void answer(const wire::Message& message, std::string_view id) = 0;
  /// The server reads again: the session may go on reading what its client sends.
  virtual void server_drained() = 0;
  /// The server says that this list has changed, or a new instance lists something other than the last one.
  virtual void list_changed(ChangedList list) = 0;

 protected:
  // Kept by the session.
  ClientFacts client_;
  SessionMemory memory_;
  bool may_ask_ = true;

 private:
  const SessionId id_;
  const std::string owner_;
  Account* const account_;
  ClientOutput& output_;
};

}  // namespace corral::router
