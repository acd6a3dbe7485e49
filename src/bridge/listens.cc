#include "bridge/listens.h"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::bridge {
namespace {

// Limits for one client; the same as in the official server library, and far more than one uses.
constexpr std::size_t kMostListens = 64;
constexpr std::size_t kMostUris = 1024;
constexpr std::size_t kLongestUri = 8192;

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kLists = {
    {{"toolsListChanged", "tools"},
     {"promptsListChanged", "prompts"},
     {"resourcesListChanged", "resources"}}};

/// The notifications that a client wants.
struct Filter {
  std::set<std::string, std::less<>> lists;
  std::vector<std::string> uris;
  std::string fault;
};

bool server_has(const LegacyServer& server, std::string_view list) {
  if (list == "tools") return server.tools;
  return list == "prompts" ? server.prompts : server.resources;
}

void read_uris(std::string_view array, Filter& filter) {
  const std::optional<std::vector<wire::Span>> elements = wire::array_elements(array, kMostUris);
  if (!elements || elements->size() > kMostUris) {
    filter.fault = "resourceSubscriptions must be an array of at most " + std::to_string(kMostUris) + " URIs";
    return;
  }
  std::set<std::string> seen;
  for (const wire::Span& element : *elements) {
    std::optional<std::string> uri = wire::string_value(element.in(array));
    if (!uri || uri->size() > kLongestUri) {
      filter.fault =
          "resourceSubscriptions must contain strings of at most " + std::to_string(kLongestUri) + " bytes";
      return;
    }
    if (seen.insert(*uri).second) filter.uris.push_back(std::move(*uri));
  }
}

Filter read_filter(std::string_view params) {
  Filter filter;
  const std::string_view wanted = wire::member(params, "notifications").in(params);
  if (!is_object(wanted)) {
    filter.fault = "params.notifications is required and must be an object";
    return filter;
  }
  for (const auto& [key, list] : kLists) {
    const std::string_view value = wire::member(wanted, key).in(wanted);
    if (value == "true") filter.lists.emplace(list);
    if (!value.empty() && value != "true" && value != "false")
      filter.fault = std::string(key) + " must be a boolean";
  }
  const std::string_view uris = wire::member(wanted, "resourceSubscriptions").in(wanted);
  if (!uris.empty() && filter.fault.empty()) read_uris(uris, filter);
  return filter;
}

/// A server may name a part of the subscribed resource.
bool covers(std::string_view subscribed, std::string_view uri) {
  if (!uri.starts_with(subscribed)) return false;
  const std::string_view rest = uri.substr(subscribed.size());
  return rest.empty() || subscribed.ends_with('/') || rest.front() == '/';
}

}  // namespace

std::optional<std::string> Listens::open(std::string_view client_id, std::string_view params,
                                         const LegacyServer& server) {
  Filter filter = read_filter(params);
  if (!filter.fault.empty()) return wire::error_message(client_id, wire::kInvalidParams, filter.fault);
  std::erase_if(filter.lists, [&](const std::string& list) { return !server_has(server, list); });
  if (!server.subscribe) filter.uris.clear();
  const auto fresh =
      static_cast<std::size_t>(std::count_if(filter.uris.begin(), filter.uris.end(),
                                             [&](const auto& uri) { return !subscriptions_.contains(uri); }));
  if (listens_.size() >= kMostListens || subscriptions_.size() + fresh > kMostUris) {
    return wire::error_message(client_id, wire::kTooManyCalls,
                               "too many subscriptions: a client may have " + std::to_string(kMostListens) +
                                   " listens and " + std::to_string(kMostUris) +
                                   " URIs at a time; cancel some of them");
  }
  const std::string key(client_id);
  Listen& listen = listens_[key];
  listen.lists = std::move(filter.lists);
  listen.uris = std::move(filter.uris);
  const std::vector<std::string> ask = join(key, listen);
  // An answer may arrive while the next one is requested. All are recorded by now, so none ends the wait too
  // early.
  for (const std::string& uri : ask) {
    const auto entry = subscriptions_.find(uri);
    if (entry != subscriptions_.end()) tell_server("resources/subscribe", uri, entry->second.asked);
  }
  const auto opened = listens_.find(key);
  if (opened != listens_.end() && opened->second.outstanding == 0) acknowledge(key, opened->second);
  return std::nullopt;
}

/// Records the listen at each of its URIs; returns those that the server must be asked for.
std::vector<std::string> Listens::join(const std::string& client_id, Listen& listen) {
  std::vector<std::string> ask;
  for (const std::string& uri : listen.uris) {
    const auto [entry, fresh] = subscriptions_.try_emplace(uri);
    if (fresh) {
      entry->second.asked = ids_.next();
      asked_.emplace(entry->second.asked, uri);
      ask.push_back(uri);
    }
    if (entry->second.asked) ++listen.outstanding;
    entry->second.listens.insert(client_id);
  }
  return ask;
}

bool Listens::answered(UpId id, Reply reply) {
  const auto found = asked_.find(id);
  if (found == asked_.end()) return false;
  const std::string uri = std::move(found->second);
  asked_.erase(found);
  const auto entry = subscriptions_.find(uri);
  entry->second.asked = {};
  const std::set<std::string, std::less<>> waiting = entry->second.listens;
  const bool undo = reply == Reply::Accepted && waiting.empty();
  if (reply == Reply::Refused || undo) subscriptions_.erase(entry);
  for (const std::string& client_id : waiting) settle(client_id, uri, reply);
  if (undo) tell_server("resources/unsubscribe", uri, ids_.next());
  return true;
}

void Listens::settle(const std::string& client_id, const std::string& uri, Reply reply) {
  const auto found = listens_.find(client_id);
  if (found == listens_.end()) return;
  Listen& listen = found->second;
  if (reply == Reply::Refused) std::erase(listen.uris, uri);
  if (--listen.outstanding == 0) acknowledge(client_id, listen);
}

void Listens::acknowledge(const std::string& client_id, Listen& listen) {
  if (std::exchange(listen.acknowledged, true)) return;
  std::string agreed;
  const auto append = [&](const std::string& member) {
    agreed.append(agreed.empty() ? "" : ",").append(member);
  };
  for (const auto& [key, list] : kLists) {
    if (listen.lists.contains(list)) append(wire::quoted(key) + ":true");
  }
  std::string uris;
  for (const std::string& uri : listen.uris) uris.append(uris.empty() ? "" : ",").append(wire::quoted(uri));
  if (!uris.empty()) append(R"("resourceSubscriptions":[)" + uris + "]");
  const std::string message = wire::notification_message(
      "notifications/subscriptions/acknowledged", R"({"_meta":{)" + wire::quoted(kSubscriptionId) + ":" +
                                                      client_id + R"(},"notifications":{)" + agreed + "}}");
  outlet_.to_client({message, nullptr});
}

void Listens::close(std::string_view client_id) {
  const auto found = listens_.find(client_id);
  if (found == listens_.end()) return;
  const std::string key = found->first;
  const std::vector<std::string> uris = std::move(found->second.uris);
  listens_.erase(found);
  for (const std::string& uri : uris) leave(key, uri);
}

void Listens::end_all() {
  const auto ended = std::exchange(listens_, {});
  // A subscription that the server has not accepted yet is undone when its answer arrives and finds no
  // listen.
  std::erase_if(subscriptions_, [](const auto& one) { return !one.second.asked; });
  for (auto& [uri, subscription] : subscriptions_) subscription.listens.clear();
  for (const auto& [client_id, listen] : ended) {
    const std::string result =
        R"({"resultType":"complete","_meta":{)" + wire::quoted(kSubscriptionId) + ":" + client_id + "}}";
    outlet_.to_client({wire::result_message(client_id, result), nullptr});
  }
}

void Listens::leave(const std::string& client_id, const std::string& uri) {
  const auto entry = subscriptions_.find(uri);
  if (entry == subscriptions_.end()) return;
  entry->second.listens.erase(client_id);
  // Until the server has accepted there is nothing to undo; its answer finds no listen and is undone then.
  if (!entry->second.listens.empty() || entry->second.asked) return;
  subscriptions_.erase(entry);
  tell_server("resources/unsubscribe", uri, ids_.next());
}

void Listens::tell_server(std::string_view method, std::string_view uri, UpId id) {
  outlet_.to_server(
      wire::Message(wire::request_message(to_string(id), method, R"({"uri":)" + wire::quoted(uri) + "}")));
}

/// A listen must not receive anything before it is acknowledged; a client that reads a list after that gets
/// the current one.
void Listens::list_changed(std::string_view list, const wire::Message& message) {
  for (const auto& [client_id, listen] : listens_) {
    if (listen.acknowledged && listen.lists.contains(list)) send(client_id, message);
  }
}

void Listens::updated(const wire::Message& message) {
  const std::string_view params = message.params();
  const std::optional<std::string> uri = wire::string_value(wire::member(params, "uri").in(params));
  if (!uri) return;
  for (const auto& [client_id, listen] : listens_) {
    const bool wanted = std::any_of(listen.uris.begin(), listen.uris.end(),
                                    [&](const std::string& subscribed) { return covers(subscribed, *uri); });
    if (listen.acknowledged && wanted) send(client_id, message);
  }
}

void Listens::send(const std::string& client_id, const wire::Message& message) {
  const std::string mark = wire::quoted(kSubscriptionId) + ":" + client_id;
  Edits edits;
  if (message.has_subscription_id()) {
    edits.replace(message.where().subscription_id, client_id);
  } else if (message.has_meta()) {
    edits.add_members(message.text(), message.where().meta, mark);
  } else if (message.has_params()) {
    edits.add_members(message.text(), message.where().params, R"("_meta":{)" + mark + "}");
  } else {
    const std::size_t brace = message.text().find('{');
    edits.add_members(message.text(), {brace, brace + 1}, R"("params":{"_meta":{)" + mark + "}}");
  }
  edits.send(outlet_, message.line());
}

}  // namespace corral::bridge
