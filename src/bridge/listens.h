// The open subscriptions/listen of one modern client, kept up by what a legacy server says of its own accord
// and by resources/subscribe. The server is asked once per URI, by the first listen that wants it, and told
// once, by the last. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/bridge.h"
#include "bridge/to_modern.h"

namespace corral::bridge {

class Listens {
 public:
  /// `ids` is the source of the ids that the server sees.
  Listens(Outlet& outlet, IdSource<UpId>& ids) : outlet_(outlet), ids_(ids) {}

  bool holds(std::string_view client_id) const { return listens_.contains(client_id); }
  std::size_t size() const { return listens_.size(); }

  /// What is wrong with the filter, an error message for the client; nothing if the listen is open, which it
  /// then is until it is closed.
  std::optional<std::string> open(std::string_view client_id, std::string_view params,
                                  const LegacyServer& server);
  /// The client wants no more of it.
  void close(std::string_view client_id);
  /// Ends every listen with its result. The server hears nothing of it: the end of the session tells it.
  void end_all();
  /// The server's word on an id; false if it is not the id of a subscription.
  bool answered(UpId id, bool accepted);

  /// One of the three notifications/…/list_changed, by the name of the list.
  void list_changed(std::string_view list, const wire::Message& message);
  void updated(const wire::Message& message);

 private:
  struct Listen {
    std::set<std::string, std::less<>> lists;  // "tools", "prompts", "resources"
    std::vector<std::string> uris;             // accepted, or not yet answered
    std::size_t outstanding = 0;               // of them, not yet answered
    bool acknowledged = false;
  };
  struct Subscription {
    UpId asked{};  // the request that the server has not answered; nobody's = it has agreed
    std::set<std::string, std::less<>> listens;
  };

  std::vector<std::string> join(const std::string& client_id, Listen& listen);
  void leave(const std::string& client_id, const std::string& uri);
  void acknowledge(const std::string& client_id, Listen& listen);
  void settle(const std::string& client_id, const std::string& uri, bool accepted);
  void send(const std::string& client_id, const wire::Message& message);
  void tell_server(std::string_view method, std::string_view uri, UpId id);

  Outlet& outlet_;
  IdSource<UpId>& ids_;
  std::map<std::string, Listen, std::less<>> listens_;  // by the client's id, JSON
  std::map<std::string, Subscription, std::less<>> subscriptions_;
  std::map<UpId, std::string> asked_;  // the URI of each request that is not answered
};

}  // namespace corral::bridge
