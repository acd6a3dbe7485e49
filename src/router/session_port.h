// A session as the router of its instance and the pool see it. session/ implements it.
//
// All calls are made on the loop thread. Any of the virtual functions may end the session, and with it remove
// it from the router that calls: a caller that goes through several sessions looks each of them up by its id
// before it calls it.
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

/// How the opening of an instance ended, as one session hears it.
struct Opened {
  enum class Kind : std::uint8_t {
    Ready,
    Refused,  // the server said no: `text` is its error as JSON
    Again,    // what was believed of the server was wrong: ask the pool once more
    Failed,   // it could not be started, or died: `text` is a sentence
  };
  Kind kind = Kind::Failed;
  Router* router = nullptr;  // Ready
  std::string text;          // Ready: the result as JSON
  int exit_code = 125;       // Failed
  /// Ready: the same as was asked for, for all sessions to share.
  std::shared_ptr<const pool::ServerSpec> wanted{};
};

/// Why a session loses its instance, though it goes on itself.
enum class Departure : std::uint8_t {
  Died,      // another one is coming
  Replaced,  // another one is coming
  Parked,    // another one comes with the next call
  Stopped,   // by the user: another one comes when the user allows it
};

/// What a client receives beside messages. Each transport implements it.
class ClientOutput {
 public:
  virtual ~ClientOutput() = default;

  /// The client does not read: what is queued for it stays above the high-water mark until the session hears
  /// `output_drained`. It gets answers then, but no news.
  virtual bool congested() const = 0;
  /// What its server wrote to stderr. Dropped and counted where the client does not read it.
  virtual void error_output(std::string_view bytes) = 0;
  /// A sentence of corral for the person at the client.
  virtual void note(const std::string& sentence) = 0;
  /// Whether several programs may use this transport, which must not hear of each other.
  virtual bool of_several_programs() const { return false; }
  /// How many messages of the server reached nobody: no open request can have caused them, or its client did
  /// not read.
  virtual std::uint64_t dropped() const { return 0; }
};

/// What a client said of itself, in its handshake or in its last modern request.
struct ClientFacts {
  knowledge::Era era = knowledge::Era::Legacy;
  std::string introduction;  // in the words of an initialize request. JSON
  std::string version;       // the revision agreed on with a legacy client
  std::string info;          // name and version of its program. JSON; may be empty
};

class SessionPort {
 public:
  /// `owner` is the session object that the session belongs to (empty = none). `account` counts what it holds
  /// (null = nothing is counted). Account and output outlive the session.
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
  /// Whether its client may still ask something. If it may not, the session ends with its server.
  bool may_ask() const { return may_ask_; }

  bool congested() const { return output_.congested(); }
  void error_output(std::string_view bytes) { output_.error_output(bytes); }
  void note(const std::string& sentence) { output_.note(sentence); }
  bool of_several_programs() const { return output_.of_several_programs(); }
  std::uint64_t dropped() const { return output_.dropped(); }

  // From the pool.
  /// The instance that the session asked for is open, or will not be. Called once for each request, perhaps
  /// before `open` returns.
  virtual void opened(const Opened& opened) = 0;
  /// The session was detached from its instance and goes on without it. Every call of it was answered.
  virtual void instance_left(Departure departure, const std::string& why) = 0;
  /// The instance has ended and none will follow. Every call of the session was answered.
  virtual void instance_ended(const instance::Ending& ending) = 0;

  // From the router.
  /// Sends a message of the server to the client, with these places replaced.
  virtual void deliver(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) = 0;
  /// Sends the server's answer to the client's request `id`.
  virtual void answer(const wire::Message& message, std::string_view id) = 0;
  /// The server reads again: the session may go on reading what its client sends.
  virtual void server_drained() = 0;
  /// The server says that this list has changed, or an instance lists something else than its predecessor.
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
