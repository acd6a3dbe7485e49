// What a session has told its servers, and which lists it got from them. It outlives the instances of the
// session: the next instance is told what the last one was told, and the client is told which lists have
// changed. Owned by the session. The router reads and changes it through `SessionPort::memory`, on the loop's
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/shares.h"
#include "knowledge/manifest.h"
#include "router/changed_list.h"
#include "wire/message.h"

namespace corral::router {

using knowledge::kListKinds;
using knowledge::ListKind;

/// What a new instance must be told again.
struct Standing {
  bool initialized = false;      // the client sent notifications/initialized
  std::string level;             // the log level that it asked for; empty = it never did
  std::set<std::string> uris{};  // of its subscriptions
};

/// The notification that tells a client about a change to this list.
constexpr ChangedList changed_list_of(ListKind kind) {
  switch (kind) {
    case ListKind::Tools: return ChangedList::Tools;
    case ListKind::Prompts: return ChangedList::Prompts;
    case ListKind::Resources:
    case ListKind::Templates: break;
  }
  return ChangedList::Resources;
}

class SessionMemory {
 public:
  /// From now on the bytes of subscriptions count against this account, which outlives the session.
  void charge_to(Account& account);

  /// A message of a legacy client, or of a bridge in its place, that is about to go to the server. A modern
  /// request has everything that it needs, so nothing is kept of it.
  void remember(const wire::Message& message);
  const Standing& standing() const { return standing_; }

  /// The server agreed to this subscription. One that the account cannot hold is not kept.
  void add_subscription(const std::string& uri);
  /// The server ended it, or refused it to a new instance.
  void remove_subscription(const std::string& uri);
  /// An instance with subscriptions is in use and is not parked.
  bool subscribed() const { return !standing_.uris.empty(); }

  /// The client received this list. `digest` is that of its text.
  void list_given(ListKind kind, std::size_t digest);
  /// An instance would answer with this list now. True if the client has seen another one and must be told.
  bool list_differs(ListKind kind, std::size_t digest);
  std::vector<ListKind> lists_given() const;

  /// An id for a question to the client, never used twice in a session: a late answer to a question of an
  /// earlier instance must not be taken for the answer to a question of the next one.
  QuestionId next_question() { return questions_.next(); }

  /// The client starts over with another handshake. Question ids are still not used again.
  void clear();

 private:
  bool charge_subscriptions();

  Standing standing_;
  std::array<std::optional<std::size_t>, kListKinds> lists_{};  // digests of what the client has seen
  Account::Held subscriptions_;
  IdSource<QuestionId> questions_;
};

}  // namespace corral::router
