#include "bridge/modern_client.h"

#include <utility>

#include "bridge/listens.h"
#include "bridge/modern_request.h"
#include "bridge/modern_side.h"
#include "bridge/suspended_calls.h"
#include "bridge/to_modern.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::bridge {
namespace {

constexpr std::size_t kLongestUriTold = 8192;   // a longer one is not repeated in errors
constexpr std::size_t kLongestProgress = 4096;  // a longer one is not kept for a retry

/// A line outlives the call that brought it only with an owner.
wire::Line kept(const wire::Line& line, std::string_view part) {
  if (line.owner) return {part, line.owner};
  auto copy = std::make_shared<const std::string>(part);
  return {*copy, copy};
}

class ModernClient final : public Bridge {
 public:
  ModernClient(Outlet& outlet, ModernClientOptions options);

  void from_client(const wire::Message& message, Clock::time_point now) override;
  void from_server(const wire::Message& message, Clock::time_point now) override;
  void instance_changed(std::string_view handshake) override { side_.server = read_server(handshake); }
  void client_ended() override;
  std::optional<Clock::time_point> next_deadline() const override { return calls_.next_due(); }
  void expire(Clock::time_point now) override;

 private:
  void request(const wire::Message& message, Clock::time_point now);
  void forward(const wire::Message& message, const ModernRequest& request);
  void cancelled(const wire::Message& message);
  void client_notification(const wire::Message& message);

  void answer(UpId id, const wire::Message& message, Clock::time_point now);
  void deliver(Call call, const wire::Message& message, Clock::time_point now);
  void deliver_error(Call call, const wire::Message& message, Clock::time_point now);
  void progress(const wire::Message& message);
  void log_line(const wire::Message& message);
  void server_notification(const wire::Message& message);

  ModernSide side_;
  OpenCalls& calls_ = side_.calls;
  Outlet& outlet_ = side_.outlet;
  SuspendedCalls suspended_;
  Listens listens_;
};

ModernClient::ModernClient(Outlet& outlet, ModernClientOptions options)
    : side_{outlet, std::move(options.server), read_server(options.initialize_result),
            OpenCalls(options.account), options.several_programs},
      suspended_(side_, options.suspension,
                 [this](Call call, const wire::Message& answer, Clock::time_point now) {
                   deliver(std::move(call), answer, now);
                 }),
      listens_(outlet, side_.ids) {}

void ModernClient::from_client(const wire::Message& message, Clock::time_point now) {
  side_.now = now;
  // A modern client receives no requests, so it has nothing to respond to.
  if (message.kind() == wire::Kind::Request) request(message, now);
  if (message.kind() == wire::Kind::Notification) client_notification(message);
}

void ModernClient::request(const wire::Message& message, Clock::time_point now) {
  const std::string_view id = message.id();
  if (calls_.by_client(id) || listens_.holds(id)) {
    return side_.refuse(message, wire::kInvalidRequest,
                        "a request with this id is open; each open request needs its own id");
  }
  const ModernRequest request = bridge::read_request(message);
  if (!request.fault.empty()) return side_.refuse(message, wire::kInvalidParams, request.fault);
  if (request.method == "subscriptions/listen") {
    if (const auto refused = listens_.open(id, request.params, side_.server)) side_.to_client(*refused);
    return;
  }
  if (request.method.starts_with("tasks/")) {
    return side_.refuse(message, wire::kMethodNotFound,
                        "server \"" + side_.name + "\" offers no tasks to clients of this revision");
  }
  const bool retries = !request.state.empty();
  if (retries && suspended_.retry(message, request, now) == SuspendedCalls::Retry::Done) return;
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
  const UpId id = side_.ids.next();
  calls_.add(id, std::move(call));
  side_.tell_level();  // before the request whose log lines are wanted
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
  calls_.gave_up(side_.now);
  Edits edits;
  edits.replace(message.where().request_id, to_string(*id));
  outlet_.to_server(wire::Message(edits.applied(message.text())));
  suspended_.cancelled(*call);
  side_.tell_level();
}

void ModernClient::client_ended() {
  suspended_.client_ended();
  listens_.end_all();
}

void ModernClient::expire(Clock::time_point now) {
  if (now != Clock::time_point::max()) side_.now = now;
  suspended_.expire(now);
}

// ---- from the server

void ModernClient::from_server(const wire::Message& message, Clock::time_point now) {
  side_.now = now;
  if (message.kind() == wire::Kind::Request) return suspended_.question(message, now);
  if (message.kind() == wire::Kind::Notification) return server_notification(message);
  if (message.kind() != wire::Kind::Response) return;
  const std::optional<UpId> id = wire::own_id<UpId>(message.id());
  const auto reply = message.has_result() ? Listens::Reply::Accepted : Listens::Reply::Refused;
  if (!id || listens_.answered(*id, reply)) return;
  answer(*id, message, now);
}

void ModernClient::answer(UpId id, const wire::Message& message, Clock::time_point now) {
  Call* call = calls_.find(id);
  if (call == nullptr || !call->in_progress()) return;  // cancelled in between, or the answer to a log level
  // The call of a question was guessed: while another call is open, that one may be waiting for the response.
  if (call->suspended()) {
    suspended_.keep(*call, message);
  } else {
    std::vector<Question> questions = calls_.take_questions(id);
    deliver(*calls_.take(id), message, now);
    suspended_.pass_on(std::move(questions), now);
  }
  suspended_.dismiss_orphans();
  side_.tell_level();
}

/// The call has been removed from calls_, and its client is waiting.
void ModernClient::deliver(Call call, const wire::Message& message, Clock::time_point now) {
  if (message.has_error()) return deliver_error(std::move(call), message, now);
  const std::string_view result = message.result();
  if (call.method == "tools/list") {
    if (const std::optional<std::string> shown = without_tasks(result)) {
      const std::string text = wire::result_message(call.client_id, *shown);
      const wire::Span place = wire::member(text, "result");
      Edits edits;
      complete_result(text, place, call.method, side_.server.info, edits);
      return edits.send(outlet_, {text, nullptr});
    }
  }
  Edits edits;
  edits.replace(message.where().id, call.client_id);
  if (complete_result(message.text(), message.where().result, call.method, side_.server.info, edits)) {
    return edits.send(outlet_, message.line());
  }
  side_.to_client(
      wire::error_message(call.client_id, wire::kInternalError,
                          "server \"" + side_.name + "\" answered with a result that is not an object"));
}

void ModernClient::deliver_error(Call call, const wire::Message& message, Clock::time_point now) {
  const std::string_view error = message.error();
  if (error_code(error) == kUrlElicitationRequired) return suspended_.wants_urls(std::move(call), error, now);
  Edits edits;
  edits.replace(message.where().id, call.client_id);
  modern_error(message.text(), message.where().error, call.uri, edits);
  edits.send(outlet_, message.line());
}

void ModernClient::server_notification(const wire::Message& message) {
  const std::string_view method = message.method();
  if (method == "notifications/progress") return progress(message);
  if (method == "notifications/message") return log_line(message);
  if (method == "notifications/resources/updated") return listens_.updated(message);
  if (method == "notifications/cancelled") {
    return calls_.forget_question(message.request_id());
  }
  for (const std::string_view list : {"tools", "prompts", "resources"}) {
    if (method == "notifications/" + std::string(list) + "/list_changed") {
      return listens_.list_changed(list, message);
    }
  }
  // A modern client receives only what it has requested: no finished elicitations, no tasks.
}

void ModernClient::progress(const wire::Message& message) {
  const std::optional<UpId> id = wire::own_id<UpId>(message.direct_token());
  Call* call = id ? calls_.find(*id) : nullptr;
  if (call == nullptr) return;
  if (call->suspended()) {
    if (message.text().size() <= kLongestProgress) call->progress = message.text();
    return;
  }
  side_.send_progress(*call, message);
}

/// A log line names no request, so it goes to any request of this client that wants such lines.
void ModernClient::log_line(const wire::Message& message) {
  const std::optional<wire::LogLevel> lowest = calls_.lowest_level();
  const std::string_view params = message.params();
  const std::optional<std::string> name = wire::string_value(wire::member(params, "level").in(params));
  const std::optional<wire::LogLevel> level = wire::parse_log_level(name.value_or(""));
  if (lowest && level && *level >= *lowest) outlet_.to_client(message.line());
}

}  // namespace

void ModernSide::refuse(const wire::Message& request, int code, std::string_view why) const {
  to_client(wire::error_message(request.id(), code, why));
}

void ModernSide::send_progress(const Call& call, const wire::Message& message) const {
  if (call.token.empty()) return;
  Edits edits;
  edits.replace(message.where().direct_token, call.token);
  edits.send(outlet, message.line());
}

/// The server has one level for all requests. When no request wants log lines any more, the level stays,
/// because the next request is likely to want the same.
void ModernSide::tell_level() {
  const std::optional<wire::LogLevel> lowest = calls.lowest_level();
  if (!lowest || lowest == told_level || !server.logging) return;
  told_level = lowest;
  outlet.to_server(wire::Message(wire::request_message(
      to_string(ids.next()), "logging/setLevel", R"({"level":)" + wire::quoted(name_of(*lowest)) + "}")));
}

std::unique_ptr<Bridge> modern_client(Outlet& outlet, ModernClientOptions options) {
  return std::make_unique<ModernClient>(outlet, std::move(options));
}

}  // namespace corral::bridge
