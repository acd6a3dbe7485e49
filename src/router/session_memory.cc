#include "router/session_memory.h"

#include "router/log_levels.h"
#include "router/subscriptions.h"
#include "wire/json_text.h"

namespace corral::router {

void SessionMemory::charge_to(Account& account) {
  if (auto held = account.take(Good::Bytes, 0)) subscriptions_ = std::move(*held);
}

void SessionMemory::remember(const wire::Message& message) {
  if (message.has_protocol_version()) return;
  const std::string_view method = message.method();
  if (method == "notifications/initialized") standing_.initialized = true;
  const std::string_view params = message.params();
  const auto text = [params](std::string_view key) {
    return wire::string_value(wire::member(params, key).in(params)).value_or("");
  };
  if (method == "logging/setLevel" && parse_log_level(text("level"))) standing_.level = text("level");
  if (method == "resources/unsubscribe") {
    standing_.uris.erase(text("uri"));
    charge_subscriptions();
  }
}

/// The router keeps each URI, too. False if the account cannot hold them all.
bool SessionMemory::charge_subscriptions() {
  std::size_t bytes = 0;
  for (const std::string& uri : standing_.uris) bytes += Subscriptions::kept_for(uri);
  return subscriptions_.resize(bytes);
}

void SessionMemory::add_subscription(const std::string& uri) {
  constexpr std::size_t kMost = 1024;
  constexpr std::size_t kLongest = 8192;
  if (standing_.uris.size() >= kMost || uri.size() > kLongest) return;
  // The request held as many bytes until now, so there is room. What cannot be charged is not kept.
  if (standing_.uris.insert(uri).second && !charge_subscriptions()) standing_.uris.erase(uri);
}

void SessionMemory::remove_subscription(const std::string& uri) {
  standing_.uris.erase(uri);
  charge_subscriptions();
}

void SessionMemory::list_given(ListKind kind, std::size_t digest) {
  lists_[static_cast<std::size_t>(kind)] = digest;
}

bool SessionMemory::list_differs(ListKind kind, std::size_t digest) {
  auto& seen = lists_[static_cast<std::size_t>(kind)];
  if (!seen || *seen == digest) return false;
  seen = digest;
  return true;
}

std::vector<ListKind> SessionMemory::lists_given() const {
  std::vector<ListKind> kinds;
  for (std::size_t kind = 0; kind < lists_.size(); ++kind) {
    if (lists_[kind]) kinds.push_back(static_cast<ListKind>(kind));
  }
  return kinds;
}

void SessionMemory::clear() {
  standing_ = {};
  lists_ = {};
}

}  // namespace corral::router
