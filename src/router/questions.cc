#include "router/questions.h"

#include <algorithm>
#include <utility>

#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::router {

Questions::Questions(const RouterOptions& options, const AttachedSessions& sessions, RouterCounters& counters,
                     Learner& learner, Server server)
    : options_(options),
      sessions_(sessions),
      counters_(counters),
      learner_(learner),
      server_(std::move(server)) {}

void Questions::asked(const wire::Message& request) {
  constexpr std::size_t kMostOpen = 1024;
  const std::string_view id = request.id();
  if (request.method() == "ping") return reply(wire::result_message(id, "{}"));
  SessionPort* const port = options_.shared ? nullptr : sessions_.only();
  if (port == nullptr || open_.size() >= kMostOpen) {
    ++counters_.refused_questions;
    reply(wire::error_message(id, wire::kMethodNotFound, "Method not found: no client can answer this"));
    if (options_.shared) learner_.on_question();
    return;
  }
  const Kind kind = kind_of(request.method());
  if (client_silent_) return answer_for_client(id, kind);
  const QuestionId number = port->memory().next_question();
  open_.emplace(number, Question{std::string(id), kind});
  port->deliver(request.line(), {{request.where().id, to_string(number)}});
}

void Questions::answered(SessionPort& port, const wire::Message& response) {
  const auto number = wire::own_id<QuestionId>(response.id());
  const auto found = number && !options_.shared ? open_.find(*number) : open_.end();
  if (found == open_.end()) {
    ++counters_.unknown_answers;
    port.note("the client answered a question that is not open; the answer was dropped");
    return;
  }
  const std::string id = std::move(found->second.id);
  open_.erase(found);
  server_.send(response.line(), {{response.where().id, id}});
}

bool Questions::withdrawn(const wire::Message& notification) {
  const std::string_view id = notification.request_id();
  const auto found = std::find_if(open_.begin(), open_.end(),
                                  [id](const auto& question) { return question.second.id == id; });
  if (found == open_.end()) return false;
  const std::string number = to_string(found->first);
  open_.erase(found);
  if (SessionPort* const port = sessions_.only()) {
    port->deliver(notification.line(), {{notification.where().request_id, number}});
  }
  return true;
}

void Questions::take_back() {
  for (const auto& [number, question] : std::exchange(open_, {})) {
    if (SessionPort* const port = sessions_.only()) {
      port->deliver({wire::cancelled_message(to_string(number), "the server has ended"), nullptr});
    }
  }
}

void Questions::client_silent(SessionPort& port) {
  if (options_.shared || sessions_.only() != &port) return;
  client_silent_ = true;
  for (const auto& [number, question] : std::exchange(open_, {}))
    answer_for_client(question.id, question.kind);
}

Questions::Kind Questions::kind_of(std::string_view method) {
  return method == "elicitation/create" ? Kind::Elicitation : Kind::Other;
}

/// A server that is only busy gets the reply later. One that asks again and again without reading gets no
/// more than it could read.
void Questions::reply(const std::string& message) {
  constexpr std::size_t kMostUnread = 1024;
  if (server_.congested() && ++unread_replies_ > kMostUnread) {
    ++counters_.dropped_replies;
    return;
  }
  server_.send({message, nullptr}, {});
}

void Questions::answer_for_client(std::string_view id, Kind kind) {
  ++counters_.refused_questions;
  if (kind == Kind::Elicitation) return reply(wire::result_message(id, R"({"action":"cancel"})"));
  reply(wire::error_message(id, wire::kInternalError, "the client has closed its output"));
}

}  // namespace corral::router
