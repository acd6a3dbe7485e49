// The resource subscriptions of a legacy client with a modern server: for each URI one subscriptions/listen,
// because the filter of a listen cannot change.
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

class UriListens {
 public:
  /// As many as the official SDK lets one connection have.
  static constexpr std::size_t kMost = 1024;
  /// Of them for one of several sessions that share the connection: none may use up the others' share.
  static constexpr std::size_t kMostOfOne = 128;
  static constexpr std::size_t kLongestUri = std::size_t{64} << 10;
  static constexpr std::size_t kMostWaiting = 1024;                       // requests of the client
  static constexpr Clock::duration kPatience = std::chrono::seconds(60);  // with a server that says nothing

  explicit UriListens(LegacySide& side) : side_(side) {}

  // Requests of the client; `id` is the JSON text of its id. Both are answered sooner or later.
  void subscribe(std::string_view id, const std::string& uri, Clock::time_point now);
  void unsubscribe(std::string_view id, const std::string& uri);

  /// Whether a request with this id waits here.
  bool waits(std::string_view id) const { return waiting_.contains(id); }
  /// The client takes such a request back.
  void give_up(std::string_view id);

  // Messages of the server about the listen `listen`, which may be none of ours.
  void acknowledged(UpId listen, std::string_view params);
  /// False if it is none of ours. `error` is JSON, empty if the listen was ended by a result.
  bool answered(UpId listen, std::string_view error);
  void cancelled(UpId listen) { answered(listen, {}); }
  bool knows(UpId listen) const { return uris_.contains(listen); }

  /// Asks another instance for everything again. Nobody waits for its answer.
  void open_all();

  std::optional<Clock::time_point> next_deadline() const;
  void expire(Clock::time_point now);

 private:
  struct Listen {
    UpId id{};  // nobody's = none is open: the client still counts on it, the next instance is asked
    bool acknowledged = false;
    bool granted = false;                // the client was told that it has this subscription
    std::vector<std::string> waiting{};  // ids of the client
    Clock::time_point due{};             // when they wait no longer; of no meaning if there are none
  };

  void open(const std::string& uri);
  void close(Listen& listen);
  /// Takes those who wait for the answer out.
  std::vector<std::string> released(Listen& listen);
  void failed(const std::string& uri, std::string_view error);

  LegacySide& side_;
  std::map<std::string, Listen> listens_;                    // by URI
  std::map<UpId, std::string> uris_;                         // by the id of the open listen
  std::map<std::string, std::string, std::less<>> waiting_;  // URIs by the client's id
};

}  // namespace corral::bridge
