// Which sessions of a shared instance are subscribed to which resource. The server gets one subscribe request
// per URI, for the first session, and one unsubscribe request, after the last one. What a session may hold is
// limited, and nothing here takes longer because of what the other sessions hold. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/shares.h"

namespace corral::router {

class Subscriptions {
 public:
  static constexpr std::size_t kMostOfASession = 1024;
  static constexpr std::size_t kLongestUri = 8192;

  /// What a subscription costs its principal: the URI and the nodes that hold it, in its session and here.
  static std::size_t kept_for(const std::string& uri) {
    constexpr std::size_t kNodes = 192;
    return 2 * uri.size() + kNodes;
  }
  static constexpr std::size_t kMostLevels =
      32;  // of a URI, from its beginning, at which a subscription is found

  struct Waiting {
    SessionId session;
    std::string id;  // of the client's request; empty = it was answered by an earlier instance
  };
  enum class Next : std::uint8_t { AskServer, Wait, AnswerNow, Refuse, NoRoom };
  enum class Answer : std::uint8_t { Accepted, Refused };

  /// AskServer: send it. Wait: it was sent already. AnswerNow: the server has agreed already. Refuse: the
  /// session has as many as it may have, or the URI is too long. NoRoom: `account` may not hold the bytes
  /// until the server has answered. After the last two nothing has changed.
  Next subscribe(SessionId session, const std::string& uri, const std::string& id,
                 Account* account = nullptr);
  /// The server has answered. Returns the requests that waited for it. After a refusal no session is
  /// subscribed.
  std::vector<Waiting> answered(const std::string& uri, Answer answer);
  /// True if that was the last session: the server must be told.
  bool unsubscribe(SessionId session, const std::string& uri);
  /// The session has ended: the URIs to tell the server about.
  std::vector<std::string> drop(SessionId session);
  /// How many requests of the session wait for the server.
  std::size_t waiting(SessionId session) const;
  /// The requests of the session that wait are answered in another way. Returns their ids.
  std::vector<std::string> give_up(SessionId session);
  /// No session wants the subscription that the server has just agreed to: it must be undone.
  bool abandoned(const std::string& uri);

  bool holds(SessionId session, const std::string& uri) const;
  /// The subscribers of the URI itself, and of a URI above it (within kMostLevels): a server may report a
  /// part of what was subscribed to.
  std::vector<SessionId> interested(std::string_view uri) const;

 private:
  struct Entry {
    bool asked = true;  // the server's answer is outstanding
    std::set<SessionId> subscribers;
    std::vector<Waiting> waiting;
    std::set<SessionId> leaving;  // unsubscribed before the server had agreed
  };
  struct Holder {
    std::set<std::string> uris;  // subscribed, or waited for
    std::size_t waiting = 0;     // requests
    Account::Held bytes{};       // of these
  };

  static std::size_t cost(const std::string& uri, const std::string& id);
  static bool hold(Holder& holder, Account& account, std::size_t bytes);
  void stopped_waiting(const Waiting& one, const std::string& uri);
  void let_go(SessionId session, const std::string& uri);

  std::map<std::string, Entry, std::less<>> entries_;
  std::map<SessionId, Holder> holders_;
};

}  // namespace corral::router
