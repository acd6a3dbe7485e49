// The lifetime of a legacy session over Streamable HTTP, and its flow control.
#include "transport/streamable_session.h"

#include <algorithm>
#include <utility>

#include "transport/streamable_impl.h"
#include "wire/error_codes.h"
#include "wire/json_text.h"
#include "wire/line_pipe.h"

namespace corral::transport {
namespace {

// For connections that broke without the client noticing; a client that comes back later starts over.
constexpr std::chrono::minutes kSentIsKept{5};
constexpr const char* kSessionOver =
    "the session ended before this was answered: start a new one with initialize";

}  // namespace

StreamableSession::StreamableSession(Loop& loop, std::string id, const HttpLimits& limits, Gone gone)
    : impl_(std::make_shared<Impl>(loop, *this, std::move(id), limits, std::move(gone))) {}

StreamableSession::~StreamableSession() {
  impl_->closed = true;
  impl_->left = true;
  impl_->timer.reset();
  impl_->end_streams(Close::AtOnce);
  impl_->session.reset();
}

void StreamableSession::begin(std::unique_ptr<session::Session> session) {
  impl_->session = std::move(session);
  impl_->log.charge(impl_->session->account());
}
session::Session& StreamableSession::session() { return *impl_->session; }

void StreamableSession::post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) {
  impl_->post(std::move(exchange), posted);
}

std::size_t StreamableSession::in_use() const {
  const auto connected = std::count_if(impl_->posts.begin(), impl_->posts.end(),
                                       [](const auto& post) { return post->stream.connected(); });
  return static_cast<std::size_t>(connected) + impl_->waiting.size() + (impl_->get.connected() ? 1 : 0);
}

bool StreamableSession::owes() const { return impl_->log.owes(); }

void StreamableSession::listen(std::shared_ptr<http::Exchange> exchange, std::string_view last_event_id) {
  impl_->listen(std::move(exchange), last_event_id);
}

std::uint64_t StreamableSession::dropped() const { return impl_->dropped; }

void StreamableSession::send(const wire::Line& line, std::initializer_list<wire::Edit> edits) {
  const bool edits_made =
      std::any_of(edits.begin(), edits.end(), [](const wire::Edit& edit) { return edit.where.present(); });
  if (!edits_made) return impl_->send(line);
  std::string text = wire::edited(line.text, {edits.begin(), edits.size()});
  if (text.size() < wire::kWorthAnOwner) return impl_->send({text, nullptr});
  const auto owner = std::make_shared<const std::string>(std::move(text));
  impl_->send({*owner, owner});
}

void StreamableSession::answer(const wire::Message& message, std::string_view id) {
  if (!impl_->answer_alone(message, id)) send(message.line(), {{message.where().id, id}});
}

bool StreamableSession::overflowing() const { return impl_->queued() > impl_->limits.queued; }
bool StreamableSession::congested() const { return impl_->congested; }
void StreamableSession::pause() { impl_->paused = true; }

void StreamableSession::resume() {
  impl_->paused = false;
  if (!impl_->waiting.empty()) impl_->take_waiting();
}

void StreamableSession::error_output(std::string_view) {}  // HTTP has no channel for it

void StreamableSession::close(Close how) {
  if (std::exchange(impl_->closed, true)) return;
  impl_->timer.reset();
  impl_->end_streams(how);
}

void StreamableSession::exit(int, const std::string&) { impl_->leave(); }

// ---- flow control

std::size_t StreamableSession::Impl::queued() const {
  std::size_t bytes = get.queued();
  for (const auto& post : posts) bytes += post->stream.queued();
  return bytes;
}

void StreamableSession::Impl::check_congestion() {
  if (!congested && queued() > wire::LinePipe::kHighWater) congested = true;
}

void StreamableSession::Impl::drained() {
  if (!congested || closed || queued() >= wire::LinePipe::kLowWater) return;
  const auto self = shared_from_this();
  congested = false;
  session->output_drained();
}

// ---- time

/// One timer for all streams. Checking too early costs little, so an answer need not cancel its own deadline.
void StreamableSession::Impl::wake_at(Clock::time_point at) {
  if (closed || (timer && timer->running() && due <= at)) return;
  if (!timer) timer = std::make_unique<Timer>(loop);
  due = at;
  timer->start(at - Clock::now(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

void StreamableSession::Impl::tick() {
  const auto now = Clock::now();
  std::optional<Clock::time_point> next = look_after(get, now);
  const auto sooner = [&](std::optional<Clock::time_point> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  for (const auto& post : posts) {
    EventStream& stream = post->stream;
    if (stream.connected() && !stream.begun()) {
      const auto held_until = post->since + limits.hold;
      if (held_until > now) {
        sooner(held_until);
        continue;
      }
      begin_stream(stream, post->initialize);
      if (!primes) stream.comment();
    }
    sooner(look_after(stream, now));
  }
  log.forget_sent_before(now - kSentIsKept);
  if (const auto oldest = log.oldest_sent()) sooner(*oldest + kSentIsKept);
  timer.reset();
  if (next) wake_at(*next);
}

/// Writes a comment to a stream that was silent for long. Returns when to check again.
std::optional<Clock::time_point> StreamableSession::Impl::look_after(EventStream& stream,
                                                                     Clock::time_point now) {
  if (!stream.connected() || !stream.begun()) return std::nullopt;
  if (stream.last_written() + limits.alive > now) return stream.last_written() + limits.alive;
  if (stream.queued() == 0) stream.comment();  // otherwise the client is not reading
  return now + limits.alive;
}

// ---- closing

/// A session that was not initialized, or whose client does not know its id, cannot be used.
void StreamableSession::Impl::end_if_useless() {
  if (agreed && known) return;
  loop.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->closed && !self->left) self->session->end(session::EndReason::ClientGone);
  });
}

void StreamableSession::Impl::end_streams(session::Transport::Close how) {
  const bool flushed = how == session::Transport::Close::Flushed;
  for (auto& post : std::exchange(posts, {})) {
    EventStream& stream = post->stream;
    const std::string_view first = post->batch ? std::string_view() : post->awaited.front().id;
    if (stream.connected() && !stream.begun()) {
      const auto exchange = stream.release();
      refuse_post(exchange.get(), 404, wire::kServerLost, kSessionOver, first);
    } else if (flushed && stream.connected()) {
      for (std::size_t open = post->awaited.size(); open > 0; --open) {
        const std::string error =
            wire::error_message(post->awaited[open - 1].id, wire::kServerLost, kSessionOver);
        stream.deliver({error, nullptr}, EventLog::Weight::Owed, open == 1);
      }
    }
  }
  if (flushed) get.finish();
  get.disconnect();
  while (const auto next = waiting.pop()) {
    refuse_post(next->exchange.get(), 404, wire::kServerLost, kSessionOver, next->posted.message.id());
  }
}

void StreamableSession::Impl::leave() {
  if (std::exchange(left, true)) return;
  loop.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->gone(self->owner);
  });
}

}  // namespace corral::transport
