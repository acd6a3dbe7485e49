#include "transport/modern_session.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "http/sse.h"
#include "transport/http_refusal.h"
#include "transport/http_rules.h"
#include "wire/channel.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::transport {
namespace {

using Work = ModernPosts::Work;

// What the bridge answers while a legacy server waits for input: it is still working on the call.
constexpr std::string_view kInputRequired = R"({"resultType":"input_required")";
constexpr const char* kEndedJustNow = "the session has just ended; send the request again";

/// The request with an id and a token that corral issued.
std::shared_ptr<const std::string> with_own_id(const Posted& posted, const std::string& number) {
  std::array<wire::Edit, 2> edits = {wire::Edit{posted.message.where().id, number},
                                     wire::Edit{posted.message.where().progress_token, number}};
  const bool token = edits[1].where.present();
  if (token && edits[1].where.begin < edits[0].where.begin) std::swap(edits[0], edits[1]);
  return std::make_shared<const std::string>(wire::edited(posted.message.text(), edits));
}

std::string with_replaced(std::string text, wire::Span where, std::string_view by) {
  if (where.present()) text.replace(where.begin, where.end - where.begin, by);
  return text;
}

/// The answer to a listen repeats the id of the listen inside its result.
std::string with_listen_id(std::string text, const ModernPost& post) {
  const wire::Span result = wire::member(text, "result");
  const std::string_view inside = result.in(text);
  const wire::Span meta = wire::member(inside, "_meta");
  const wire::Span named = wire::member(meta.in(inside), kSubscriptionKey);
  if (!named.present() || own_post_id(named.in(meta.in(inside))) != post.id) return text;
  const std::size_t base = result.begin + meta.begin;
  return with_replaced(std::move(text), {base + named.begin, base + named.end}, post.client_id);
}

std::string subscription_meta(const ModernPost& post) {
  return R"("_meta":{)" + wire::quoted(kSubscriptionKey) + ":" + post.client_id + "}";
}

void write_message(http::Exchange& exchange, std::string message) {
  const auto text = std::make_shared<const std::string>(std::move(message));
  const bool owned = text->size() >= wire::kLargeText;
  http::write_event(exchange, {{}, {}, {*text, owned ? text : nullptr}, std::nullopt});
}

}  // namespace

ModernSession::ModernSession(Loop& loop, const HttpLimits& limits, Gone gone, Programs programs)
    : HttpSession(loop, limits, std::move(gone)), programs_(programs), posts_(programs), timer_(loop) {}

ModernSession::~ModernSession() { destroy_session(); }

// ---- what clients post

void ModernSession::post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  const auto refuse = [&](const HttpRefusal& refusal) {
    refuse_post(exchange.get(), refusal, posted.message.id());
  };
  if (closed_) return refuse({503, wire::kServerLost, kEndedJustNow});
  if (posted.message.kind() != wire::Kind::Request) return take_notification(*exchange, posted);
  if (posts_.of_program(posted.program) + waiting_.of_program(posted.program) >= limits_.open_requests) {
    return refuse({429, wire::kTooManyCalls,
                   "too many requests: " + std::to_string(limits_.open_requests) +
                       " of this program are open at this server; wait for some of their answers"});
  }
  const bool waits = must_wait() || busy_ > 0;
  if (waits && waiting_.full_for(posted, limits_)) {
    return refuse({503, wire::kTooManyCalls,
                   "server \"" + session_->attachment().server() +
                       "\" is busy at the moment; send the request again a little later"});
  }
  const PostId id = ids_.next();
  if (waits && !waiting_.push(exchange, posted, session_->account(), id)) {
    return refuse({503, wire::kTooManyCalls, session_->account()->objection(Good::Bytes)});
  }
  exchange->when_gone(lifetime_.guard([this, id] { hung_up(id); }));
  if (!waits) return pass_request(id, std::move(exchange), posted);
  if (!paused_) take_waiting_soon();
}

/// Over HTTP a request is cancelled by closing the connection. A cancel notification names an id that several
/// programs may use, so it is accepted and ignored.
void ModernSession::take_notification(http::Exchange& exchange, const Posted& posted) {
  if (posted.message.method() != "notifications/cancelled") {
    if (paused_) {
      return refuse_post(&exchange,
                         {503, wire::kTooManyCalls,
                          "server \"" + session_->attachment().server() + "\" is busy at the moment"});
    }
    tell(posted.message);
  }
  exchange.reply({202, {}, "", nullptr});
}

void ModernSession::pass_request(PostId id, std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  posts_.add(ModernPost(id, std::move(exchange), posted));
  watch(limits_.hold);
  const auto text = with_own_id(posted, to_string(id));
  ++busy_;
  session_->receive(wire::Message(wire::Line{*text, text->size() >= wire::kLargeText ? text : nullptr}));
  --busy_;
}

void ModernSession::hung_up(PostId id) {
  if (closed_) return;
  if (busy_ > 0) {  // a caller on the stack may be using it
    return loop_.post(lifetime_.guard([this, id] { hung_up(id); }));
  }
  if (waiting_.remove(id) || !posts_.take(id, Work::Continues)) return;
  clients_read();
  tell(wire::Message(wire::cancelled_message(to_string(id), "the client has closed the connection")));
}

void ModernSession::tell(const wire::Message& message) {
  if (busy_ > 0) return loop_.post(lifetime_.guard([this, kept = message.owned()] { tell(kept); }));
  if (closed_) return;
  ++busy_;
  session_->receive(message);
  --busy_;
}

// ---- messages of the server

void ModernSession::send(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  if (closed_) return;
  ++busy_;
  route(line, {edits.begin(), edits.size()});
  check_pressure();
  --busy_;
}

void ModernSession::answer(const wire::Message& message, std::string_view id) {
  if (closed_) return;
  const wire::Edit edit{message.where().id, id};
  ++busy_;
  answer_request(message, {&edit, 1});
  check_pressure();
  --busy_;
}

void ModernSession::route(const wire::Line& line, std::span<const wire::Edit> edits) {
  const wire::Message message(line);
  switch (message.kind()) {
    case wire::Kind::Response: return answer_request(message, edits);
    case wire::Kind::Notification: return notify(wire::edited(line.text, edits));
    case wire::Kind::Request: {
      // A client of this revision cannot be asked; a server that asks anyway must not wait.
      ++dropped_;
      const std::string text = wire::edited(line.text, edits);
      const std::string_view id = wire::member_text(text, "id");
      return tell(wire::Message(
          wire::error_message(id, wire::kMethodNotFound, "Method not found: no client can answer this")));
    }
    default: ++dropped_;
  }
}

/// Answers can be large: one pass finds the id, and one copy replaces it with the client's own.
void ModernSession::answer_request(const wire::Message& message, std::span<const wire::Edit> edits) {
  const wire::Span id = message.where().id;
  std::vector<wire::Edit> all(edits.begin(), edits.end());
  std::erase_if(all, [](const wire::Edit& edit) { return !edit.where.present(); });
  auto place = std::find_if(all.begin(), all.end(), [&](const wire::Edit& edit) {
    return edit.where.begin == id.begin && edit.where.end == id.end;
  });
  if (place == all.end()) {
    place = std::find_if(all.begin(), all.end(),
                         [&](const wire::Edit& edit) { return edit.where.begin > id.begin; });
    place = all.insert(place, {id, message.id()});
  }
  const bool continues = programs_ == Programs::Several && message.result().starts_with(kInputRequired);
  const auto post = posts_.take(own_post_id(place->text), continues ? Work::Continues : Work::Done);
  if (!post) {
    ++dropped_;  // most likely its client has hung up
    return;
  }
  place->text = post->client_id;
  std::string text = wire::edited(message.text(), all);
  if (post->listens) text = with_listen_id(std::move(text), *post);
  // A bridge may have replaced the error code, so the status follows the text that is sent.
  const int status = message.has_error() ? modern_status(wire::Message(text)) : 200;
  give_answer(*post, std::move(text), status);
}

void ModernSession::give_answer(const ModernPost& post, std::string text, int status) {
  http::Exchange& exchange = *post.exchange;
  if (post.streaming) {
    write_message(exchange, std::move(text));
    exchange.finish();
  } else {
    http::Response response;
    response.status = status;
    response.headers.push_back({"Content-Type", "application/json"});
    if (text.size() < wire::kLargeText) {
      response.body = std::move(text);
    } else {
      response.large_body = std::make_shared<const std::string>(std::move(text));
    }
    exchange.reply(std::move(response));
  }
  clients_read();
}

void ModernSession::notify(std::string text) {
  const wire::Message message(text);
  const std::string_view method = message.method();
  if (method == "notifications/cancelled") return listen_cancelled(message);
  if (!message.has_subscription_id() && method.ends_with("/list_changed")) {
    // A change that a client did not read in time. It goes to all listens that want it.
    for (ModernPost& post : posts_.all()) {
      if (!post.wants(method)) continue;
      write(post, wire::notification_message(method, "{" + subscription_meta(post) + "}"));
    }
    return;
  }
  const ModernPosts::Recipient to = posts_.recipient_of(message, server_era());
  if (to.post == nullptr) {
    ++dropped_;
    return;
  }
  write(*to.post, with_replaced(std::move(text), to.where, to.client_value));
}

wire::Era ModernSession::server_era() const {
  const router::Router* const router = session_->attachment().router();
  return router != nullptr ? router->instance()->handshake().era() : wire::Era::Legacy;
}

/// On a pipe a server ends a listen this way; over HTTP the client gets an answer and the end of the stream.
void ModernSession::listen_cancelled(const wire::Message& message) {
  const ModernPost* const named = posts_.find(own_post_id(message.request_id()));
  if (named == nullptr || !named->listens) {
    ++dropped_;
    return;
  }
  const ModernPost post = *posts_.take(named->id, Work::Done);
  const std::string result = R"({"resultType":"complete",)" + subscription_meta(post) + "}";
  give_answer(post, wire::result_message(post.client_id, result), 200);
}

void ModernSession::begin_stream(ModernPost& post) {
  post.streaming = true;
  post.exchange->when_drained(lifetime_.guard([this] { clients_read(); }));
  post.exchange->begin(200, http::event_stream_headers());
}

/// For notifications. A client that does not read may miss them, so that no other client waits for it. A
/// listen that missed one would show an old state forever, so it ends, and its client asks again.
void ModernSession::write(ModernPost& post, std::string text) {
  const bool full = post.queued() > wire::Channel::kHighWater;
  if (full && programs_ == Programs::Several) {
    ++dropped_;
    post.behind = post.listens;
    some_behind_ = some_behind_ || post.behind;
    return;
  }
  if (!post.streaming) begin_stream(post);
  write_message(*post.exchange, std::move(text));
  post.last_written = Clock::now();
}

// ---- clients that do not read

/// Ends listens that are behind, and the streams with the largest backlog before the whole session has to
/// end.
void ModernSession::check_pressure() {
  if (std::exchange(some_behind_, false)) {
    std::vector<PostId> behind;
    for (const ModernPost& post : posts_.all()) {
      if (post.behind) behind.push_back(post.id);
    }
    for (const PostId id : behind) give_up(id);
  }
  const std::size_t bytes = posts_.queued();
  if (programs_ == Programs::One) marks_.rose(bytes);
  if (bytes <= limits_.queued) return;
  while (posts_.queued() > limits_.queued) {
    const std::optional<PostId> slowest = posts_.slowest();
    if (!slowest) break;
    give_up(*slowest);
  }
  clients_read();  // maybe no slow client is left
}

/// Closes its connection, and tells the server that the request is cancelled.
void ModernSession::give_up(PostId id) {
  posts_.take(id, Work::Continues);
  tell(wire::Message(wire::cancelled_message(to_string(id), "the client does not read")));
}

/// Some of them, or one that did not read is gone. Posted, because the session may be on the stack.
void ModernSession::clients_read() {
  if (!congested() || !marks_.fell(posts_.queued())) return;
  loop_.post(lifetime_.guard([this] {
    if (!closed_ && !congested()) session_->output_drained();
  }));
}

// ---- time

/// One timer for everything. It is never stopped; with nothing open it is not started again.
void ModernSession::watch(Clock::duration after) {
  const Clock::time_point wanted = Clock::now() + after;
  if (timer_.running() && due_ <= wanted) return;
  due_ = wanted;
  timer_.start(after, [this] { tick(); });
}

void ModernSession::tick() {
  const Clock::time_point now = Clock::now();
  std::optional<Clock::time_point> next;
  ++busy_;
  for (ModernPost& post : posts_.all()) {
    if (now >= post.last_written + (post.streaming ? limits_.alive : limits_.hold)) {
      if (!post.streaming) begin_stream(post);
      if (post.exchange->queued() == 0) http::write_comment(*post.exchange);
      post.last_written = now;
    }
    const Clock::time_point then = post.last_written + (post.streaming ? limits_.alive : limits_.hold);
    next = std::min(next.value_or(then), then);
  }
  --busy_;
  if (next) watch(*next - now);
}

// ---- the end

/// Answers every open request. Requests that were still waiting may safely be sent again; for the others it
/// is unknown how far they got.
void ModernSession::close(Close how) {
  if (std::exchange(closed_, true)) return;
  timer_.cancel();
  while (const auto next = waiting_.pop()) {
    refuse_post(next->exchange.get(), {503, wire::kServerLost, kEndedJustNow}, next->posted.message.id());
  }
  for (const ModernPost& post : posts_.take_all()) {
    if (post.streaming && how == Close::AtOnce) continue;  // its connection is closed without an answer
    std::string text =
        wire::error_message(post.client_id, wire::kServerLost,
                            "server \"" + session_->attachment().server() + "\" ended before it answered");
    const int status = modern_status(wire::Message(text));
    give_answer(post, std::move(text), status);
  }
}

void ModernSession::exit(int code, const std::string& why) {
  close(Close::AtOnce);
  HttpSession::exit(code, why);
}

}  // namespace corral::transport
