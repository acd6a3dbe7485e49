#include "router/router.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "knowledge/introduction.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/oversized_line.h"

namespace corral::router {
namespace {

constexpr std::size_t kMostCalls = 4096;            // of one session
constexpr std::size_t kMostMessagesOfALine = 1024;  // of a batch

/// The id of a call as text, without an allocation.
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

/// Charges what it costs to keep the call to its principal; an objection if that may hold no more. The few
/// bytes of an ordinary call are limited by the number of calls.
std::string charge(Account* account, Call& call) {
  constexpr std::size_t kFew = 256;
  if (account == nullptr) return {};
  auto request = account->take(Good::Requests);
  if (!request) return account->objection(Good::Requests);
  call.request = std::move(*request);
  // As much as the session keeps of a URI when the server has agreed.
  const std::size_t uri = call.uri.empty() ? 0 : Subscriptions::kept_for(call.uri);
  const std::size_t kept = 2 * call.id.size() + call.token.size() + uri + call.listens_to.size();
  if (kept <= kFew && call.uri.empty()) return {};
  auto bytes = account->take(Good::Bytes, kept);
  if (!bytes) return account->objection(Good::Bytes, kept);
  call.bytes = std::move(*bytes);
  return {};
}

/// The answer that ends a listen may have the id of the listen twice: as the id of the answer and in its
/// _meta.
void answer_listen(SessionPort& port, const Call& call, const wire::Message& message) {
  const std::string_view result = message.result();
  const wire::Span meta = wire::member(result, "_meta");
  const wire::Span inner = wire::member(meta.in(result), "io.modelcontextprotocol/subscriptionId");
  if (!meta.present() || !inner.present()) return port.answer(message, call.id);
  const std::size_t base = message.where().result.begin + meta.begin;
  const wire::Edit in_meta{{base + inner.begin, base + inner.end}, call.id};
  const wire::Edit id{message.where().id, call.id};
  if (in_meta.where.begin < id.where.begin) {
    port.deliver(message.line(), {in_meta, id});
  } else {
    port.deliver(message.line(), {id, in_meta});
  }
}

}  // namespace

Router::Router(Loop& loop, RouterOptions options, Listener& listener, Learner& learner)
    : loop_(loop),
      options_(std::move(options)),
      listener_(listener),
      learner_(learner),
      deadlines_(loop, [this] { return expire(); }),
      own_(calls_, deadlines_, options_.call_timeout),
      ask_([this](std::string_view method, std::string_view params, Call call) {
        return own_.ask(method, params, std::move(call));
      }),
      rules_(options_, counters_),
      admission_(options_, learner),
      audience_(options_, sessions_, calls_, counters_),
      health_(loop, options_, counters_, learner,
              {.busy = [this] { return calls_.awaited() > 0 || instance_->congested() || paused_; },
               .send_probe =
                   [this] {
                     if (!admission_.modern()) return own_.ask("ping", "{}", {.purpose = Purpose::Probe});
                     return own_.ask("server/discover", instance::discover_params(),
                                     {.purpose = Purpose::Probe});
                   },
               .drop_probe = [this](CallId probe) { calls_.cancel(probe, Clock::now()); },
               .hung = [this] { listener_.on_hung(*this); }}),
      lists_(sessions_, learner, ask_),
      listen_(sessions_, ask_),
      questions_(options_, sessions_, counters_, learner,
                 {.congested = [this] { return instance_->congested(); },
                  .send = [this](const wire::Line& line,
                                 std::initializer_list<wire::Edit> edits) { instance_->send(line, edits); }}),
      standing_(options_, sessions_, ask_,
                [this](CallId id) {
                  calls_.cancel(id, Clock::now());
                  call_finished();
                }),
      news_({options_, admission_, sessions_, audience_, standing_, calls_, questions_, listen_, counters_}) {
}

Result<void> Router::start(proc::Spawner& spawner, const proc::LaunchSpec& spec, std::size_t line_cap,
                           const instance::JournalEntry& entry, wire::ChannelMaker make_channel) {
  auto instance = instance::Instance::start(loop_, spawner, spec, line_cap, *this, entry, make_channel);
  if (!instance) return instance.error();
  instance_ = std::move(*instance);
  own_.connect(*instance_);
  return {};
}

void Router::open(const instance::Opening& opening) { instance_->open(opening); }

void Router::on_opened() { act_on(admission_.judge(instance_->handshake())); }

void Router::act_on(Admission::Verdict verdict) {
  switch (verdict) {
    case Admission::Verdict::ListTools:
      own_.ask("tools/list", "{}", {.purpose = Purpose::ConfirmTools});
      return;
    case Admission::Verdict::Unusable: return listener_.on_unusable(*this);
    case Admission::Verdict::Open: break;
  }
  last_used_ = Clock::now();
  lists_.opened(instance_->handshake().era(), instance_->id().text());
  health_.start();
  listener_.on_open(*this);
}

// ---- from a session to the server

void Router::from_client(SessionPort& port, const wire::Message& message) {
  switch (message.kind()) {
    case wire::Kind::Request: return request(port, message);
    case wire::Kind::Notification: return notification(port, message);
    case wire::Kind::Response:
      if (!rules_.misleads(message)) questions_.answered(port, message);
      return;
    case wire::Kind::Batch:
    case wire::Kind::NotRpc:
    case wire::Kind::NotJson: return;  // the session handles those
  }
}

void Router::request(SessionPort& port, const wire::Message& message) {
  const std::string_view method = message.method();
  const auto refuse = [&](int code, const std::string& why) {
    port.deliver({wire::error_message(message.id(), code, why), nullptr});
  };
  if (lost_) return refuse(wire::kServerLost, "server " + options_.server + " has ended");
  audience_.asked(port);
  if (calls_.find(port.id(), message.id())) {
    return refuse(wire::kInvalidRequest, "Invalid Request: this id is already in use by a call in flight");
  }
  if (const auto refusal = rules_.refuse(message)) return refuse(refusal->code, refusal->why);
  if (method == "tools/list") {
    const bool further = wire::member(message.params(), "cursor").present();
    return forward(port, message, further ? Purpose::ListMoreTools : Purpose::ListTools);
  }
  if (method == "subscriptions/listen") return forward(port, message, Purpose::Listen);
  if (options_.shared && !admission_.modern()) {
    if (standing_.take(port, message, instance_->handshake().result())) return;
    if (method.starts_with("tasks/")) {
      return refuse(wire::kMethodNotFound, "Method not found: a shared server offers no tasks");
    }
  }
  forward(port, message, Purpose::Forward);
}

void Router::forward(SessionPort& port, const wire::Message& message, Purpose purpose) {
  const auto refuse = [&](const std::string& why) {
    port.deliver({wire::error_message(message.id(), wire::kTooManyCalls, why), nullptr});
  };
  if (calls_.count(port.id()) >= kMostCalls) {
    return refuse("this session has 4096 calls in flight; wait for some of their answers");
  }
  Call call{.session = port.id(),
            .id = std::string(message.id()),
            .token = std::string(message.progress_token()),
            .purpose = purpose,
            .wants_log = message.has_log_level()};
  const std::string_view method = message.method();
  const std::string_view params = message.params();
  call.unsubscribes = method == "resources/unsubscribe";
  if (call.unsubscribes || method == "resources/subscribe") {
    call.uri = wire::string_value(wire::member(params, "uri").in(params)).value_or("");
  }
  if (purpose == Purpose::Listen) call.listens_to = wire::member(params, "notifications").in(params);
  call.list = list_kind_of(method);
  if (call.list && wire::member(params, "cursor").present()) call.list.reset();
  if (const std::string objection = charge(port.account(), call); !objection.empty())
    return refuse(objection);
  ++counters_.calls;
  const CallId up_id = instance_->next_id();
  last_used_ = loop_.now();
  if (purpose != Purpose::Listen) {  // a listen stays open for as long as its client likes
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
  deadlines_.watch(deadline);
}

void Router::notification(SessionPort& port, const wire::Message& message) {
  if (message.method() == "notifications/cancelled") {
    const auto up_id = calls_.find(port.id(), message.request_id());
    if (!up_id) return;  // it was answered already, or never asked
    if (message.lookalike() || message.lookalike_request_id()) {
      ++counters_.misleading;
      own_.give_up(*up_id, "the client cancelled it");  // the client's own message might name another call
    } else {
      calls_.cancel(*up_id, Clock::now());
      instance_->send(message.line(), {{message.where().request_id, Digits(*up_id).text()}});
    }
    return call_finished();
  }
  if (!rules_.allow_notification(message)) return;
  if (message.method() == "notifications/initialized") news_.initialized(port.id());
  // A shared server got notifications/initialized from corral. Every other notification of a client is about
  // its own roots, tasks and questions, which a shared server does not know.
  if (!options_.shared) instance_->send(message.line());
}

// ---- from the server to a session

void Router::on_message(const wire::Message& message) {
  if (lost_) return;  // its sessions use another instance by now
  health_.message_received();
  switch (message.kind()) {
    case wire::Kind::Response: return answer(message);
    case wire::Kind::Request: return questions_.asked(message);
    case wire::Kind::Notification:
      if (const auto changed = changed_list_of(message.method())) {
        lists_.changed(*changed);
        learner_.on_list_changed(*changed);
      }
      return news_.pass_on(message);
    case wire::Kind::Batch: {  // servers of 2025-03-26 may put several messages on one line
      const auto elements = wire::array_elements(message.text(), kMostMessagesOfALine);
      if (!elements || elements->size() > kMostMessagesOfALine) {
        ++counters_.dropped_news;
        return;
      }
      for (const wire::Span& element : *elements) {
        const wire::Message one(wire::Line{element.in(message.text()), message.line().owner});
        if (one.kind() != wire::Kind::Batch) on_message(one);
      }
      return;
    }
    case wire::Kind::NotRpc: {  // in a batch; the instance handles any other
      const std::string id = wire::answered_id(message.text());
      if (!id.empty()) on_lost_answer({id, false, "it is not JSON-RPC 2.0: " + std::string(message.fault())});
      return;
    }
    case wire::Kind::NotJson: return;  // the instance handles those
  }
}

void Router::answer(const wire::Message& message) {
  const auto up_id = wire::own_id<CallId>(message.id());
  std::optional<Call> call = up_id ? calls_.answered(*up_id, loop_.now()) : std::nullopt;
  if (!call) {
    const bool late = up_id && calls_.was_cancelled(*up_id, loop_.now());
    ++(late ? counters_.late_answers : counters_.unknown_answers);
    return;
  }
  ++counters_.answers;
  if (!call->uri.empty()) call->bytes = {};  // from now on the session is charged for what is kept
  if (!call->session) {
    answer_own(*call, message);
  } else if (SessionPort* const port = sessions_.find(call->session)) {
    answer_session(*port, *call, message);
  }
  call_finished();
}

void Router::answer_session(SessionPort& port, const Call& call, const wire::Message& message) {
  last_used_ = loop_.now();
  if (!message.has_result()) return port.answer(message, call.id);
  if (call.unsubscribes) {
    port.memory().remove_subscription(call.uri);
  } else if (!call.uri.empty()) {
    port.memory().add_subscription(call.uri);
  }
  if (call.list) lists_.given(port, *call.list, message.result());
  if (call.purpose == Purpose::Listen) return answer_listen(port, call, message);
  const bool tools = call.purpose == Purpose::ListTools || call.purpose == Purpose::ListMoreTools;
  if (!tools) return port.answer(message, call.id);
  if (!options_.shared && call.purpose == Purpose::ListTools) {
    if (const auto effects = effects_of_tools(message.result())) learner_.on_tools(*effects);
  }
  if (!options_.allows_tool) return port.answer(message, call.id);
  port.deliver(
      {wire::result_message(call.id, without_tools(message.result(), options_.allows_tool)), nullptr});
}

void Router::answer_own(const Call& call, const wire::Message& message) {
  switch (call.purpose) {
    case Purpose::ConfirmTools:
      return act_on(
          admission_.tools_listed(message.has_result() ? effects_of_tools(message.result()) : std::nullopt));
    case Purpose::Probe: return health_.answered();
    case Purpose::ListenForAll: return listen_.ended();
    case Purpose::CompareList:
      if (message.has_result()) lists_.answered(call, message.result());
      return;
    default: return standing_.answered(call, message);
  }
}

/// The answer is not readable, but the server has sent it: the call has ended like any other.
void Router::on_lost_answer(const instance::LostAnswer& lost) {
  ++counters_.lost_answers;
  const auto up_id = wire::own_id<CallId>(lost.id);
  const std::optional<Call> call = up_id ? calls_.answered(*up_id, loop_.now()) : std::nullopt;
  if (!call) {
    if (up_id && calls_.was_cancelled(*up_id, loop_.now())) ++counters_.late_answers;
    return;
  }
  if (call->purpose == Purpose::Probe) health_.answered_unreadably();
  if (call->purpose == Purpose::ListenForAll) listen_.ended();
  fail(*call, lost.too_large ? wire::kAnswerTooLarge : wire::kAnswerUnreadable,
       "the answer of server " + options_.server + " cannot be passed on: " + lost.why);
}

/// There is no answer to this call: the sessions that wait for it get an error.
void Router::fail(const Call& call, int code, const std::string& sentence) {
  if (call.purpose == Purpose::ConfirmTools && !lost_) return act_on(admission_.tools_listed(std::nullopt));
  standing_.failed(call, code, sentence);
  if (SessionPort* const port = sessions_.find(call.session)) {
    port->deliver({wire::error_message(call.id, code, sentence), nullptr});
  }
  call_finished();
}

/// From a task of its own: the listener may end the instance, which the caller may still be using.
void Router::call_finished() {
  if (!draining_ || lost_ || calls_.awaited() > 0) return;
  loop_.post(lifetime_.guard([this] {
    if (calls_.awaited() == 0) listener_.on_calls_finished(*this);
  }));
}

Clock::time_point Router::expire() {
  for (const CallId up_id : calls_.expired(Clock::now())) {
    ++counters_.timeouts;
    const auto call = own_.give_up(up_id, "the call took too long");
    if (!call) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(call->patience).count();
    fail(*call, wire::kCallTimedOut,
         "server " + options_.server + " did not answer within " + std::to_string(seconds) +
             " s; \"timeout\" in its configuration sets this limit");
  }
  return calls_.next_deadline();
}

// ---- sessions

void Router::attach(SessionPort& port) {
  sessions_.add(port);
  last_used_ = Clock::now();
  if (admission_.modern()) {
    if (port.era() == knowledge::Era::Legacy) listen_.open(instance_->handshake().result());
  } else if (options_.shared) {
    standing_.attached(port.id());
  }
}

void Router::restore(SessionPort& port, const Standing& standing) {
  const std::vector<ListKind> lists = port.memory().lists_given();
  if (admission_.modern()) {  // everything else is in every request
    if (!lists.empty()) audience_.asked(port);
    for (const ListKind kind : lists) lists_.compare(port, kind);
    return;
  }
  if (standing.initialized) {
    news_.initialized(port.id());
    if (!options_.shared) instance_->send(wire::notification_message("notifications/initialized"));
  }
  for (const ListKind kind : lists) lists_.compare(port, kind);
  if (!standing.uris.empty()) audience_.asked(port);
  standing_.restore(port, standing);
}

void Router::detach(SessionPort& port) {
  for (const CallId up_id : calls_.of(port.id())) own_.give_up(up_id, "the session ended");
  standing_.left(port.id());
  if (sessions_.remove(port.id())) calls_.session_left(port.id(), Clock::now());
  news_.left(port.id());
  last_used_ = Clock::now();
  call_finished();
}

void Router::give_up_calls(SessionPort& port, int code, const std::string& sentence) {
  for (const CallId up_id : calls_.of(port.id())) {
    if (const auto call = own_.give_up(up_id, sentence)) fail(*call, code, sentence);
  }
  standing_.give_up(port, code, sentence);
}

Router::Activity Router::activity() const {
  const std::size_t calls = calls_.awaited();
  const bool in_use = calls > 0 || calls_.listens() > 0 || questions_.size() > 0 ||
                      std::any_of(sessions_.begin(), sessions_.end(),
                                  [](const auto& session) { return session.second->memory().subscribed(); });
  return {calls, in_use, last_used_};
}

void Router::client_pace(SessionPort& port, ClientPace pace) {
  if (pace == ClientPace::Reads) news_.client_reads(port);
  if (options_.shared || lost_) return;
  paused_ = pace == ClientPace::Slow;
  if (paused_) {
    instance_->pause();
  } else {
    instance_->resume();
  }
}

void Router::drain() {
  draining_ = true;
  call_finished();
}

// ---- the instance

void Router::on_error_output(std::string_view bytes) {
  listener_.on_error_output(*this, bytes);
  audience_.pass_error_output(bytes);
}

void Router::on_drained() {
  questions_.server_reads();
  sessions_.each([](SessionPort& port) { port.server_drained(); });
}

void Router::stop(instance::Instance::Haste haste) {
  health_.stop();
  // A server that cannot write does not get to the end of its input. No session reads what comes now.
  if (std::exchange(paused_, false) && !lost_) instance_->resume();
  instance_->stop(haste);
}

void Router::on_server_lost(const std::string& sentence) {
  lost_ = true;
  own_.server_lost();
  standing_.server_lost();
  health_.stop();
  const LastWords words =
      audience_.last_words("server " + options_.server + " " + sentence, instance_->error_tail());
  for (const CallId up_id : calls_.all()) {
    if (const auto call = calls_.take(up_id)) fail(*call, wire::kServerLost, words.to(call->session));
  }
  questions_.take_back();
  listener_.on_server_lost(*this, words);
}

void Router::on_ended(const instance::TreeEnd& ending) {
  deadlines_.cancel();
  health_.stop();
  listener_.on_instance_ended(*this, ending);
}

}  // namespace corral::router
