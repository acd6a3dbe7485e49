#include "transport/sse_session.h"

#include <algorithm>
#include <utility>

#include "http/sse.h"
#include "transport/waiting_posts.h"
#include "wire/error_codes.h"
#include "wire/line_pipe.h"

namespace corral::transport {

struct SseSession::Impl : std::enable_shared_from_this<Impl> {
  Impl(Loop& on, SseSession& of, std::shared_ptr<http::Exchange> down, std::string where,
       const HttpLimits& within, Gone when_gone)
      : loop(on),
        owner(of),
        stream(std::move(down)),
        endpoint(std::move(where)),
        limits(within),
        gone(std::move(when_gone)),
        timer(on) {}

  void begin();
  void post(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted);
  void take(const std::shared_ptr<http::Exchange>& exchange, const Posted& given);
  void take_waiting();
  static void accept(http::Exchange* exchange);
  void write(std::string_view name, const wire::Line& data);
  void keep_alive();
  void drained();
  void lost();
  void close(session::Transport::Close how);
  void leave();
  std::size_t queued() const { return stream ? stream->queued() : 0; }

  Loop& loop;
  SseSession& owner;
  std::shared_ptr<http::Exchange> stream;  // null: closed
  std::string endpoint;
  const HttpLimits limits;
  Gone gone;
  std::unique_ptr<session::Session> session;
  Timer timer;
  Clock::time_point last_written{};
  WaitingPosts waiting;
  bool paused = false;
  bool congested = false;
  bool left = false;
};

SseSession::SseSession(Loop& loop, std::shared_ptr<http::Exchange> stream, std::string endpoint,
                       const HttpLimits& limits, Gone gone)
    : impl_(std::make_shared<Impl>(loop, *this, std::move(stream), std::move(endpoint), limits,
                                   std::move(gone))) {}

SseSession::~SseSession() {
  impl_->left = true;
  impl_->close(Close::AtOnce);
  impl_->session.reset();
}

void SseSession::begin(std::unique_ptr<session::Session> session) {
  impl_->session = std::move(session);
  impl_->begin();
}
session::Session& SseSession::session() { return *impl_->session; }

void SseSession::post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  impl_->post(exchange, posted);
}

std::size_t SseSession::in_use() const { return impl_->stream ? 1 : 0; }

void SseSession::send(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  const bool edits_made =
      std::any_of(edits.begin(), edits.end(), [](const wire::Edit& edit) { return edit.where.present(); });
  if (!edits_made) return impl_->write("message", line);
  const auto owner =
      std::make_shared<const std::string>(wire::edited(line.text, {edits.begin(), edits.size()}));
  impl_->write("message", {*owner, owner});
}

bool SseSession::overflowing() const { return impl_->queued() > impl_->limits.queued; }
bool SseSession::congested() const { return impl_->congested; }
void SseSession::pause() { impl_->paused = true; }

void SseSession::resume() {
  impl_->paused = false;
  if (!impl_->waiting.empty()) impl_->take_waiting();
}

void SseSession::error_output(std::string_view) {}  // HTTP has no channel for it
void SseSession::close(Close how) { impl_->close(how); }
void SseSession::exit(int, const std::string&) { impl_->leave(); }

// ---- to the client

void SseSession::Impl::begin() {
  const std::weak_ptr<Impl> weak = weak_from_this();
  stream->when_gone([weak] {
    if (const auto self = weak.lock()) self->lost();
  });
  stream->when_drained([weak] {
    if (const auto self = weak.lock()) self->drained();
  });
  stream->begin(200, http::event_stream_headers());
  write("endpoint", {endpoint, nullptr});
  keep_alive();
}

void SseSession::Impl::write(std::string_view name, const wire::Line& data) {
  const auto down = stream;
  if (!down) return;
  last_written = Clock::now();
  http::write_event(*down, {{}, name, data, std::nullopt});
  if (down->queued() > wire::LinePipe::kHighWater) congested = true;
}

void SseSession::Impl::keep_alive() {
  if (!stream) return;
  const auto now = Clock::now();
  const bool silent = last_written + limits.alive <= now;
  if (silent) last_written = now;
  if (silent && stream->queued() == 0) http::write_comment(*stream);  // otherwise the client is slow
  timer.start(last_written + limits.alive - now, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->keep_alive();
  });
}

void SseSession::Impl::drained() {
  if (!congested || !stream || queued() >= wire::LinePipe::kLowWater) return;
  const auto self = shared_from_this();
  congested = false;
  session->output_drained();
}

// ---- from the client

void SseSession::Impl::post(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted) {
  const std::string_view request = posted.message.id();
  if (!stream) {
    return refuse_post(exchange.get(), 404, wire::kServerLost,
                       "the session ended with its stream: open a new one", request);
  }
  if (!paused && waiting.empty()) return take(exchange, posted);
  if (const auto cancelled = waiting.take_cancelled(posted)) {
    accept(cancelled->exchange.get());
    return accept(exchange.get());
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

void SseSession::Impl::accept(http::Exchange* exchange) {
  if (exchange == nullptr) return;
  http::Response accepted;
  accepted.status = 202;
  accepted.headers = {{"Content-Type", "text/plain"}};
  accepted.body = "Accepted";
  exchange->reply(std::move(accepted));
}

void SseSession::Impl::take(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted) {
  const auto self = shared_from_this();
  const bool bad =
      posted.message.kind() == wire::Kind::NotJson || posted.message.kind() == wire::Kind::NotRpc;
  if (bad) {
    return refuse_post(exchange.get(), 400, wire::kInvalidRequest,
                       "Invalid Request: " + std::string(posted.message.fault()), posted.message.id());
  }
  accept(exchange.get());
  session->receive(posted.message);
}

/// Not from within `resume`, because the session is on the stack.
void SseSession::Impl::take_waiting() {
  loop.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    while (self && !self->paused && self->stream) {
      const std::optional<WaitingPost> next = self->waiting.pop();
      if (!next) return;
      self->take(next->exchange, next->posted);
    }
  });
}

// ---- closing

/// The stream is the only way to the client, so the session ends. Posted, because the caller that wrote is on
/// the stack.
void SseSession::Impl::lost() {
  stream = nullptr;
  loop.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->left) return;
    self->close(session::Transport::Close::AtOnce);
    self->session->end(session::EndReason::OutputClosed);
  });
}

void SseSession::Impl::close(session::Transport::Close how) {
  timer.cancel();
  const auto down = std::exchange(stream, nullptr);
  if (down && how == session::Transport::Close::Flushed) down->finish();
  while (const auto next = waiting.pop()) {
    refuse_post(next->exchange.get(), 404, wire::kServerLost,
                "the session ended with its stream: open a new one", next->posted.message.id());
  }
}

void SseSession::Impl::leave() {
  if (std::exchange(left, true)) return;
  loop.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->gone(self->owner);
  });
}

}  // namespace corral::transport
