#include "transport/session_streams.h"

#include <algorithm>
#include <utility>

#include "http/sse.h"

namespace corral::transport {
namespace {

// For connections that broke without the client noticing; a client that reconnects later starts over.
constexpr std::chrono::minutes kSentIsKept{5};

/// Notifications that belong to no call.
bool is_general_news(std::string_view method) {
  return method == "notifications/tools/list_changed" || method == "notifications/prompts/list_changed" ||
         method == "notifications/resources/list_changed" || method == "notifications/resources/updated";
}

}  // namespace

SessionStreams::SessionStreams(Loop& loop, std::string session_id, const HttpLimits& limits)
    : loop_(loop), session_id_(std::move(session_id)), limits_(limits), log_(limits.replay) {}

// ---- POSTs

OpenPost& SessionStreams::open(std::vector<OpenPost::Awaited> awaited) {
  posts_.push_back(std::make_unique<OpenPost>(++last_stream_, log_, loop_.now()));
  posts_.back()->awaited = std::move(awaited);
  return *posts_.back();
}

void SessionStreams::forget(const OpenPost& post) {
  std::erase_if(posts_, [&](const auto& one) { return one.get() == &post; });
  if (posts_.empty()) posts_.shrink_to_fit();
}

std::vector<std::unique_ptr<OpenPost>> SessionStreams::take_posts() { return std::exchange(posts_, {}); }

OpenPost* SessionStreams::awaiting(std::string_view request) {
  for (const auto& post : posts_) {
    for (const OpenPost::Awaited& one : post->awaited) {
      if (one.id == request) return post.get();
    }
  }
  return nullptr;
}

OpenPost* SessionStreams::with_token(std::string_view token) {
  for (const auto& post : posts_) {
    for (const OpenPost::Awaited& one : post->awaited) {
      if (one.token == token) return post.get();
    }
  }
  return nullptr;
}

OpenPost* SessionStreams::post(std::uint64_t stream) {
  for (const auto& post : posts_) {
    if (post->stream.number() == stream) return post.get();
  }
  return nullptr;
}

OpenPost* SessionStreams::batch() {
  const auto found = std::find_if(posts_.begin(), posts_.end(), [](const auto& post) { return post->batch; });
  return found == posts_.end() ? nullptr : found->get();
}

std::size_t SessionStreams::open_requests() const {
  std::size_t open = 0;
  for (const auto& post : posts_) open += post->awaited.size();
  return open;
}

// ---- streams

EventStream* SessionStreams::find(std::uint64_t number) {
  if (number == 0) return &get_;
  OpenPost* const found = post(number);
  return found != nullptr ? &found->stream : nullptr;
}

/// A connected stream is preferred to one that may be resumed.
EventStream* SessionStreams::stream_for(std::string_view method) {
  if (get_.connected() && is_general_news(method)) return &get_;
  EventStream* newest = nullptr;
  std::size_t connected = 0;
  for (const auto& post : posts_) {
    if (!post->stream.connected()) continue;
    newest = &post->stream;
    ++connected;
  }
  if (connected == 1) return newest;
  if (get_.connected()) return &get_;
  if (connected > 0) return newest;
  return posts_.size() == 1 && posts_[0]->stream.resumable() ? &posts_[0]->stream : nullptr;
}

http::Header SessionStreams::session_header() {
  client_knows_id_ = true;
  return {"Mcp-Session-Id", session_id_};
}

void SessionStreams::begin(OpenPost& post) {
  http::Headers headers = http::event_stream_headers();
  if (post.initialize) headers.push_back(session_header());
  begin(post.stream, std::move(headers));
}

void SessionStreams::begin_get() { begin(get_, http::event_stream_headers()); }

void SessionStreams::begin(EventStream& stream, http::Headers headers) {
  stream.begin(std::move(headers));
  prime(stream);
  wrote();
}

void SessionStreams::prime(EventStream& stream) {
  if (primes_) stream.prime(std::chrono::duration_cast<std::chrono::milliseconds>(limits_.retry));
}

std::size_t SessionStreams::queued() const {
  std::size_t bytes = get_.queued();
  for (const auto& post : posts_) bytes += post->stream.queued();
  return bytes;
}

std::size_t SessionStreams::connected() const {
  const auto posts =
      std::count_if(posts_.begin(), posts_.end(), [](const auto& post) { return post->stream.connected(); });
  return static_cast<std::size_t>(posts) + (get_.connected() ? 1 : 0);
}

// ---- time

void SessionStreams::stop() {
  stopped_ = true;
  timer_.reset();
}

/// One timer for all streams. Checking too early costs little, so an answer need not cancel its own deadline.
void SessionStreams::wake_at(Clock::time_point at) {
  if (stopped_ || (timer_ && timer_->running() && due_ <= at)) return;
  if (!timer_) timer_ = std::make_unique<Timer>(loop_);
  due_ = at;
  timer_->start(at - Clock::now(), [this] { tick(); });
}

void SessionStreams::tick() {
  const auto now = Clock::now();
  std::optional<Clock::time_point> next = keep_alive(get_, now);
  const auto sooner = [&](std::optional<Clock::time_point> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  for (const auto& post : posts_) {
    EventStream& stream = post->stream;
    if (stream.connected() && !stream.begun()) {
      const auto held_until = post->since + limits_.hold;
      if (held_until > now) {
        sooner(held_until);
        continue;
      }
      begin(*post);
      if (!primes_) stream.comment();
    }
    sooner(keep_alive(stream, now));
  }
  log_.forget_sent_before(now - kSentIsKept);
  if (const auto oldest = log_.oldest_sent()) sooner(*oldest + kSentIsKept);
  timer_.reset();
  if (next) wake_at(*next);
}

/// Writes a comment to a stream that was silent for long. Returns when to check again.
std::optional<Clock::time_point> SessionStreams::keep_alive(EventStream& stream, Clock::time_point now) {
  if (!stream.connected() || !stream.begun()) return std::nullopt;
  if (stream.last_written() + limits_.alive > now) return stream.last_written() + limits_.alive;
  if (stream.queued() == 0) stream.comment();  // otherwise the client is not reading
  return now + limits_.alive;
}

}  // namespace corral::transport
