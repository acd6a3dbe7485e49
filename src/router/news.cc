#include "router/news.h"

#include <string>

#include "wire/json_text.h"

namespace corral::router {

void News::pass_on(const wire::Message& notification) {
  const std::string_view method = notification.method();
  if (method == "notifications/progress") return progress(notification);
  if (method == "notifications/cancelled") return cancelled(notification);
  if (notification.has_subscription_id()) return listened(notification);
  if (method == "notifications/message") return log_message(notification);
  if (!parts_.options.shared) {
    if (SessionPort* const port = parts_.sessions.only()) return deliver(*port, notification);
  }
  if (changed_list_of(method))
    return deliver_to_all({initialized_.begin(), initialized_.end()}, notification);
  if (method == "notifications/resources/updated" && resource_updated(notification)) return;
  drop();
}

void News::progress(const wire::Message& notification) {
  const auto id = wire::own_id<CallId>(notification.direct_token());
  Call* const call = id ? parts_.calls.find(*id) : nullptr;
  SessionPort* const port = call != nullptr ? parts_.sessions.find(call->session) : nullptr;
  if (port == nullptr || call->token.empty()) return drop();
  if (call->patience.count() > 0) call->deadline = Clock::now() + call->patience;
  deliver(*port, notification, {{notification.where().direct_token, call->token}});
}

/// Legacy: the server takes a question back. Modern: it ends a listen.
void News::cancelled(const wire::Message& notification) {
  if (parts_.questions.withdrawn(notification)) return;
  const auto id = wire::own_id<CallId>(notification.request_id());
  const Call* const call = id ? parts_.calls.find(*id) : nullptr;
  if (call != nullptr && call->purpose == Purpose::ListenForAll) {
    parts_.listen.ended();
    parts_.calls.cancel(*id, Clock::now());
    return;
  }
  if (call == nullptr || call->purpose != Purpose::Listen) return drop();
  if (SessionPort* const port = parts_.sessions.find(call->session)) {
    port->deliver(notification.line(), {{notification.where().request_id, call->id}});
  }
  parts_.calls.cancel(*id, Clock::now());
}

/// Modern: every notification of a listen has the id of the request that opened it.
void News::listened(const wire::Message& notification) {
  const auto id = wire::own_id<CallId>(notification.subscription_id());
  if (id && parts_.listen.is(*id)) return parts_.listen.received(notification);
  Call* const call = id ? parts_.calls.find(*id) : nullptr;
  SessionPort* const port = call != nullptr ? parts_.sessions.find(call->session) : nullptr;
  if (port == nullptr || call->purpose != Purpose::Listen) return drop();
  const wire::Edit edit{notification.where().subscription_id, call->id};
  // A client waits for the acknowledgement as for an answer, so a slow client gets it, too.
  if (notification.method() == "notifications/subscriptions/acknowledged") {
    call->acknowledged = true;
    return port->deliver(notification.line(), {edit});
  }
  deliver(*port, notification, {edit});
}

void News::log_message(const wire::Message& notification) {
  const bool modern = parts_.admission.modern();
  SessionPort* const port = parts_.audience.only_cause(modern ? Causes::CallsThatWantLogs : Causes::AnyCall);
  const std::string_view params = notification.params();
  const auto level =
      parse_log_level(wire::string_value(wire::member(params, "level").in(params)).value_or(""));
  const bool wanted =
      port != nullptr && (!parts_.options.shared || !level || parts_.standing.wants_log(port->id(), *level));
  if (!wanted) {
    ++parts_.counters.dropped_log_lines;
    return;
  }
  deliver(*port, notification);
}

/// False if no session is subscribed to the resource.
bool News::resource_updated(const wire::Message& notification) {
  const std::string_view params = notification.params();
  const auto uri = wire::string_value(wire::member(params, "uri").in(params));
  const auto subscribers = uri ? parts_.standing.subscribers(*uri) : std::vector<SessionId>();
  deliver_to_all(subscribers, notification);
  return !subscribers.empty();
}

void News::deliver_to_all(const std::vector<SessionId>& sessions, const wire::Message& notification) {
  for (const SessionId session : sessions) {
    if (SessionPort* const port = parts_.sessions.find(session)) deliver(*port, notification);
  }
}

/// A client that does not read may lose notifications of a shared server, but never an answer. That a list
/// has changed is kept for later, once: it is all that a client needs to catch up. A private server is not
/// read while its client does not read, so none of its notifications is lost.
void News::deliver(SessionPort& port, const wire::Message& notification,
                   std::initializer_list<wire::Edit> edits) {
  if (!parts_.options.shared || !port.congested()) return port.deliver(notification.line(), edits);
  if (const auto changed = changed_list_of(notification.method())) {
    owed_[port.id()].insert(*changed);
  } else {
    drop();
  }
}

void News::tell_listens(SessionPort& port, ChangedList list) const {
  for (const CallId id : parts_.calls.of(port.id())) {
    const Call* const call = parts_.calls.find(id);
    if (call == nullptr || call->purpose != Purpose::Listen) continue;
    const std::string& filter = call->listens_to;
    if (wire::member(filter, std::string(name_of(list)) + "ListChanged").in(filter) != "true") continue;
    const std::string params = R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + call->id + "}}";
    port.deliver({wire::notification_message(method_of(list), params), nullptr});
  }
}

void News::client_reads(SessionPort& port) {
  const auto owed = owed_.extract(port.id());
  if (owed.empty()) return;
  for (const ChangedList list : owed.mapped()) {
    port.deliver({wire::notification_message(method_of(list)), nullptr});
  }
}

void News::left(SessionId session) {
  initialized_.erase(session);
  owed_.erase(session);
}

}  // namespace corral::router
