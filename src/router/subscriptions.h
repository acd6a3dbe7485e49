// Which of a shared instance's sessions wants to hear of which resource. The server is asked once per URI, by
// the first of them, and told once, by the last. What one session may hold has a bound, and nothing here
// takes longer because of what the others hold. Pure.
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
  static constexpr std::size_t kMostLevels = 32;  // of a URI, from its beginning, that may be subscribed to

  struct Waiting {
    SessionId session;
    std::string id;  // of the request to answer; empty = it was answered long ago
  };
  enum class Next : std::uint8_t { AskServer, Wait, AnswerNow, Refuse, NoRoom };
  enum class Answer : std::uint8_t { Accepted, Refused };

  /// Refuse: the session has as many as it may have, or the URI is too long. NoRoom: `account` may not hold
  /// so many bytes until the server has answered. Nothing has changed then.
  Next subscribe(SessionId session, const std::string& uri, const std::string& id,
                 Account* account = nullptr);
  /// The server has answered: who waited for it. After a refusal nobody is subscribed.
  std::vector<Waiting> answered(const std::string& uri, Answer answer);
  /// True if the server must be told: that was the last one.
  bool unsubscribe(SessionId session, const std::string& uri);
  /// The session has ended: the URIs to tell the server about.
  std::vector<std::string> drop(SessionId session);
  /// How many requests of the session wait for the server's word.
  std::size_t waiting(SessionId session) const;
  /// They are answered otherwise; their ids.
  std::vector<std::string> give_up(SessionId session);
  /// Nobody came out of the wait: the subscription that the server has just made is to be undone.
  bool abandoned(const std::string& uri);

  bool holds(SessionId session, const std::string& uri) const;
  /// Subscribers of the URI itself, and of one above it (within kMostLevels): a server may name a part of
  /// what was asked for.
  std::vector<SessionId> interested(std::string_view uri) const;

 private:
  struct Entry {
    bool asked = true;  // the server's answer is outstanding
    std::set<SessionId> subscribers;
    std::vector<Waiting> waiting;
    std::set<SessionId> leaving;  // said unsubscribe before the server had agreed
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
