// The resource subscriptions of a legacy client with a modern server: one subscriptions/listen per URI,
// because the filter of a listen cannot be changed.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bridge/legacy_side.h"

namespace corral::bridge {

/// Owned by the bridge for a legacy client. `side` must outlive it. An answer may arrive from within a
/// request.
class UriListens {
 public:
  /// The limit of the official SDK for one connection.
  static constexpr std::size_t kMost = 1024;
  /// The limit for one of several sessions that share the connection, so that none uses up the others' share.
  static constexpr std::size_t kMostOfOne = 128;
  static constexpr std::size_t kLongestUri = std::size_t{64} << 10;
  static constexpr std::size_t kMostWaiting = 1024;  // of the client
  static constexpr Clock::duration kPatience =
      std::chrono::seconds(60);  // with a server that does not respond

  explicit UriListens(LegacySide& side) : side_(side) {}

  // Requests of the client; `id` is the JSON text of its id. Each is answered eventually.
  void subscribe(std::string_view id, const std::string& uri, Clock::time_point now);
  void unsubscribe(std::string_view id, const std::string& uri);

  /// Whether a request with this id is waiting here.
  bool waits(std::string_view id) const { return waiting_.contains(id); }
  /// The client cancels such a request.
  void give_up(std::string_view id);

  // Messages of the server about the listen `listen`, which may not be from here.
  void acknowledged(UpId listen, std::string_view params);
  /// False if the listen is not from here. `error` is JSON, empty if the listen ended with a result.
  bool answered(UpId listen, std::string_view error);
  void cancelled(UpId listen) { answered(listen, {}); }
  bool knows(UpId listen) const { return uris_.contains(listen); }

  /// Repeats all subscriptions with a new instance. No request waits for the answers.
  void open_all();

  std::optional<Clock::time_point> next_deadline() const;
  void expire(Clock::time_point now);

 private:
  struct Listen {
    UpId id{};  // empty = none is open: the client still expects it, and the next instance is asked
    bool acknowledged = false;
    bool granted = false;                // the client was told that it has this subscription
    std::vector<std::string> waiting{};  // ids of the client's requests
    Clock::time_point due{};             // when they time out; unused if there are none
  };

  void open(const std::string& uri);
  void close(Listen& listen);
  /// Removes and returns the waiting requests.
  std::vector<std::string> released(Listen& listen);
  void failed(const std::string& uri, std::string_view error);

  LegacySide& side_;
  std::map<std::string, Listen> listens_;                    // by URI
  std::map<UpId, std::string> uris_;                         // by the id of the open listen
  std::map<std::string, std::string, std::less<>> waiting_;  // URIs by the id of the client's request
};

}  // namespace corral::bridge
