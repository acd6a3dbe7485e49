// What a client posts to a legacy session, message by message.
#include <algorithm>
#include <utility>

#include "transport/streamable_impl.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"

namespace corral::transport {
namespace {

OpenPost::Awaited awaited_of(const wire::Message& message) {
  return {std::string(message.id()), std::string(message.progress_token())};
}

void accept_post(http::Exchange* exchange) {
  if (exchange == nullptr) return;
  http::Response accepted;
  accepted.status = 202;
  exchange->reply(std::move(accepted));
}

}  // namespace

void StreamableSession::Impl::post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  const std::string_view request = posted.message.id();
  if (closed) {
    return refuse_post(exchange.get(), 404, wire::kServerLost,
                       "the session has ended: start a new one with initialize", request);
  }
  if (!paused && waiting.empty()) return take(std::move(exchange), posted);
  if (const auto cancelled = waiting.take_cancelled(posted)) {
    if (cancelled->exchange) {
      cancelled->exchange->begin(200, http::event_stream_headers());
      cancelled->exchange->finish();
    }
    return accept_post(exchange.get());
  }
  if (waiting.full(limits.waiting)) {
    return refuse_post_for_now(exchange.get(), 503,
                               "the server has not caught up with this session's messages: try again later",
                               request);
  }
  if (!waiting.push(exchange, posted, session->account())) {
    return refuse_post_for_now(exchange.get(), 503, session->account()->objection(Good::Bytes), request);
  }
  exchange->when_gone([weak = weak_from_this(), which = exchange.get()] {
    if (const auto self = weak.lock()) self->waiting.lose(which);
  });
}

/// Not from within `resume`, because the session is on the stack.
void StreamableSession::Impl::take_waiting() {
  loop.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    while (self && !self->paused && !self->closed) {
      std::optional<WaitingPost> next = self->waiting.pop();
      if (!next) return;
      self->take(std::move(next->exchange), next->posted);
    }
  });
}

void StreamableSession::Impl::take(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  const auto self = shared_from_this();
  switch (posted.message.kind()) {
    case wire::Kind::Request: return take_request(std::move(exchange), posted);
    case wire::Kind::Notification:
    case wire::Kind::Response:
      session->receive(posted.message);
      if (posted.message.has_request_id()) cancel(posted.message.request_id());
      return accept_post(exchange.get());
    case wire::Kind::Batch: return take_batch(exchange, posted);
    case wire::Kind::NotRpc:
    case wire::Kind::NotJson:
      refuse_post(exchange.get(), 400, wire::kInvalidRequest,
                  "Invalid Request: " + std::string(posted.message.fault()), posted.message.id());
  }
}

void StreamableSession::Impl::take_request(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  std::vector<OpenPost::Awaited> asked{awaited_of(posted.message)};
  if (refuse_beyond_bounds(exchange.get(), asked)) return;
  OpenPost& post = open_post(std::move(exchange), std::move(asked));
  post.initialize = posted.message.method() == "initialize";
  session->receive(posted.message);
  check_congestion();
}

/// With two open requests of the same id it would be unknown which one an answer belongs to.
bool StreamableSession::Impl::refuse_beyond_bounds(http::Exchange* exchange,
                                                   const std::vector<OpenPost::Awaited>& asked) {
  std::size_t open = asked.size();
  for (const auto& post : posts) open += post->awaited.size();
  const std::string_view first = asked.size() == 1 ? std::string_view(asked[0].id) : "";
  if (open > limits.open_requests) {
    refuse_post_for_now(exchange, 429,
                        "this session has too many requests open: wait for some of their answers", first);
    return true;
  }
  for (auto one = asked.begin(); one != asked.end(); ++one) {
    const bool twice =
        std::any_of(asked.begin(), one, [&](const OpenPost::Awaited& other) { return other.id == one->id; });
    if (!twice && awaiting(one->id) == nullptr) continue;
    refuse_post(exchange, 400, wire::kInvalidRequest,
                "Invalid Request: a request with this id is already open in this session: use another id",
                first);
    return true;
  }
  return false;
}

OpenPost& StreamableSession::Impl::open_post(std::shared_ptr<http::Exchange> exchange,
                                             std::vector<OpenPost::Awaited> awaited) {
  posts.push_back(std::make_unique<OpenPost>(++last_stream, log, loop.now()));
  OpenPost& post = *posts.back();
  post.awaited = std::move(awaited);
  if (exchange) {
    connect(post.stream, std::move(exchange));
    wake_at(post.since + limits.hold);
  }
  return post;
}

/// A batch is passed on as a whole or not at all, so that an error without an id can only mean all of it.
void StreamableSession::Impl::take_batch(const std::shared_ptr<http::Exchange>& exchange,
                                         const Posted& posted) {
  const auto elements = wire::array_elements(posted.message.text(), wire::kMostInBatch);
  std::vector<OpenPost::Awaited> asked;
  std::vector<std::string> cancelled;
  const char* fault = nullptr;
  if (!elements || elements->empty()) fault = "an empty batch";
  if (elements && elements->size() > wire::kMostInBatch) fault = "a batch of more than 256 messages";
  for (std::size_t i = 0; fault == nullptr && i < elements->size(); ++i) {
    const wire::Message one((*elements)[i].in(posted.message.text()));
    switch (one.kind()) {
      case wire::Kind::Request: asked.push_back(awaited_of(one)); break;
      case wire::Kind::Notification:
        if (one.has_request_id()) cancelled.emplace_back(one.request_id());
        break;
      case wire::Kind::Response: break;
      case wire::Kind::Batch: fault = "a batch inside a batch"; break;
      case wire::Kind::NotRpc:
      case wire::Kind::NotJson: fault = one.fault();
    }
  }
  if (fault != nullptr) {
    return refuse_post(exchange.get(), 400, wire::kInvalidRequest, "Invalid Request: " + std::string(fault));
  }
  if (refuse_beyond_bounds(exchange.get(), asked)) return;
  pass_batch(exchange, posted, std::move(asked), cancelled);
}

/// The session decides whether its revision has batches.
void StreamableSession::Impl::pass_batch(const std::shared_ptr<http::Exchange>& exchange,
                                         const Posted& posted, std::vector<OpenPost::Awaited> asked,
                                         const std::vector<std::string>& cancelled) {
  const bool asks = !asked.empty();
  std::uint64_t number = 0;
  if (asks) {
    OpenPost& post = open_post(exchange, std::move(asked));
    post.batch = true;
    number = post.stream.number();
  }
  std::string refused;
  refusal = &refused;
  session->receive(posted.message);
  refusal = nullptr;
  OpenPost* post = asks ? numbered(number) : nullptr;
  if (!refused.empty()) {
    if (post != nullptr) forget(*post);
    http::Response response;
    response.status = 400;
    response.headers = {{"Content-Type", "application/json"}};
    response.body = std::move(refused);
    if (exchange) exchange->reply(std::move(response));
    return;
  }
  for (const std::string& request : cancelled) cancel(request);
  if (!asks) accept_post(exchange.get());
  check_congestion();
}

/// No answer follows. If the server sends one anyway, it is dropped.
void StreamableSession::Impl::cancel(std::string_view request) {
  OpenPost* post = awaiting(request);
  if (post == nullptr || post->initialize) return;
  std::erase_if(post->awaited, [&](const OpenPost::Awaited& one) { return one.id == request; });
  if (!post->awaited.empty()) return;
  if (post->stream.connected() && !post->stream.begun()) post->stream.begin(http::event_stream_headers());
  post->stream.end();
  forget(*post);
}

}  // namespace corral::transport
