// The open subscriptions/listen requests of one modern client with a legacy server. They are served from the
// server's notifications and from resources/subscribe. The server is asked once per URI, for the first listen
// that needs it, and unsubscribed once, after the last. Pure.
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

/// `outlet` and `ids` must outlive it. An answer may arrive from within a message to the server.
class Listens {
 public:
  /// `ids` issues the ids that the server sees.
  Listens(Outlet& outlet, IdSource<UpId>& ids) : outlet_(outlet), ids_(ids) {}

  bool holds(std::string_view client_id) const { return listens_.contains(client_id); }
  std::size_t size() const { return listens_.size(); }

  /// Opens a listen. Returns an error message for the client if the filter is not valid; empty if the listen
  /// is open. It stays open until it is closed.
  std::optional<std::string> open(std::string_view client_id, std::string_view params,
                                  const LegacyServer& server);
  /// The client cancels the listen.
  void close(std::string_view client_id);
  /// Ends every listen with its result. The server is not unsubscribed, because the session ends.
  void end_all();
  enum class Reply : std::uint8_t { Accepted, Refused };
  /// The server's answer to a request; false if the id is not that of a subscription.
  bool answered(UpId id, Reply reply);

  /// One of the three notifications/…/list_changed, by the name of the list.
  void list_changed(std::string_view list, const wire::Message& message);
  void updated(const wire::Message& message);

 private:
  struct Listen {
    std::set<std::string, std::less<>> lists;  // "tools", "prompts", "resources"
    std::vector<std::string> uris;             // accepted, or not answered yet
    std::size_t outstanding = 0;               // how many of them are not answered yet
    bool acknowledged = false;
  };
  struct Subscription {
    UpId asked{};  // the request that is not answered yet; empty = the server has agreed
    std::set<std::string, std::less<>> listens;
  };

  std::vector<std::string> join(const std::string& client_id, Listen& listen);
  void leave(const std::string& client_id, const std::string& uri);
  void acknowledge(const std::string& client_id, Listen& listen);
  void settle(const std::string& client_id, const std::string& uri, Reply reply);
  void send(const std::string& client_id, const wire::Message& message);
  void tell_server(std::string_view method, std::string_view uri, UpId id);

  Outlet& outlet_;
  IdSource<UpId>& ids_;
  std::map<std::string, Listen, std::less<>> listens_;  // by the client's id, JSON
  std::map<std::string, Subscription, std::less<>> subscriptions_;
  std::map<UpId, std::string> asked_;  // the URI of each request that is not answered yet
};

}  // namespace corral::bridge
