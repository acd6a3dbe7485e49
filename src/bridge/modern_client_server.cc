#include <utility>

#include "bridge/modern_client_impl.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::bridge {
namespace {

constexpr std::size_t kLongestProgress = 4096;  // a longer one is not kept for a retry

}  // namespace

void ModernClient::from_server(const wire::Line& line, const wire::Envelope& envelope,
                               Clock::time_point now) {
  now_ = now;
  if (envelope.kind == wire::Kind::Request) return question(line, envelope, now);
  if (envelope.kind == wire::Kind::Notification) return server_notification(line, envelope);
  if (envelope.kind != wire::Kind::Response) return;
  const std::optional<UpId> id = wire::own_id<UpId>(envelope.id.in(line.text));
  if (!id || listens_.answered(*id, envelope.result.present())) return;
  answer(*id, line, envelope, now);
}

void ModernClient::answer(UpId id, const wire::Line& line, const wire::Envelope& envelope,
                          Clock::time_point now) {
  Call* call = calls_.find(id);
  if (call == nullptr || !call->in_progress()) return;  // cancelled meanwhile, or the word on a log level
  // Which call a question belongs to was guessed: while another is open, that one may wait for the response.
  if (call->suspended()) {
    keep(*call, line, envelope);
  } else {
    std::vector<Question> questions = calls_.take_questions(id);
    deliver(*calls_.take(id), line, envelope, now);
    pass_on(std::move(questions), now);
  }
  dismiss_orphans();
  tell_level();
}

/// The call is none of calls_ any more, its client waits.
void ModernClient::deliver(Call call, const wire::Line& line, const wire::Envelope& envelope,
                           Clock::time_point now) {
  if (envelope.error.present()) return deliver_error(std::move(call), line, envelope, now);
  const std::string_view result = envelope.result.in(line.text);
  if (call.method == "tools/list") {
    if (const std::optional<std::string> shown = without_tasks(result)) {
      const std::string message = wire::result_message(call.client_id, *shown);
      const wire::Span place = wire::member(message, "result");
      Edits edits;
      complete_result(message, place, call.method, server_.info, edits);
      return edits.send(outlet_, {message, nullptr});
    }
  }
  Edits edits;
  edits.replace(envelope.id, call.client_id);
  if (complete_result(line.text, envelope.result, call.method, server_.info, edits)) {
    return edits.send(outlet_, line);
  }
  to_client(wire::error_message(call.client_id, wire::kInternalError,
                                "server \"" + name_ + "\" answered with a result that is no object"));
}

void ModernClient::deliver_error(Call call, const wire::Line& line, const wire::Envelope& envelope,
                                 Clock::time_point now) {
  const std::string_view error = envelope.error.in(line.text);
  if (error_code(error) == kUrlElicitationRequired) return wants_urls(std::move(call), error, now);
  Edits edits;
  edits.replace(envelope.id, call.client_id);
  modern_error(line.text, envelope.error, call.uri, edits);
  edits.send(outlet_, line);
}

void ModernClient::server_notification(const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view method = wire::method_name(envelope, line.text);
  if (method == "notifications/progress") return progress(line, envelope);
  if (method == "notifications/message") return log_line(line, envelope);
  if (method == "notifications/resources/updated") return listens_.updated(line, envelope);
  if (method == "notifications/cancelled") {
    return calls_.forget_question(envelope.request_id.in(line.text));
  }
  for (const std::string_view list : {"tools", "prompts", "resources"}) {
    if (method == "notifications/" + std::string(list) + "/list_changed") {
      return listens_.list_changed(list, line, envelope);
    }
  }
  // A modern client hears nothing that it has not asked for: not of a finished elicitation, not of a task.
}

void ModernClient::progress(const wire::Line& line, const wire::Envelope& envelope) {
  const std::optional<UpId> id = wire::own_id<UpId>(envelope.direct_token.in(line.text));
  Call* call = id ? calls_.find(*id) : nullptr;
  if (call == nullptr) return;
  if (call->suspended()) {
    if (line.text.size() <= kLongestProgress) call->progress = line.text;
    return;
  }
  if (call->token.empty()) return;
  Edits edits;
  edits.replace(envelope.direct_token, call->token);
  edits.send(outlet_, line);
}

/// It names no request: it is for any of this client's that wants lines like it.
void ModernClient::log_line(const wire::Line& line, const wire::Envelope& envelope) {
  const std::optional<wire::LogLevel> lowest = calls_.lowest_level();
  const std::string_view params = envelope.params.in(line.text);
  const std::optional<std::string> name = wire::string_value(wire::member(params, "level").in(params));
  const std::optional<wire::LogLevel> level = wire::parse_log_level(name.value_or(""));
  if (lowest && level && *level >= *lowest) outlet_.to_client(line);
}

}  // namespace corral::bridge
