#include "bridge/uri_listens.h"

#include <algorithm>
#include <utility>

#include "bridge/legacy_words.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::bridge {

namespace {

bool names_uri(std::string_view acknowledged_params, const std::string& uri) {
  const std::string_view accepted =
      wire::member(acknowledged_params, "notifications").in(acknowledged_params);
  const std::string_view uris = wire::member(accepted, "resourceSubscriptions").in(accepted);
  const std::optional<std::vector<wire::Span>> elements = wire::array_elements(uris, UriListens::kMost);
  return elements && std::any_of(elements->begin(), elements->end(), [&](wire::Span element) {
           return wire::string_value(element.in(uris)) == uri;
         });
}

/// The daemon's error for an instance that is gone.
bool is_loss(std::string_view error) {
  return wire::member(error, "code").in(error) == std::to_string(wire::kServerLost);
}

std::string updated_message(const std::string& uri) {
  return wire::notification_message("notifications/resources/updated",
                                    R"({"uri":)" + wire::quoted(uri) + "}");
}

}  // namespace

void UriListens::subscribe(std::string_view id, const std::string& uri, Clock::time_point now) {
  const auto found = listens_.find(uri);
  if (found != listens_.end() && found->second.acknowledged) return side_.answer(id, "{}");
  if (uri.size() > kLongestUri) {
    return side_.refuse(id, wire::kInvalidParams, "the URI is too long to subscribe to");
  }
  if (found == listens_.end() && listens_.size() >= side_.most_listens) {
    return side_.refuse(id, wire::kInvalidParams,
                        "this session has " + std::to_string(side_.most_listens) +
                            " subscriptions, which is the limit; unsubscribe from some");
  }
  if (waiting_.size() >= kMostWaiting) {
    return side_.refuse(id, wire::kTooManyCalls,
                        "too many subscriptions are waiting for the server; wait for some of them");
  }
  Listen& listen = listens_[uri];
  if (listen.waiting.empty()) listen.due = now + kPatience;
  listen.waiting.emplace_back(id);
  waiting_.emplace(id, uri);
  if (!listen.id) open(uri);
}

void UriListens::unsubscribe(std::string_view id, const std::string& uri) {
  const auto found = listens_.find(uri);
  if (found != listens_.end()) {
    Listen listen = std::move(found->second);
    listens_.erase(found);
    close(listen);
    // They had the subscription for the moment in between.
    for (const std::string& other : released(listen)) side_.answer(other, "{}");
  }
  side_.answer(id, "{}");
}

void UriListens::give_up(std::string_view id) {
  const auto waits = waiting_.find(id);
  if (waits == waiting_.end()) return;
  const auto found = listens_.find(waits->second);
  waiting_.erase(waits);
  std::vector<std::string>& others = found->second.waiting;
  others.erase(std::remove(others.begin(), others.end(), id), others.end());
  if (!others.empty() || found->second.granted) return;
  Listen listen = std::move(found->second);
  listens_.erase(found);
  close(listen);
}

void UriListens::acknowledged(UpId listen, std::string_view params) {
  const auto known = uris_.find(listen);
  if (known == uris_.end()) return;
  const std::string uri = known->second;
  Listen& found = listens_.at(uri);
  if (found.acknowledged) return;
  if (!names_uri(params, uri)) {
    close(found);
    failed(uri, {});
    return;
  }
  found.acknowledged = true;
  found.granted = true;
  for (const std::string& id : released(found)) side_.answer(id, "{}");
}

bool UriListens::answered(UpId listen, std::string_view error) {
  const auto known = uris_.find(listen);
  if (known == uris_.end()) return false;
  const std::string uri = known->second;
  uris_.erase(known);
  Listen& found = listens_.at(uri);
  found.id = {};
  found.acknowledged = false;
  // A subscription that the client was told about is kept for the next instance; otherwise a running server
  // has ended it.
  const bool lost = found.granted && found.waiting.empty() && is_loss(error);
  if (!lost) failed(uri, error);
  return true;
}

void UriListens::open_all() {
  std::vector<std::string> uris;
  for (const auto& [uri, listen] : listens_) uris.push_back(uri);
  for (const std::string& uri : uris) {
    const auto found = listens_.find(uri);
    if (found == listens_.end()) continue;
    uris_.erase(found->second.id);
    found->second.acknowledged = false;
    open(uri);
  }
}

std::optional<Clock::time_point> UriListens::next_deadline() const {
  std::optional<Clock::time_point> next;
  if (waiting_.empty()) return next;
  for (const auto& [uri, listen] : listens_) {
    if (!listen.waiting.empty() && (!next || listen.due < *next)) next = listen.due;
  }
  return next;
}

void UriListens::expire(Clock::time_point now) {
  if (waiting_.empty()) return;
  std::vector<std::string> due;
  for (const auto& [uri, listen] : listens_) {
    if (!listen.waiting.empty() && listen.due <= now) due.push_back(uri);
  }
  for (const std::string& uri : due) {
    const auto found = listens_.find(uri);
    if (found == listens_.end() || found->second.waiting.empty() || found->second.due > now) continue;
    close(found->second);
    failed(uri,
           wire::error_object(wire::kInternalError,
                              "server '" + side_.server +
                                  "' did not acknowledge the subscription within 60 seconds; try again"));
  }
}

/// The answer may arrive before this returns.
void UriListens::open(const std::string& uri) {
  const UpId id = side_.next_id();
  listens_.at(uri).id = id;
  uris_.emplace(id, uri);
  const std::string params = R"({"_meta":{)" + side_.meta +
                             R"(},"notifications":{"resourceSubscriptions":[)" + wire::quoted(uri) + "]}}";
  side_.outlet.to_server(wire::Message(wire::request_message(to_string(id), "subscriptions/listen", params)));
}

void UriListens::close(Listen& listen) {
  if (!listen.id) return;
  uris_.erase(listen.id);
  side_.outlet.to_server(wire::Message(cancelled_message(to_string(std::exchange(listen.id, UpId())))));
}

std::vector<std::string> UriListens::released(Listen& listen) {
  for (const std::string& id : listen.waiting) waiting_.erase(id);
  return std::exchange(listen.waiting, {});
}

/// The subscription does not exist. `error` is the server's, or empty if it gave none.
void UriListens::failed(const std::string& uri, std::string_view error) {
  const auto found = listens_.find(uri);
  if (found == listens_.end()) return;
  Listen listen = std::move(found->second);
  listens_.erase(found);
  // The client believes that it has this subscription, so a last update makes it read once more.
  if (listen.granted) side_.outlet.to_client({updated_message(uri), nullptr});
  for (const std::string& id : released(listen)) {
    if (error.empty()) {
      side_.refuse(id, wire::kInvalidParams,
                   "server '" + side_.server + "' does not accept a subscription to " + uri);
    } else {
      const std::string legacy = changed(error, error_changes("resources/subscribe", error));
      side_.outlet.to_client({wire::refusal_message(id, legacy), nullptr});
    }
  }
}

}  // namespace corral::bridge
