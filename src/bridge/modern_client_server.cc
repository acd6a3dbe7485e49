#include <utility>

#include "bridge/modern_client_impl.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::bridge {
namespace {

constexpr std::size_t kLongestProgress = 4096;  // a longer one is not kept for a retry

}  // namespace

void ModernClient::from_server(const wire::Message& message, Clock::time_point now) {
  now_ = now;
  if (message.kind() == wire::Kind::Request) return question(message, now);
  if (message.kind() == wire::Kind::Notification) return server_notification(message);
  if (message.kind() != wire::Kind::Response) return;
  const std::optional<UpId> id = wire::own_id<UpId>(message.id());
  if (!id || listens_.answered(*id, message.has_result())) return;
  answer(*id, message, now);
}

void ModernClient::answer(UpId id, const wire::Message& message, Clock::time_point now) {
  Call* call = calls_.find(id);
  if (call == nullptr || !call->in_progress()) return;  // cancelled in between, or the answer to a log level
  // The call of a question was guessed: while another call is open, that one may be waiting for the response.
  if (call->suspended()) {
    keep(*call, message);
  } else {
    std::vector<Question> questions = calls_.take_questions(id);
    deliver(*calls_.take(id), message, now);
    pass_on(std::move(questions), now);
  }
  dismiss_orphans();
  tell_level();
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
      complete_result(text, place, call.method, server_.info, edits);
      return edits.send(outlet_, {text, nullptr});
    }
  }
  Edits edits;
  edits.replace(message.where().id, call.client_id);
  if (complete_result(message.text(), message.where().result, call.method, server_.info, edits)) {
    return edits.send(outlet_, message.line());
  }
  to_client(wire::error_message(call.client_id, wire::kInternalError,
                                "server \"" + name_ + "\" answered with a result that is not an object"));
}

void ModernClient::deliver_error(Call call, const wire::Message& message, Clock::time_point now) {
  const std::string_view error = message.error();
  if (error_code(error) == kUrlElicitationRequired) return wants_urls(std::move(call), error, now);
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
  if (call->token.empty()) return;
  Edits edits;
  edits.replace(message.where().direct_token, call->token);
  edits.send(outlet_, message.line());
}

/// A log line names no request, so it goes to any request of this client that wants such lines.
void ModernClient::log_line(const wire::Message& message) {
  const std::optional<wire::LogLevel> lowest = calls_.lowest_level();
  const std::string_view params = message.params();
  const std::optional<std::string> name = wire::string_value(wire::member(params, "level").in(params));
  const std::optional<wire::LogLevel> level = wire::parse_log_level(name.value_or(""));
  if (lowest && level && *level >= *lowest) outlet_.to_client(message.line());
}

}  // namespace corral::bridge
