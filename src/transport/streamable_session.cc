#include "transport/streamable_session.h"

#include <algorithm>
#include <utility>

#include "http/sse.h"
#include "transport/http_refusal.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/revisions.h"

namespace corral::transport {
namespace {

using Weight = EventLog::Weight;
using Then = EventStream::Then;

constexpr const char* kSessionOver =
    "the session ended before this was answered: start a new one with initialize";

OpenPost::Awaited awaited_of(const wire::Message& message) {
  return {std::string(message.id()), std::string(message.progress_token())};
}

/// What a batch contains; with a fault, it is refused.
struct Batch {
  std::vector<OpenPost::Awaited> asked;
  std::vector<std::string> cancelled;
  const char* fault = nullptr;
};

Batch read_batch(std::string_view text) {
  const auto elements = wire::array_elements(text, wire::kMostInBatch);
  Batch batch;
  if (!elements || elements->empty()) batch.fault = "an empty batch";
  if (elements && elements->size() > wire::kMostInBatch) batch.fault = "a batch of more than 256 messages";
  for (std::size_t i = 0; batch.fault == nullptr && i < elements->size(); ++i) {
    const wire::Message one((*elements)[i].in(text));
    switch (one.kind()) {
      case wire::Kind::Request: batch.asked.push_back(awaited_of(one)); break;
      case wire::Kind::Notification:
        if (one.has_request_id()) batch.cancelled.emplace_back(one.request_id());
        break;
      case wire::Kind::Response: break;
      case wire::Kind::Batch: batch.fault = "a batch inside a batch"; break;
      case wire::Kind::NotRpc:
      case wire::Kind::NotJson: batch.fault = one.fault();
    }
  }
  return batch;
}

void accept_post(http::Exchange* exchange) {
  if (exchange != nullptr) exchange->reply({202, {}, "", nullptr});
}

http::Response answer_as_json(int status, const wire::Line& line) {
  http::Response response;
  response.status = status;
  response.headers = {{"Content-Type", "application/json"}};
  const bool whole = line.owner && line.owner->size() == line.text.size();
  if (whole) {
    response.large_body = line.owner;
  } else {
    response.body = line.text;
  }
  return response;
}

}  // namespace

StreamableSession::StreamableSession(Loop& loop, std::string id, const HttpLimits& limits, Gone gone)
    : HttpSession(loop, limits, std::move(gone)), streams_(loop, std::move(id), limits) {}

StreamableSession::~StreamableSession() {
  close(Close::AtOnce);
  destroy_session();
}

void StreamableSession::begin(std::unique_ptr<session::Session> session) {
  HttpSession::begin(std::move(session));
  streams_.log().charge(session_->account());
}

// ---- what the client posts

void StreamableSession::post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  if (closed_) {
    return refuse_post(exchange.get(),
                       {404, wire::kServerLost, "the session has ended: start a new one with initialize"},
                       posted.message.id());
  }
  if (!must_wait()) return pass(std::move(exchange), posted);
  if (const auto cancelled = waiting_.take_cancelled(posted)) {
    if (cancelled->exchange) {
      cancelled->exchange->begin(200, http::event_stream_headers());
      cancelled->exchange->finish();
    }
    return accept_post(exchange.get());
  }
  queue(exchange, posted);
}

void StreamableSession::pass(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  switch (posted.message.kind()) {
    case wire::Kind::Request: return pass_request(std::move(exchange), posted);
    case wire::Kind::Notification:
    case wire::Kind::Response:
      session_->receive(posted.message);
      if (posted.message.has_request_id()) cancel(posted.message.request_id());
      return accept_post(exchange.get());
    case wire::Kind::Batch: return take_batch(exchange, posted);
    case wire::Kind::NotRpc:
    case wire::Kind::NotJson:
      refuse_post(exchange.get(),
                  {400, wire::kInvalidRequest, "Invalid Request: " + std::string(posted.message.fault())},
                  posted.message.id());
  }
}

void StreamableSession::pass_request(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  std::vector<OpenPost::Awaited> asked{awaited_of(posted.message)};
  if (refuse_beyond_limits(exchange.get(), asked)) return;
  OpenPost& post = open_post(std::move(exchange), std::move(asked));
  post.initialize = posted.message.method() == "initialize";
  session_->receive(posted.message);
  check_congestion();
}

/// With two open requests of the same id it would be unknown which one an answer belongs to.
bool StreamableSession::refuse_beyond_limits(http::Exchange* exchange,
                                             const std::vector<OpenPost::Awaited>& asked) {
  const std::string_view first = asked.size() == 1 ? std::string_view(asked[0].id) : "";
  if (streams_.open_requests() + asked.size() > limits_.open_requests) {
    refuse_post(
        exchange,
        {429, wire::kTooManyCalls, "this session has too many requests open: wait for some of their answers"},
        first);
    return true;
  }
  for (auto one = asked.begin(); one != asked.end(); ++one) {
    const bool twice =
        std::any_of(asked.begin(), one, [&](const OpenPost::Awaited& other) { return other.id == one->id; });
    if (!twice && streams_.awaiting(one->id) == nullptr) continue;
    refuse_post(exchange,
                {400, wire::kInvalidRequest,
                 "Invalid Request: a request with this id is already open in this session: use another id"},
                first);
    return true;
  }
  return false;
}

OpenPost& StreamableSession::open_post(std::shared_ptr<http::Exchange> exchange,
                                       std::vector<OpenPost::Awaited> awaited) {
  OpenPost& post = streams_.open(std::move(awaited));
  if (exchange) {
    connect(post.stream, std::move(exchange));
    streams_.hold(post);
  }
  return post;
}

/// A batch is passed on as a whole or not at all, so that an error without an id can only mean all of it.
void StreamableSession::take_batch(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted) {
  Batch batch = read_batch(posted.message.text());
  if (batch.fault != nullptr) {
    return refuse_post(exchange.get(),
                       {400, wire::kInvalidRequest, "Invalid Request: " + std::string(batch.fault)});
  }
  if (refuse_beyond_limits(exchange.get(), batch.asked)) return;
  pass_batch(exchange, posted, std::move(batch.asked), batch.cancelled);
}

/// The session decides whether its revision has batches.
void StreamableSession::pass_batch(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted,
                                   std::vector<OpenPost::Awaited> asked,
                                   const std::vector<std::string>& cancelled) {
  const bool asks = !asked.empty();
  std::uint64_t number = 0;
  if (asks) {
    OpenPost& post = open_post(exchange, std::move(asked));
    post.batch = true;
    number = post.stream.number();
  }
  std::string refused;
  refusal_ = &refused;
  session_->receive(posted.message);
  refusal_ = nullptr;
  OpenPost* const post = asks ? streams_.post(number) : nullptr;
  if (!refused.empty()) {
    if (post != nullptr) forget(*post);
    if (exchange) exchange->reply({400, {{"Content-Type", "application/json"}}, std::move(refused), nullptr});
    return;
  }
  for (const std::string& request : cancelled) cancel(request);
  if (!asks) accept_post(exchange.get());
  check_congestion();
}

/// No answer follows. If the server sends one anyway, it is dropped.
void StreamableSession::cancel(std::string_view request) {
  OpenPost* const post = streams_.awaiting(request);
  if (post == nullptr || post->initialize) return;
  std::erase_if(post->awaited, [&](const OpenPost::Awaited& one) { return one.id == request; });
  if (!post->awaited.empty()) return;
  if (post->stream.connected() && !post->stream.begun()) post->stream.begin(http::event_stream_headers());
  post->stream.end();
  forget(*post);
}

// ---- messages of the server

/// The usual end of a call: nothing was sent before, and the answer goes out without a copy.
void StreamableSession::answer(const wire::Message& message, std::string_view id) {
  OpenPost* const post = closed_ ? nullptr : streams_.awaiting(id);
  const bool alone = post != nullptr && !post->batch && !post->initialize && post->stream.connected() &&
                     !post->stream.begun();
  if (!alone) return send(message.line(), {{message.where().id, id}});
  const auto exchange = post->stream.release();
  forget(*post);
  exchange->reply_json(message.line(), {message.where().id, id});
  check_congestion();
}

void StreamableSession::send(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  const bool edits_made =
      std::any_of(edits.begin(), edits.end(), [](const wire::Edit& edit) { return edit.where.present(); });
  if (!edits_made) return send_line(line);
  std::string text = wire::edited(line.text, {edits.begin(), edits.size()});
  if (text.size() < wire::kLargeText) return send_line({text, nullptr});
  const auto owner = std::make_shared<const std::string>(std::move(text));
  send_line({*owner, owner});
}

void StreamableSession::send_line(const wire::Line& line) {
  if (closed_) return;
  const wire::Message message(line);
  switch (message.kind()) {
    case wire::Kind::Response: answer_message(message); break;
    case wire::Kind::Request:
    case wire::Kind::Notification: place(message); break;
    default: ++dropped_;
  }
  if (const std::size_t unseen = streams_.log().take_lost()) {
    dropped_ += unseen;
    note("a client that was not listening lost " + std::to_string(unseen) +
         " questions or answers from server " + session_->attachment().server());
  }
  check_congestion();
}

void StreamableSession::answer_message(const wire::Message& message) {
  if (!message.has_id()) return refuse_whole_batch(message.line());
  OpenPost* const post = streams_.awaiting(message.id());
  if (post == nullptr) {
    ++dropped_;  // it was cancelled
    return;
  }
  std::erase_if(post->awaited, [&](const OpenPost::Awaited& one) { return one.id == message.id(); });
  if (post->initialize && !message.has_error()) {
    agreed_ = true;
    const auto version = wire::string_member(message.result(), "protocolVersion");
    const wire::Revision* const revision = wire::find_revision(version.value_or(""));
    if (revision != nullptr && revision->primed_streams) streams_.allow_priming();
  }
  give_answer(*post, message);
  if (!post->awaited.empty()) return;
  const bool initialize = post->initialize;
  forget(*post);
  if (initialize) end_if_useless();
}

void StreamableSession::give_answer(OpenPost& post, const wire::Message& message) {
  EventStream& stream = post.stream;
  const bool failed = message.has_error();
  const wire::Line& line = message.line();
  if (!stream.connected() && !stream.resumable()) {
    ++dropped_;  // its client left before it received an event id
  } else if (!stream.begun() && !post.batch) {
    const bool second = post.initialize && failed && agreed_;
    http::Response response = answer_as_json(second ? 400 : 200, line);
    if (post.initialize && !failed) response.headers.push_back(streams_.session_header());
    stream.reply(std::move(response));
  } else {
    if (!stream.begun()) streams_.begin(post);
    const bool too_much = !stream.connected() && line.text.size() > limits_.replay / 2;
    const std::string instead =
        !too_much
            ? ""
            : wire::error_message(message.id(), wire::kAnswerTooLarge,
                                  "the answer is larger than what is kept for a client that was disconnected "
                                  "when it arrived: ask again");
    stream.deliver(too_much ? wire::Line{instead, nullptr} : line, Weight::Owed,
                   post.awaited.empty() ? Then::Finish : Then::Continue);
    streams_.wrote();
  }
}

void StreamableSession::refuse_whole_batch(const wire::Line& line) {
  if (refusal_ != nullptr) {
    *refusal_ = line.text;
    return;
  }
  OpenPost* const batch = streams_.batch();
  if (batch == nullptr) {
    ++dropped_;
    return;
  }
  if (batch->stream.begun()) {
    batch->stream.deliver(line, Weight::Owed, Then::Finish);
  } else {
    batch->stream.reply(answer_as_json(400, line));
  }
  forget(*batch);
}

/// A question or a notification takes the stream of the request that it is about, if that is known.
void StreamableSession::place(const wire::Message& message) {
  const Weight weight = message.kind() == wire::Kind::Request ? Weight::Owed : Weight::News;
  OpenPost* const about = message.has_direct_token() ? streams_.with_token(message.direct_token()) : nullptr;
  if (about != nullptr && !about->stream.connected() && !about->stream.resumable()) {
    ++dropped_;  // no client waits for this progress
    return;
  }
  EventStream* const stream = about != nullptr ? &about->stream : streams_.stream_for(message.method());
  if (stream == nullptr) return streams_.log().add({{}, message.line(), weight, false});
  OpenPost* const post = streams_.post(stream->number());
  if (post != nullptr && stream->connected() && !stream->begun()) streams_.begin(*post);
  stream->deliver(message.line(), weight, Then::Continue);
  streams_.wrote();
}

void StreamableSession::forget(const OpenPost& post) {
  streams_.forget(post);
  if (!congested()) return;
  // From now on the connection counts what its client has not read, and it reports that to no session.
  // Posted, because the session is on the stack.
  loop_.post(lifetime_.guard([this] { drained(); }));
}

// ---- listening

void StreamableSession::listen(std::shared_ptr<http::Exchange> exchange, std::string_view last_event_id) {
  if (closed_) {
    return refuse_post(exchange.get(),
                       {404, wire::kServerLost, "the session has ended: start a new one with initialize"});
  }
  if (!last_event_id.empty()) {
    const auto after = parse_event_id(last_event_id);
    // No sequence reaches this number.
    return resume_stream(std::move(exchange), after.value_or(EventId{0, ~std::uint64_t{0}}));
  }
  connect(streams_.get(), std::move(exchange));
  streams_.begin_get();
  deliver_kept();
  check_congestion();
}

/// A kept event gets its number now, after those that its client may have seen.
void StreamableSession::deliver_kept() {
  for (const EventLog::Event& event : streams_.log().take_kept()) {
    streams_.get().deliver(event.line, event.weight, Then::Continue);
  }
}

void StreamableSession::resume_stream(std::shared_ptr<http::Exchange> exchange, EventId after) {
  EventLog& log = streams_.log();
  EventStream* const open = streams_.find(after.stream);
  const auto missed = log.later(after, open != nullptr ? std::optional(open->newest()) : std::nullopt);
  if (!missed) {
    return refuse_post(exchange.get(),
                       {400, wire::kInvalidRequest,
                        "Last-Event-ID does not name an event to continue from, or the event is too old: "
                        "open a new stream without it, or start a new session with initialize"});
  }
  const bool nothing = std::all_of(missed->begin(), missed->end(),
                                   [](const EventLog::Event& event) { return event.line.text.empty(); });
  // The client would request an empty stream again and again; 204 means "no more" in the standard for
  // server-sent events.
  if (open == nullptr && nothing) {
    return exchange->reply({204, {{"Content-Type", "text/event-stream"}}, "", nullptr});
  }
  EventStream over(after.stream, log);
  EventStream& stream = open != nullptr ? *open : over;
  if (open != nullptr) {
    connect(stream, std::move(exchange));
  } else {
    stream.attach(std::move(exchange));
  }
  stream.begin(http::event_stream_headers());
  stream.repeat(*missed);
  if (open == nullptr) return stream.finish();
  const std::uint64_t before = stream.newest();
  if (open == &streams_.get()) deliver_kept();
  // Without an event id the client could not resume if it lost this connection too.
  const bool silent = nothing && stream.newest() == before;
  if (silent) streams_.prime(stream);
  streams_.wrote();
  check_congestion();
}

void StreamableSession::connect(EventStream& stream, std::shared_ptr<http::Exchange> exchange) {
  exchange->when_gone(
      lifetime_.guard([this, number = stream.number(), which = exchange.get()] { lost(number, which); }));
  exchange->when_drained(lifetime_.guard([this] { drained(); }));
  stream.attach(std::move(exchange));
}

/// Not the end of the request: only a cancellation from its client is.
void StreamableSession::lost(std::uint64_t number, const http::Exchange* exchange) {
  EventStream* const stream = streams_.find(number);
  if (stream == nullptr || !stream->is(exchange)) return;
  stream->disconnect();
  const OpenPost* const post = streams_.post(number);
  if (post != nullptr && post->initialize) end_if_useless();
  drained();
}

// ---- flow control and the end

void StreamableSession::check_congestion() {
  if (!congested()) marks_.rose(streams_.queued());
}

void StreamableSession::drained() {
  if (congested()) report_drained(streams_.queued());
}

/// A session that was not initialized, or whose client does not know its id, cannot be used.
void StreamableSession::end_if_useless() {
  if (agreed_ && streams_.client_knows_id()) return;
  loop_.post(lifetime_.guard([this] {
    if (!closed_ && !exited_) session_->end(session::EndReason::ClientGone);
  }));
}

void StreamableSession::close(Close how) {
  if (std::exchange(closed_, true)) return;
  streams_.stop();
  const HttpRefusal over{404, wire::kServerLost, kSessionOver};
  const bool flushed = how == Close::Flushed;
  for (const auto& post : streams_.take_posts()) {
    EventStream& stream = post->stream;
    if (stream.connected() && !stream.begun()) {
      const std::string_view first = post->batch ? std::string_view() : post->awaited.front().id;
      refuse_post(stream.release().get(), over, first);
    } else if (flushed && stream.connected()) {
      for (std::size_t open = post->awaited.size(); open > 0; --open) {
        const std::string error =
            wire::error_message(post->awaited[open - 1].id, wire::kServerLost, kSessionOver);
        stream.deliver({error, nullptr}, Weight::Owed, open == 1 ? Then::Finish : Then::Continue);
      }
    }
  }
  if (flushed) streams_.get().finish();
  streams_.get().disconnect();
  while (const auto next = waiting_.pop()) {
    refuse_post(next->exchange.get(), over, next->posted.message.id());
  }
}

}  // namespace corral::transport
