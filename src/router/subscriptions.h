// Who of a shared instance's sessions wants to hear of which resource. The server is asked once per URI, by
// the first, and told once, by the last. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "router/session_port.h"

namespace corral::router {

class Subscriptions {
 public:
  struct Waiting {
    SessionPort* port;
    std::string id;  // of the request to answer
  };
  enum class Next { AskServer, Wait, Answer };

  Next subscribe(SessionPort* port, const std::string& uri, const std::string& id);
  /// The server has answered: who waited for it. After a refusal nobody is subscribed.
  std::vector<Waiting> answered(const std::string& uri, bool accepted);
  /// True if the server must be told: that was the last one.
  bool unsubscribe(SessionPort* port, const std::string& uri);
  /// The session has ended: the URIs to tell the server about.
  std::vector<std::string> drop(SessionPort* port);
  /// How many requests of the session wait for the server's word.
  std::size_t waiting(const SessionPort* port) const;
  /// They are answered otherwise; their ids.
  std::vector<std::string> give_up(const SessionPort* port);
  /// Nobody came out of the wait: the subscription that the server has just made is to be undone.
  bool abandoned(const std::string& uri);

  bool holds(const SessionPort* port, const std::string& uri) const;
  /// Subscribers of the URI itself, and of one above it: a server may name a part of what was asked for.
  std::vector<SessionPort*> interested(std::string_view uri) const;

 private:
  struct Entry {
    bool asked = true;  // the server's answer is outstanding
    std::set<SessionPort*> subscribers;
    std::vector<Waiting> waiting;
    std::set<SessionPort*> leaving;  // said unsubscribe before the server had agreed
  };
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace corral::router
