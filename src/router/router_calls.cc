// From the sessions to the server.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "router/router.h"
#include "router/tool_list.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::router {
namespace {

/// An id of ours as text, without a heap.
class Digits {
 public:
  explicit Digits(CallId id) {
    end_ = std::to_chars(text_.data(), text_.data() + text_.size(), id.value()).ptr;
  }
  std::string_view text() const { return {text_.data(), static_cast<std::size_t>(end_ - text_.data())}; }

 private:
  std::array<char, 20> text_{};
  char* end_ = nullptr;
};

constexpr std::size_t kMostCalls = 4096;

void refuse_more(SessionPort& port, std::string_view id) {
  port.deliver({wire::error_message(id, wire::kTooManyCalls,
                                    "this session has 4096 calls in flight; wait for some of their answers"),
                nullptr});
}

/// As it is written. Nothing unless there is exactly one that every parser takes for the name.
std::string_view called_tool(std::string_view params) {
  std::size_t names = 0;
  wire::Span name;
  wire::each_member(params, [&](std::string_view key, wire::Member member) {
    // A server that is written in C sees no further than a NUL.
    if (!wire::same_but_for_case(key.substr(0, key.find('\0')), "name")) return;
    ++names;
    if (key == "name") name = member.value;
  });
  return names == 1 ? name.in(params) : std::string_view();
}

/// What it costs to keep the call is its principal's; an objection if that has no more.
/// The few bytes of an ordinary call are bounded by the number of calls.
std::string charge(Account* account, Call& call) {
  constexpr std::size_t kFew = 256;
  if (account == nullptr) return {};
  auto request = account->take(Good::Requests);
  if (!request) return account->objection(Good::Requests);
  call.request = std::move(*request);
  // So much of a URI is its session's to keep when the server has agreed.
  const std::size_t uri = call.uri.empty() ? 0 : Subscriptions::kept_for(call.uri);
  const std::size_t kept = 2 * call.id.size() + call.token.size() + uri + call.listens_to.size();
  if (kept <= kFew && call.uri.empty()) return {};
  auto bytes = account->take(Good::Bytes, kept);
  if (!bytes) return account->objection(Good::Bytes, kept);
  call.bytes = std::move(*bytes);
  return {};
}

std::string text_member(std::string_view object, std::string_view key) {
  const std::string_view value = wire::member(object, key).in(object);
  return wire::string_value(value).value_or("");
}

}  // namespace

void Router::from_client(SessionPort& port, const wire::Message& message) {
  switch (message.kind()) {
    case wire::Kind::Request: return request(port, message);
    case wire::Kind::Notification: return notification(port, message);
    case wire::Kind::Response: return response(port, message);
    case wire::Kind::Batch:
    case wire::Kind::NotRpc:
    case wire::Kind::NotJson: return;
  }
}

void Router::request(SessionPort& port, const wire::Message& message) {
  const std::string_view method = message.method();
  if (lost_) {
    port.deliver(
        {wire::error_message(message.id(), wire::kServerLost, "server " + options_.server + " has ended"),
         nullptr});
    return;
  }
  has_asked(port);
  if (calls_.find(port.id(), message.id())) {
    port.deliver({wire::error_message(message.id(), wire::kInvalidRequest,
                                      "Invalid Request: this id is already in use by a call in flight"),
                  nullptr});
    return;
  }
  if (misleads(message)) {
    port.deliver({wire::error_message(message.id(), wire::kInvalidRequest,
                                      "Invalid Request: a message to server " + options_.server +
                                          " may have no key that differs from \"id\", \"method\", "
                                          "\"params\", \"_meta\" or \"progressToken\" only in upper and "
                                          "lower case; leave it out"),
                  nullptr});
    return;
  }
  if (method == "tools/call" && refuse_tool(port, message)) return;
  if (method == "tools/list") {
    const bool further = wire::member(message.params(), "cursor").present();
    return forward(port, message, further ? Purpose::ListMoreTools : Purpose::ListTools);
  }
  if (method == "subscriptions/listen") return forward(port, message, Purpose::Listen);
  if (options_.shared && !modern()) {
    if (method == "resources/subscribe") return subscribe(port, message);
    if (method == "resources/unsubscribe") return unsubscribe(port, message);
    if (method == "logging/setLevel") return set_level(port, message);
    if (method.starts_with("tasks/")) {
      port.deliver({wire::error_message(message.id(), wire::kMethodNotFound,
                                        "Method not found: a shared server offers no tasks"),
                    nullptr});
      return;
    }
  }
  forward(port, message, Purpose::Forward);
}

void Router::forward(SessionPort& port, const wire::Message& message, Purpose purpose) {
  if (calls_.count(port.id()) >= kMostCalls) return refuse_more(port, message.id());
  Call call{.session = port.id(),
            .id = std::string(message.id()),
            .token = std::string(message.progress_token()),
            .purpose = purpose,
            .wants_log = message.has_log_level()};
  const std::string_view method = message.method();
  call.unsubscribes = method == "resources/unsubscribe";
  if (call.unsubscribes || method == "resources/subscribe") {
    call.uri = text_member(message.params(), "uri");
  }
  if (purpose == Purpose::Listen) {
    const std::string_view params = message.params();
    call.listens_to = wire::member(params, "notifications").in(params);
  }
  call.list = list_kind_of(method);
  if (call.list && wire::member(message.params(), "cursor").present()) call.list.reset();
  if (const std::string objection = charge(port.account(), call); !objection.empty()) {
    port.deliver({wire::error_message(call.id, wire::kTooManyCalls, objection), nullptr});
    return;
  }
  ++counters_.calls;
  const CallId up_id = instance_->next_id();
  last_used_ = loop_.now();
  if (purpose != Purpose::Listen) {  // which stays open for as long as its client likes
    call.patience = options_.call_timeout;
    call.deadline = last_used_ + call.patience;
  }
  const Clock::time_point deadline = call.deadline;
  calls_.add(up_id, std::move(call));
  const Digits digits(up_id);
  const wire::Edit id{message.where().id, digits.text()};
  const wire::Edit token{message.where().progress_token, digits.text()};
  const bool id_first = !token.where.present() || id.where.begin < token.where.begin;
  if (id_first) {
    instance_->send(message.line(), {id, token});
  } else {
    instance_->send(message.line(), {token, id});
  }
  watch_deadline(deadline);
}

/// A request of our own.
CallId Router::ask(std::string_view method, std::string_view params, Call call) {
  const CallId up_id = instance_->next_id();
  constexpr std::chrono::seconds kConfirmPatience{10};  // sessions wait for it
  call.patience = call.purpose == Purpose::ConfirmTools ? kConfirmPatience : options_.call_timeout;
  const bool unlimited = call.purpose == Purpose::Probe || call.purpose == Purpose::ListenForAll;
  if (!unlimited) call.deadline = Clock::now() + call.patience;
  const Clock::time_point deadline = call.deadline;
  calls_.add(up_id, std::move(call));
  instance_->send(wire::request_message(to_string(up_id), method, params));
  watch_deadline(deadline);
  return up_id;
}

bool Router::refuse_tool(SessionPort& port, const wire::Message& message) {
  if (!options_.allows_tool) return false;
  const auto refuse = [&](int code, const std::string& why) {
    port.deliver({wire::error_message(message.id(), code, why), nullptr});
    return true;
  };
  const std::string_view written = called_tool(message.params());
  if (is_too_long_for_a_tool(written)) {  // each pattern would be compared with all of it
    return refuse(wire::kInvalidParams, "Invalid params: the tools of server " + options_.server +
                                            " are limited, so the name of one may have 1024 bytes at most");
  }
  const std::optional<std::string> tool = wire::string_value(written);
  // A server that is written in C sees no further than a NUL.
  const bool odd = tool && std::any_of(tool->begin(), tool->end(), [](char c) { return c >= 0 && c < 0x20; });
  if (!tool || odd) {
    return refuse(wire::kInvalidRequest, "Invalid Request: the tools of server " + options_.server +
                                             " are limited, so tools/call must have one \"name\", a text "
                                             "without control characters, and no other key that "
                                             "differs from it only in upper and lower case");
  }
  if (options_.allows_tool(*tool)) return false;
  return refuse(wire::kToolNotAllowed, "tool " + *tool +
                                           " is not allowed by \"tools\" and \"deny\" of server " +
                                           options_.server + " in corral's configuration");
}

/// Where a list of tools is to be kept, or others use the server, a message must mean to the server what it
/// means to us: a second id that only the server sees would be the one of somebody else's call.
bool Router::misleads(const wire::Message& message) {
  const bool refused = (options_.allows_tool || options_.shared) && message.lookalike();
  if (refused) ++counters_.misleading;
  return refused;
}

/// Some servers do what a notification asks for, and only answer it not. So where a list of tools is to be
/// kept, only what MCP calls a notification may pass without an id.
bool Router::asks_without_id(std::string_view method) {
  const bool refused = options_.allows_tool && !method.starts_with("notifications/");
  if (refused) ++counters_.misleading;
  return refused;
}

void Router::notification(SessionPort& port, const wire::Message& message) {
  const std::string_view method = message.method();
  if (method == "notifications/cancelled") return cancelled_by_client(port, message);
  if (misleads(message) || asks_without_id(method)) return;
  if (method == "notifications/initialized") {
    ready_.insert(port.id());
    if (options_.shared) return;  // we told it ourselves
  }
  // What else a client may tell is about its own roots, tasks and questions: of no meaning to a shared
  // server.
  if (!options_.shared) instance_->send(message.line());
}

void Router::cancelled_by_client(SessionPort& port, const wire::Message& message) {
  const auto up_id = calls_.find(port.id(), message.request_id());
  if (!up_id) return;  // answered already, or never asked
  const std::optional<Call> call = calls_.cancel(*up_id, Clock::now());
  if (message.lookalike() || message.lookalike_request_id()) {
    ++counters_.misleading;
    cancel_up(*up_id, "the client cancelled it");  // the client's own words might name another call
  } else {
    instance_->send(message.line(), {{message.where().request_id, Digits(*up_id).text()}});
  }
  call_finished();
}

void Router::cancel_up(CallId up_id, std::string_view reason) {
  if (lost_) return;
  instance_->send(wire::cancelled_message(to_string(up_id), reason));
}

/// The client's answer to a question of its server.
void Router::response(SessionPort& port, const wire::Message& message) {
  if (misleads(message)) return;
  const auto down_id = wire::own_id<QuestionId>(message.id());
  const auto question = down_id && !options_.shared ? questions_.take(*down_id) : std::nullopt;
  if (!question) {
    ++counters_.unknown_answers;
    port.note("the client answered a question that nobody asked; the answer was dropped");
    return;
  }
  instance_->send(message.line(), {{message.where().id, question->id}});
}

// ---- what a shared server is told once for all

void Router::subscribe(SessionPort& port, const wire::Message& message) {
  const std::string id(message.id());
  const std::string uri = text_member(message.params(), "uri");
  const auto refuse = [&](const std::string& why) {
    port.deliver({wire::error_message(id, wire::kTooManyCalls, why), nullptr});
  };
  // What we keep to ask the server outlives the session, if that ends before the answer.
  const std::size_t bytes = Subscriptions::kept_for(uri);
  Account::Held question;
  Account::Held request;
  if (port.account() != nullptr) {
    auto held = port.account()->take(Good::Bytes, bytes);
    if (!held) return refuse(port.account()->objection(Good::Bytes, bytes));
    question = std::move(*held);
    auto open = port.account()->take(Good::Requests);
    if (!open) return refuse(port.account()->objection(Good::Requests));
    request = std::move(*open);
  }
  switch (subscriptions_.subscribe(port.id(), uri, id, port.account())) {
    case Subscriptions::Next::AskServer:
      ask("resources/subscribe", R"({"uri":)" + wire::quoted(uri) + "}",
          {.purpose = Purpose::Subscribe,
           .uri = uri,
           .on_behalf_of = port.id(),
           .request = std::move(request),
           .bytes = std::move(question)});
      return;
    case Subscriptions::Next::Wait: return;
    case Subscriptions::Next::Answer:
      question = {};  // the session keeps it now
      port.memory().subscription(uri, true);
      port.deliver({wire::result_message(id, "{}"), nullptr});
      return;
    case Subscriptions::Next::NoRoom: return refuse(port.account()->objection(Good::Bytes, bytes));
    case Subscriptions::Next::Refuse:
      return refuse(
          "a session may subscribe to 1024 resources, each with a URI of at most 8192 bytes; unsubscribe "
          "from some");
  }
}

void Router::unsubscribe(SessionPort& port, const wire::Message& message) {
  const std::string uri = text_member(message.params(), "uri");
  if (subscriptions_.unsubscribe(port.id(), uri)) {
    tell_unsubscribed(uri, port.id());
  }
  port.deliver({wire::result_message(message.id(), "{}"), nullptr});
}

/// Nobody waits for the answer. Of a server that gives none, so many are kept in mind and no more.
void Router::tell_unsubscribed(const std::string& uri, SessionId on_behalf_of) {
  constexpr std::size_t kMost = 1024;
  unsubscribes_.push_back(ask("resources/unsubscribe", R"({"uri":)" + wire::quoted(uri) + "}",
                              {.purpose = Purpose::Unsubscribe, .on_behalf_of = on_behalf_of}));
  if (unsubscribes_.size() <= kMost) return;
  calls_.cancel(unsubscribes_.front(), Clock::now());
  unsubscribes_.pop_front();
  call_finished();
}

void Router::set_level(SessionPort& port, const wire::Message& message) {
  const std::string_view id = message.id();
  const std::string& opened = instance_->handshake().result();
  const std::string_view capabilities = wire::member(opened, "capabilities").in(opened);
  if (!wire::member(capabilities, "logging").present()) {
    port.deliver({wire::error_message(id, wire::kMethodNotFound, "Method not found: the server does not log"),
                  nullptr});
    return;
  }
  const auto level = parse_log_level(text_member(message.params(), "level"));
  if (!level) {
    port.deliver({wire::error_message(id, wire::kInvalidParams,
                                      "Invalid params: level must be debug, info, notice, warning, error, "
                                      "critical, alert or emergency"),
                  nullptr});
    return;
  }
  if (const auto told = levels_.set(port.id(), *level)) tell_level(*told, port.id());
  port.deliver({wire::result_message(id, "{}"), nullptr});
}

/// One at a time: of a server that does not answer nothing piles up, and in the end it has the last one.
void Router::tell_level(LogLevel level, SessionId on_behalf_of) {
  if (level_asked_) {
    next_level_.reset();
    if (level != *level_asked_) next_level_ = {level, on_behalf_of};
    return;
  }
  level_asked_ = level;
  ask("logging/setLevel", R"({"level":)" + wire::quoted(name_of(level)) + "}",
      {.purpose = Purpose::SetLevel, .on_behalf_of = on_behalf_of});
}

void Router::level_told() {
  level_asked_.reset();
  const auto next = std::exchange(next_level_, std::nullopt);
  if (next && !lost_) tell_level(next->first, next->second);
}

}  // namespace corral::router
