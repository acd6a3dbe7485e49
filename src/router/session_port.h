// The way back: what a router may ask of the session behind a call. session/ implements it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/shares.h"
#include "instance/instance.h"
#include "router/changed_list.h"
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

using knowledge::kListKinds;
using knowledge::ListKind;

/// What a session has told its server so far, and a new instance must be told again.
struct Standing {
  bool initialized = false;      // it said notifications/initialized
  std::string level;             // of its log, as it was asked for; empty = never
  std::set<std::string> uris{};  // of its subscriptions
};

class SessionPort {
 public:
  virtual ~SessionPort() = default;

  virtual SessionId session() const = 0;
  /// Where it is counted what it holds; null = nowhere.
  virtual Account* account() const { return nullptr; }
  /// Whether several programs may be behind it, which must not hear of each other.
  virtual bool of_several_programs() const { return false; }
  /// The session object that it belongs to; empty = none.
  virtual const std::string& owner() const = 0;
  /// The client's.
  virtual knowledge::Era era() const = 0;
  /// What the client says of itself, in the words of an initialize. JSON.
  virtual const std::string& introduction() const = 0;
  virtual void opened(const Opened& opened) = 0;
  /// To the client.
  virtual void deliver(const wire::Line& line, std::initializer_list<wire::Edit> edits = {}) = 0;
  /// To the client: what the server answered to its request `id`.
  virtual void answer(const wire::Message& message, std::string_view id) {
    deliver(message.line(), {{message.where().id, id}});
  }
  /// The client does not read: only answers, no news.
  virtual bool congested() const = 0;
  /// The server reads again.
  virtual void server_drained() = 0;
  virtual void error_output(std::string_view bytes) = 0;
  virtual void note(const std::string& sentence) = 0;
  /// The session is detached, and every call of it was answered.
  virtual void instance_left(Departure departure, const std::string& why) = 0;
  /// The instance is gone and none will follow, after every call of ours was answered.
  virtual void instance_ended(const instance::Ending& ending) = 0;

  /// Whether its client may still ask something; otherwise the end of its server is its own.
  virtual bool goes_on() const = 0;
  /// Of the questions that its servers ask, over all instances: an answer must never meet another question.
  virtual QuestionId next_question() = 0;
  /// Whether the server agreed to this subscription.
  virtual void subscription(const std::string& uri, bool agreed) = 0;
  /// Subscriptions keep an instance from being parked.
  virtual bool subscribed() const = 0;
  /// The client got this list, or could get it now, from another instance than before. `digest` is of its
  /// text.
  virtual void list_given(ListKind kind, std::size_t digest) = 0;
  virtual void list_now(ListKind kind, std::size_t digest) = 0;
  /// The server says that this list is another one now.
  virtual void list_changed(ChangedList list) = 0;
  /// Those that the client has got.
  virtual std::vector<ListKind> lists_given() const = 0;
};

}  // namespace corral::router
