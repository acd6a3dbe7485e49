// From the sessions to the server.
#include <array>
#include <charconv>

#include "router/router.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::router {
namespace {

/// An id of ours as text, without a heap.
class Digits {
 public:
  explicit Digits(std::uint64_t number) {
    end_ = std::to_chars(text_.data(), text_.data() + text_.size(), number).ptr;
  }
  std::string_view text() const { return {text_.data(), static_cast<std::size_t>(end_ - text_.data())}; }

 private:
  std::array<char, 20> text_{};
  char* end_ = nullptr;
};

std::string_view params_of(const wire::Line& line, const wire::Envelope& envelope) {
  return envelope.params.in(line.text);
}

constexpr std::size_t kMostCalls = 4096;

void refuse_more(SessionPort& port, std::string_view id) {
  port.deliver({wire::error_message(id, wire::kTooManyCalls,
                                    "this session has 4096 calls in flight; wait for some of their answers"),
                nullptr});
}

std::string text_member(std::string_view object, std::string_view key) {
  const std::string_view value = wire::member(object, key).in(object);
  return wire::string_value(value).value_or("");
}

}  // namespace

void Router::request(SessionPort& port, const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view method = wire::method_name(envelope, line.text);
  if (lost_) {
    port.deliver({wire::error_message(envelope.id.in(line.text), wire::kServerLost,
                                      "server " + options_.server + " has ended"),
                  nullptr});
    return;
  }
  if (calls_.find(&port, envelope.id.in(line.text))) {
    port.deliver({wire::error_message(envelope.id.in(line.text), wire::kInvalidRequest,
                                      "Invalid Request: this id is already in use by a call in flight"),
                  nullptr});
    return;
  }
  if (method == "tools/call" && refuse_tool(port, line, envelope)) return;
  if (method == "tools/list") {
    const bool further = wire::member(params_of(line, envelope), "cursor").present();
    return forward(port, line, envelope, further ? Purpose::ListMoreTools : Purpose::ListTools);
  }
  if (method == "subscriptions/listen") return forward(port, line, envelope, Purpose::Listen);
  if (options_.shared && !modern()) {
    if (method == "resources/subscribe") return subscribe(port, line, envelope);
    if (method == "resources/unsubscribe") return unsubscribe(port, line, envelope);
    if (method == "logging/setLevel") return set_level(port, line, envelope);
    if (method.starts_with("tasks/")) {
      port.deliver({wire::error_message(envelope.id.in(line.text), wire::kMethodNotFound,
                                        "Method not found: a shared server offers no tasks"),
                    nullptr});
      return;
    }
  }
  forward(port, line, envelope, Purpose::Forward);
}

void Router::forward(SessionPort& port, const wire::Line& line, const wire::Envelope& envelope,
                     Purpose purpose) {
  if (calls_.count(&port) >= kMostCalls) return refuse_more(port, envelope.id.in(line.text));
  ++counters_.calls;
  const std::uint64_t up_id = instance_->next_id();
  Call call{.port = &port,
            .id = std::string(envelope.id.in(line.text)),
            .token = std::string(envelope.progress_token.in(line.text)),
            .purpose = purpose,
            .wants_log = envelope.log_level.present()};
  const std::string_view method = wire::method_name(envelope, line.text);
  call.unsubscribes = method == "resources/unsubscribe";
  if (call.unsubscribes || method == "resources/subscribe") {
    call.uri = text_member(params_of(line, envelope), "uri");
  }
  if (purpose == Purpose::Listen) {
    const std::string_view params = params_of(line, envelope);
    call.listens_to = wire::member(params, "notifications").in(params);
  }
  call.list = list_kind_of(method);
  if (call.list && wire::member(params_of(line, envelope), "cursor").present()) call.list.reset();
  last_used_ = loop_.now();
  if (purpose != Purpose::Listen) {  // which stays open for as long as its client likes
    call.patience = options_.call_timeout;
    call.deadline = last_used_ + call.patience;
  }
  calls_.add(up_id, std::move(call));
  const Digits digits(up_id);
  const wire::Edit id{envelope.id, digits.text()};
  const wire::Edit token{envelope.progress_token, digits.text()};
  const bool id_first = !token.where.present() || id.where.begin < token.where.begin;
  if (id_first) {
    instance_->send(line, {id, token});
  } else {
    instance_->send(line, {token, id});
  }
  watch_deadlines();
}

/// A request of our own.
std::uint64_t Router::ask(std::string_view method, std::string_view params, Call call) {
  const std::uint64_t up_id = instance_->next_id();
  constexpr std::chrono::seconds kConfirmPatience{10};  // sessions wait for it
  call.patience = call.purpose == Purpose::ConfirmTools ? kConfirmPatience : options_.call_timeout;
  const bool unlimited = call.purpose == Purpose::Probe || call.purpose == Purpose::ListenForAll;
  if (!unlimited) call.deadline = Clock::now() + call.patience;
  calls_.add(up_id, std::move(call));
  instance_->send(R"({"jsonrpc":"2.0","id":)" + std::to_string(up_id) + R"(,"method":")" +
                  std::string(method) + R"(","params":)" + std::string(params) + "}");
  watch_deadlines();
  return up_id;
}

bool Router::refuse_tool(SessionPort& port, const wire::Line& line, const wire::Envelope& envelope) {
  if (!options_.allows_tool) return false;
  const std::string tool = text_member(params_of(line, envelope), "name");
  if (options_.allows_tool(tool)) return false;
  port.deliver({wire::error_message(envelope.id.in(line.text), wire::kToolNotAllowed,
                                    "tool " + tool + " is not in the \"tools\" list of server " +
                                        options_.server + " in corral's configuration"),
                nullptr});
  return true;
}

void Router::notification(SessionPort& port, const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view method = wire::method_name(envelope, line.text);
  if (method == "notifications/cancelled") return cancelled_by_client(port, line, envelope);
  if (method == "notifications/initialized") {
    ready_.insert(&port);
    if (options_.shared) return;  // we told it ourselves
  }
  // What else a client may tell is about its own roots, tasks and questions: of no meaning to a shared
  // server.
  if (!options_.shared) instance_->send(line);
}

void Router::cancelled_by_client(SessionPort& port, const wire::Line& line, const wire::Envelope& envelope) {
  const auto up_id = calls_.find(&port, envelope.request_id.in(line.text));
  if (!up_id) return;  // answered already, or never asked
  const std::optional<Call> call = calls_.cancel(*up_id, Clock::now());
  instance_->send(line, {{envelope.request_id, Digits(*up_id).text()}});
  call_finished();
}

void Router::cancel_up(std::uint64_t up_id, std::string_view reason) {
  if (lost_) return;
  instance_->send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                  std::to_string(up_id) + R"(,"reason":)" + wire::quoted(reason) + "}}");
}

/// The client's answer to a question of its server.
void Router::response(SessionPort& port, const wire::Line& line, const wire::Envelope& envelope) {
  const auto down_id = wire::own_number(envelope.id.in(line.text));
  const auto question = down_id && !options_.shared ? questions_.take(*down_id) : std::nullopt;
  if (!question) {
    ++counters_.unknown_answers;
    port.note("the client answered a question that nobody asked; the answer was dropped");
    return;
  }
  instance_->send(line, {{envelope.id, question->id}});
}

// ---- what a shared server is told once for all

void Router::subscribe(SessionPort& port, const wire::Line& line, const wire::Envelope& envelope) {
  const std::string id(envelope.id.in(line.text));
  const std::string uri = text_member(params_of(line, envelope), "uri");
  if (subscriptions_.waiting(&port) >= kMostCalls) return refuse_more(port, id);
  switch (subscriptions_.subscribe(&port, uri, id)) {
    case Subscriptions::Next::AskServer:
      ask("resources/subscribe", R"({"uri":)" + wire::quoted(uri) + "}",
          {.purpose = Purpose::Subscribe, .uri = uri});
      return;
    case Subscriptions::Next::Wait: return;
    case Subscriptions::Next::Answer:
      port.subscription(uri, true);
      port.deliver({wire::result_message(id, "{}"), nullptr});
  }
}

void Router::unsubscribe(SessionPort& port, const wire::Line& line, const wire::Envelope& envelope) {
  const std::string uri = text_member(params_of(line, envelope), "uri");
  if (subscriptions_.unsubscribe(&port, uri)) {
    ask("resources/unsubscribe", R"({"uri":)" + wire::quoted(uri) + "}", {.purpose = Purpose::Unsubscribe});
  }
  port.deliver({wire::result_message(envelope.id.in(line.text), "{}"), nullptr});
}

void Router::set_level(SessionPort& port, const wire::Line& line, const wire::Envelope& envelope) {
  const std::string_view id = envelope.id.in(line.text);
  const std::string& opened = instance_->handshake().result();
  const std::string_view capabilities = wire::member(opened, "capabilities").in(opened);
  if (!wire::member(capabilities, "logging").present()) {
    port.deliver({wire::error_message(id, wire::kMethodNotFound, "Method not found: the server does not log"),
                  nullptr});
    return;
  }
  const auto level = parse_log_level(text_member(params_of(line, envelope), "level"));
  if (!level) {
    port.deliver({wire::error_message(id, wire::kInvalidParams,
                                      "Invalid params: level must be debug, info, notice, warning, error, "
                                      "critical, alert or emergency"),
                  nullptr});
    return;
  }
  if (const auto told = levels_.set(&port, *level)) tell_level(*told);
  port.deliver({wire::result_message(id, "{}"), nullptr});
}

void Router::tell_level(LogLevel level) {
  ask("logging/setLevel", R"({"level":")" + std::string(name_of(level)) + "\"}",
      {.purpose = Purpose::SetLevel});
}

}  // namespace corral::router
