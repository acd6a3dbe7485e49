#include "bridge/modern_client.h"

#include <utility>

#include "bridge/modern_client_impl.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::bridge {
namespace {

constexpr std::size_t kLongestUriTold = 8192;  // a longer one is not repeated in errors

/// A line outlives the call that brought it only with an owner.
wire::Line kept(const wire::Line& line, std::string_view part) {
  if (line.owner) return {part, line.owner};
  auto copy = std::make_shared<const std::string>(part);
  return {*copy, copy};
}

}  // namespace

std::unique_ptr<Bridge> modern_client(Outlet& outlet, ModernClientOptions options) {
  return std::make_unique<ModernClient>(outlet, std::move(options));
}

ModernClient::ModernClient(Outlet& outlet, ModernClientOptions options)
    : outlet_(outlet),
      name_(std::move(options.server)),
      suspension_(options.suspension),
      server_(read_server(options.initialize_result)),
      calls_(options.account),
      listens_(outlet, ids_) {}

void ModernClient::from_client(const wire::Message& message, Clock::time_point now) {
  now_ = now;
  // A modern client receives no requests, so it has nothing to respond to.
  if (message.kind() == wire::Kind::Request) request(message, now);
  if (message.kind() == wire::Kind::Notification) client_notification(message);
}

void ModernClient::request(const wire::Message& message, Clock::time_point now) {
  const std::string_view id = message.id();
  if (calls_.by_client(id) || listens_.holds(id)) {
    return refuse_request(message, wire::kInvalidRequest,
                          "a request with this id is open; each open request needs its own id");
  }
  const ModernRequest request = read_request(message);
  if (!request.fault.empty()) return refuse_request(message, wire::kInvalidParams, request.fault);
  if (request.method == "subscriptions/listen") {
    if (const auto refused = listens_.open(id, request.params, server_)) to_client(*refused);
    return;
  }
  if (request.method.starts_with("tasks/")) {
    return refuse_request(message, wire::kMethodNotFound,
                          "server \"" + name_ + "\" offers no tasks to clients of this revision");
  }
  if (!request.state.empty()) return retry(message, request, now);
  forward(message, request);
}

void ModernClient::forward(const wire::Message& message, const ModernRequest& request) {
  Call call;
  call.client_id = message.id();
  call.method = request.method;
  call.token = message.progress_token();
  call.abilities = request.abilities;
  call.level = request.level;
  if (request.method == "resources/read") {
    const std::string_view uri = wire::member(request.params, "uri").in(request.params);
    if (uri.size() <= kLongestUriTold) call.uri = uri;
  }
  if (can_be_suspended(request.method) && request.abilities.any()) {
    const wire::Line params = kept(message.line(), request.params);
    if (calls_.reserve(held_by(params))) {
      call.params = params;
    } else {
      call.abilities = {};  // no retry could be compared with it, so its client cannot be asked for input
    }
  }
  const UpId id = ids_.next();
  calls_.add(id, std::move(call));
  tell_level();  // before the request whose log lines are wanted
  outlet_.to_server(wire::Message(legacy_request(message, id)));
}

void ModernClient::client_notification(const wire::Message& message) {
  const std::string_view method = message.method();
  if (method == "notifications/cancelled") return cancelled(message);
  // Modern clients send no other notification of the specification; how a legacy server would react to one is
  // not tested here.
  if (!method.starts_with("notifications/")) outlet_.to_server(message);
}

void ModernClient::cancelled(const wire::Message& message) {
  const std::string_view client_id = message.request_id();
  if (listens_.holds(client_id)) return listens_.close(client_id);
  const std::optional<UpId> id = calls_.by_client(client_id);
  if (!id) return;
  const std::optional<Call> call = calls_.take(*id);
  calls_.gave_up(now_);
  Edits edits;
  edits.replace(message.where().request_id, to_string(*id));
  outlet_.to_server(wire::Message(edits.applied(message.text())));
  dismiss(call->questions);
  dismiss_orphans();
  tell_level();
}

void ModernClient::refuse_request(const wire::Message& request, int code, std::string_view why) {
  to_client(wire::error_message(request.id(), code, why));
}

/// The server has one level for all requests. When no request wants log lines any more, the level stays,
/// because the next request is likely to want the same.
void ModernClient::tell_level() {
  const std::optional<wire::LogLevel> lowest = calls_.lowest_level();
  if (!lowest || lowest == told_level_ || !server_.logging) return;
  told_level_ = lowest;
  outlet_.to_server(wire::Message(wire::request_message(
      to_string(ids_.next()), "logging/setLevel", R"({"level":)" + wire::quoted(name_of(*lowest)) + "}")));
}

void ModernClient::instance_changed(std::string_view handshake) { server_ = read_server(handshake); }

void ModernClient::client_ended() {
  ended_ = true;
  const std::set<UpId> waiting = calls_.waiting();
  for (const UpId id : waiting) {
    const Call* call = calls_.find(id);
    if (call == nullptr) continue;
    if (call->suspended()) {
      give_up(id, "the client has gone");
    } else {
      dismiss(calls_.take_questions(id));
    }
  }
  listens_.end_all();
}

void ModernClient::expire(Clock::time_point now) {
  if (now != Clock::time_point::max()) now_ = now;
  for (const UpId id : calls_.due(now)) {
    const Call* call = calls_.find(id);
    if (call == nullptr || call->due > now) continue;
    if (call->suspended()) {
      give_up(id, "the client did not answer in time");
    } else if (!call->questions.empty()) {
      tell(id, now);
    }
  }
}

}  // namespace corral::bridge
