// The implementation of a StreamableSession: lifetime and flow control (streamable_session.cc), what its
// client posts (streamable_posts.cc), and the stream for each message of the server (streamable_streams.cc).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/event_stream.h"
#include "transport/streamable_session.h"
#include "transport/waiting_posts.h"

namespace corral::transport {

/// A POST that waits for answers.
struct OpenPost {
  struct Awaited {
    std::string id;     // JSON text
    std::string token;  // JSON text; empty = none
  };

  OpenPost(std::uint64_t number, EventLog& log, Clock::time_point now) : stream(number, log), since(now) {}

  EventStream stream;
  std::vector<Awaited> awaited;
  Clock::time_point since;
  bool batch = false;
  bool initialize = false;
};

struct StreamableSession::Impl : std::enable_shared_from_this<Impl> {
  Impl(Loop& on, StreamableSession& of, std::string named, const HttpLimits& within, Gone when_gone)
      : loop(on),
        owner(of),
        id(std::move(named)),
        limits(within),
        gone(std::move(when_gone)),
        log(within.replay) {}

  // What the client posts.
  void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted);
  void take(std::shared_ptr<http::Exchange> exchange, const Posted& posted);
  void take_request(std::shared_ptr<http::Exchange> exchange, const Posted& posted);
  void take_batch(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted);
  void pass_batch(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted,
                  std::vector<OpenPost::Awaited> awaited, const std::vector<std::string>& cancelled);
  bool refuse_beyond_bounds(http::Exchange* exchange, const std::vector<OpenPost::Awaited>& asked);
  OpenPost& open_post(std::shared_ptr<http::Exchange> exchange, std::vector<OpenPost::Awaited> awaited);
  void cancel(std::string_view request);
  void take_waiting();

  // Messages of the server.
  void send(const wire::Line& line);
  bool answer_alone(const wire::Message& message, std::string_view request);
  void answer(const wire::Message& message);
  void answer_post(OpenPost& post, const wire::Message& message);
  void give_answer(OpenPost& post, const wire::Line& line, std::string_view request, bool failed);
  void refuse_whole_batch(const wire::Line& line);
  void place(const wire::Message& message);
  EventStream* stream_for(std::string_view method);
  OpenPost* with_token(std::string_view token);
  OpenPost* awaiting(std::string_view request);
  OpenPost* numbered(std::uint64_t number);
  void forget(const OpenPost& post);

  // Streams.
  void listen(std::shared_ptr<http::Exchange> exchange, std::string_view last_event_id);
  void resume_stream(std::shared_ptr<http::Exchange> exchange, EventId after);
  void connect(EventStream& stream, std::shared_ptr<http::Exchange> exchange);
  void begin_stream(EventStream& stream, bool with_session_id);
  void deliver_kept();
  void lost(std::uint64_t number, const http::Exchange* exchange);

  // Lifetime and flow control.
  std::size_t queued() const;
  void check_congestion();
  void drained();
  void wake_at(Clock::time_point at);
  void tick();
  std::optional<Clock::time_point> look_after(EventStream& stream, Clock::time_point now);
  void end_if_useless();
  void end_streams(session::Transport::Close how);
  void leave();

  Loop& loop;
  StreamableSession& owner;
  const std::string id;
  const HttpLimits limits;
  Gone gone;
  std::unique_ptr<session::Session> session;
  std::vector<std::unique_ptr<OpenPost>> posts;  // oldest first
  EventLog log;
  EventStream get{0, log};  // for messages that belong to no POST, across all GETs
  std::uint64_t last_stream = 0;
  WaitingPosts waiting;
  std::unique_ptr<Timer> timer;  // while a stream needs attention
  Clock::time_point due{};
  std::string* refusal = nullptr;  // set while a batch is processed: receives the reason if it is refused
  std::uint64_t dropped = 0;       // messages without a recipient
  bool paused = false;
  bool congested = false;
  bool primes = false;  // the negotiated revision has events without a message
  bool agreed = false;  // it was initialized
  bool known = false;   // its client may know its id
  bool closed = false;
  bool left = false;
};

}  // namespace corral::transport
