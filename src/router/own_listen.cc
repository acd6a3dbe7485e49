#include "router/own_listen.h"

#include <string>
#include <utility>

#include "instance/handshake.h"
#include "wire/json_text.h"

namespace corral::router {
namespace {

/// The filter of a listen for the lists whose changes the server reports, without braces; may be empty.
std::string filter_for(std::string_view handshake_result) {
  const std::string_view capabilities = wire::member(handshake_result, "capabilities").in(handshake_result);
  std::string filter;
  for (const std::string_view list : kChangedListNames) {
    const std::string_view capability = wire::member(capabilities, list).in(capabilities);
    if (wire::member(capability, "listChanged").in(capability) != "true") continue;
    filter.append(filter.empty() ? "\"" : ",\"").append(list).append(R"(ListChanged":true)");
  }
  return filter;
}

}  // namespace

OwnListen::OwnListen(const AttachedSessions& sessions, Ask ask) : sessions_(sessions), ask_(std::move(ask)) {}

void OwnListen::open(std::string_view handshake_result) {
  if (id_) return;
  const std::string filter = filter_for(handshake_result);
  if (filter.empty()) return;
  const std::string params = instance::discover_params();  // {"_meta":{…}}
  id_ = ask_("subscriptions/listen",
             params.substr(0, params.size() - 1) + R"(,"notifications":{)" + filter + "}}",
             {.purpose = Purpose::ListenForAll});
}

void OwnListen::received(const wire::Message& message) const {
  const auto changed = changed_list_of(message.method());
  if (!changed) return;  // the acknowledgement, or a list that no legacy client knows
  sessions_.each([&](SessionPort& port) {
    if (port.era() == knowledge::Era::Legacy) port.list_changed(*changed);
  });
}

}  // namespace corral::router
