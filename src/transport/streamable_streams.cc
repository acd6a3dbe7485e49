// Which stream a message of the server takes, and how a client listens.
#include <algorithm>
#include <utility>

#include "transport/streamable_impl.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/revisions.h"

namespace corral::transport {
namespace {

using Weight = EventLog::Weight;

/// Notifications that belong to no call.
bool is_general_news(std::string_view method) {
  return method == "notifications/tools/list_changed" || method == "notifications/prompts/list_changed" ||
         method == "notifications/resources/list_changed" || method == "notifications/resources/updated";
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

// ---- messages of the server

void StreamableSession::Impl::send(const wire::Line& line) {
  if (closed) return;
  const auto self = shared_from_this();
  const wire::Message message(line);
  switch (message.kind()) {
    case wire::Kind::Response: answer(message); break;
    case wire::Kind::Request:
    case wire::Kind::Notification: place(message); break;
    default: ++dropped;
  }
  if (const std::size_t unseen = log.take_lost()) {
    dropped += unseen;
    owner.note("a client that was not listening lost " + std::to_string(unseen) +
               " questions or answers from server " + session->attachment().server());
  }
  check_congestion();
}

/// The usual end of a call: nothing was sent before, and the answer goes out without a copy. Returns false if
/// the call needs more.
bool StreamableSession::Impl::answer_alone(const wire::Message& message, std::string_view request) {
  OpenPost* const post = awaiting(request);
  if (closed || post == nullptr || post->batch || post->initialize) return false;
  if (!post->stream.connected() || post->stream.begun()) return false;
  const auto exchange = post->stream.release();
  forget(*post);
  exchange->reply_json(message.line(), {message.where().id, request});
  check_congestion();
  return true;
}

void StreamableSession::Impl::answer(const wire::Message& message) {
  if (!message.has_id()) return refuse_whole_batch(message.line());
  OpenPost* post = awaiting(message.id());
  if (post == nullptr) {
    ++dropped;  // it was cancelled
    return;
  }
  answer_post(*post, message);
}

void StreamableSession::Impl::refuse_whole_batch(const wire::Line& line) {
  if (refusal != nullptr) {
    *refusal = line.text;
    return;
  }
  const auto batch = std::find_if(posts.begin(), posts.end(), [](const auto& post) { return post->batch; });
  if (batch == posts.end()) {
    ++dropped;
    return;
  }
  if ((*batch)->stream.begun()) {
    (*batch)->stream.deliver(line, Weight::Owed, true);
  } else {
    (*batch)->stream.reply(answer_as_json(400, line));
  }
  forget(**batch);
}

void StreamableSession::Impl::answer_post(OpenPost& post, const wire::Message& message) {
  const std::string_view request = message.id();
  std::erase_if(post.awaited, [&](const OpenPost::Awaited& one) { return one.id == request; });
  const bool last = post.awaited.empty();
  const bool failed = message.has_error();
  if (post.initialize && !failed) {
    agreed = true;
    const auto version = wire::string_member(message.result(), "protocolVersion");
    const wire::Revision* const revision = wire::find_revision(version.value_or(""));
    primes = revision != nullptr && revision->primed_streams;
  }
  give_answer(post, message.line(), request, failed);
  if (!last) return;
  const bool initialize = post.initialize;
  forget(post);
  if (initialize) end_if_useless();
}

void StreamableSession::Impl::give_answer(OpenPost& post, const wire::Line& line, std::string_view request,
                                          bool failed) {
  EventStream& stream = post.stream;
  if (!stream.connected() && !stream.resumable()) {
    ++dropped;  // its client left before it received an event id
  } else if (!stream.begun() && !post.batch) {
    const bool second = post.initialize && failed && agreed;
    http::Response response = answer_as_json(second ? 400 : 200, line);
    if (post.initialize && !failed) {
      response.headers.push_back({"Mcp-Session-Id", id});
      known = true;
    }
    stream.reply(std::move(response));
  } else {
    if (!stream.begun()) begin_stream(stream, false);
    const bool too_much = !stream.connected() && line.text.size() > limits.replay / 2;
    const std::string instead =
        !too_much
            ? ""
            : wire::error_message(request, wire::kAnswerTooLarge,
                                  "the answer is larger than what is kept for a client that was disconnected "
                                  "when it arrived: ask again");
    stream.deliver(too_much ? wire::Line{instead, nullptr} : line, Weight::Owed, post.awaited.empty());
    wake_at(Clock::now() + limits.alive);
  }
}

void StreamableSession::Impl::place(const wire::Message& message) {
  const Weight weight = message.kind() == wire::Kind::Request ? Weight::Owed : Weight::News;
  OpenPost* about = message.has_direct_token() ? with_token(message.direct_token()) : nullptr;
  if (about != nullptr && !about->stream.connected() && !about->stream.resumable()) {
    ++dropped;  // no client waits for this progress
    return;
  }
  EventStream* stream = about != nullptr ? &about->stream : stream_for(message.method());
  if (stream == nullptr) return log.add({{}, message.line(), weight, false});
  const OpenPost* post = numbered(stream->number());
  if (stream->connected() && !stream->begun()) begin_stream(*stream, post != nullptr && post->initialize);
  stream->deliver(message.line(), weight, false);
  wake_at(Clock::now() + limits.alive);
}

OpenPost* StreamableSession::Impl::with_token(std::string_view token) {
  for (const auto& post : posts) {
    for (const OpenPost::Awaited& one : post->awaited) {
      if (one.token == token) return post.get();
    }
  }
  return nullptr;
}

/// For messages that belong to no single request. Null: kept until a client listens. A connected stream is
/// preferred to one that may be resumed.
EventStream* StreamableSession::Impl::stream_for(std::string_view method) {
  if (get.connected() && is_general_news(method)) return &get;
  EventStream* newest = nullptr;
  std::size_t connected = 0;
  for (const auto& post : posts) {
    if (!post->stream.connected()) continue;
    newest = &post->stream;
    ++connected;
  }
  if (connected == 1) return newest;
  if (get.connected()) return &get;
  if (connected > 0) return newest;
  return posts.size() == 1 && posts[0]->stream.resumable() ? &posts[0]->stream : nullptr;
}

OpenPost* StreamableSession::Impl::awaiting(std::string_view request) {
  for (const auto& post : posts) {
    for (const OpenPost::Awaited& one : post->awaited) {
      if (one.id == request) return post.get();
    }
  }
  return nullptr;
}

OpenPost* StreamableSession::Impl::numbered(std::uint64_t number) {
  for (const auto& post : posts) {
    if (post->stream.number() == number) return post.get();
  }
  return nullptr;
}

void StreamableSession::Impl::forget(const OpenPost& post) {
  std::erase_if(posts, [&](const auto& one) { return one.get() == &post; });
  if (posts.empty()) posts.shrink_to_fit();
  if (!congested) return;
  // From now on the connection counts what its client has not read, and it reports that to no session.
  // Posted, because the session is on the stack.
  loop.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->drained();
  });
}

// ---- listening

void StreamableSession::Impl::listen(std::shared_ptr<http::Exchange> exchange,
                                     std::string_view last_event_id) {
  const auto self = shared_from_this();
  if (closed) {
    return refuse_post(exchange.get(), 404, wire::kServerLost,
                       "the session has ended: start a new one with initialize");
  }
  if (!last_event_id.empty()) {
    const auto after = parse_event_id(last_event_id);
    // No sequence reaches this number.
    return resume_stream(std::move(exchange), after.value_or(EventId{0, ~std::uint64_t{0}}));
  }
  connect(get, std::move(exchange));
  begin_stream(get, false);
  deliver_kept();
  check_congestion();
}

/// A kept event gets its number now, after those that its client may have seen.
void StreamableSession::Impl::deliver_kept() {
  for (const EventLog::Event& event : log.take_kept()) get.deliver(event.line, event.weight, false);
}

void StreamableSession::Impl::resume_stream(std::shared_ptr<http::Exchange> exchange, EventId after) {
  OpenPost* post = numbered(after.stream);
  EventStream* open = after.stream == 0 ? &get : post != nullptr ? &post->stream : nullptr;
  const auto missed = log.later(after, open != nullptr ? std::optional(open->newest()) : std::nullopt);
  if (!missed) {
    return refuse_post(exchange.get(), 400, wire::kInvalidRequest,
                       "Last-Event-ID does not name an event to continue from, or the event is too old: "
                       "open a new stream without it, or start a new session with initialize");
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
  if (open == &get) deliver_kept();
  // Without an event id the client could not resume if it lost this connection too.
  const bool silent = nothing && stream.newest() == before;
  if (silent && primes) stream.prime(std::chrono::duration_cast<std::chrono::milliseconds>(limits.retry));
  wake_at(Clock::now() + limits.alive);
  check_congestion();
}

void StreamableSession::Impl::connect(EventStream& stream, std::shared_ptr<http::Exchange> exchange) {
  const std::weak_ptr<Impl> weak = weak_from_this();
  exchange->when_gone([weak, number = stream.number(), which = exchange.get()] {
    if (const auto self = weak.lock()) self->lost(number, which);
  });
  exchange->when_drained([weak] {
    if (const auto self = weak.lock()) self->drained();
  });
  stream.attach(std::move(exchange));
}

void StreamableSession::Impl::begin_stream(EventStream& stream, bool with_session_id) {
  http::Headers headers = http::event_stream_headers();
  if (with_session_id) {
    headers.push_back({"Mcp-Session-Id", id});
    known = true;
  }
  stream.begin(std::move(headers));
  if (primes) stream.prime(std::chrono::duration_cast<std::chrono::milliseconds>(limits.retry));
  wake_at(Clock::now() + limits.alive);
}

/// Not the end of the request: only a cancellation from its client is.
void StreamableSession::Impl::lost(std::uint64_t number, const http::Exchange* exchange) {
  OpenPost* post = numbered(number);
  EventStream* stream = number == 0 ? &get : post != nullptr ? &post->stream : nullptr;
  if (stream == nullptr || !stream->is(exchange)) return;
  stream->disconnect();
  if (post != nullptr && post->initialize) end_if_useless();
  drained();
}

}  // namespace corral::transport
