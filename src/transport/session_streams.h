// The streams of one legacy HTTP session: one for each POST that waits for answers, and one for messages that
// belong to no POST, across all GETs of the client. Decides which stream a message takes, and keeps silent
// streams alive. Passive, except for its timer: the session connects the streams, writes to them and hears of
// their ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.h"
#include "http/message.h"
#include "transport/event_log.h"
#include "transport/event_stream.h"
#include "transport/http_limits.h"

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

class SessionStreams {
 public:
  /// `session_id` is the client's Mcp-Session-Id. `loop` must outlive the streams.
  SessionStreams(Loop& loop, std::string session_id, const HttpLimits& limits);
  SessionStreams(const SessionStreams&) = delete;

  // POSTs. A pointer to one is valid until it is forgotten.
  OpenPost& open(std::vector<OpenPost::Awaited> awaited);
  void forget(const OpenPost& post);
  /// For the end of the session.
  std::vector<std::unique_ptr<OpenPost>> take_posts();
  /// The POST that waits for the answer to this request, in JSON text; null if none does.
  OpenPost* awaiting(std::string_view request);
  /// The POST whose progress has this token, in JSON text.
  OpenPost* with_token(std::string_view token);
  /// The POST with this stream.
  OpenPost* post(std::uint64_t stream);
  /// The oldest open batch; null if there is none.
  OpenPost* batch();
  std::size_t open_requests() const;

  // Streams. Number 0 is that of the GETs.
  EventStream& get() { return get_; }
  EventStream* find(std::uint64_t number);
  /// For a message that belongs to no single request. Null: kept until a client listens.
  EventStream* stream_for(std::string_view method);
  EventLog& log() { return log_; }
  const EventLog& log() const { return log_; }

  /// Starts the event stream of a POST, with the id of the session if it is the initialize request.
  void begin(OpenPost& post);
  void begin_get();
  /// If the revision has events without a message: gives the client an id to resume the stream with.
  void prime(EventStream& stream);
  /// The negotiated revision has such events.
  void allow_priming() { primes_ = true; }

  /// The header that tells the client the id of the session.
  http::Header session_header();
  /// Whether the client may have received it.
  bool client_knows_id() const { return client_knows_id_; }

  /// A client waits for the status line of this POST: starts the stream if no answer is there in time.
  void hold(const OpenPost& post) { wake_at(post.since + limits_.hold); }
  /// Something was written: keeps the stream alive from now on.
  void wrote() { wake_at(Clock::now() + limits_.alive); }
  /// Nothing is kept alive from now on.
  void stop();

  /// The bytes that clients have not read. Complete answers are counted by their connection.
  std::size_t queued() const;
  std::size_t connected() const;

 private:
  void begin(EventStream& stream, http::Headers headers);
  void wake_at(Clock::time_point at);
  void tick();
  std::optional<Clock::time_point> keep_alive(EventStream& stream, Clock::time_point now);

  Loop& loop_;
  const std::string session_id_;
  const HttpLimits limits_;
  EventLog log_;
  EventStream get_{0, log_};
  std::vector<std::unique_ptr<OpenPost>> posts_;  // oldest first
  std::uint64_t last_stream_ = 0;
  std::unique_ptr<Timer> timer_;  // while a stream needs attention
  Clock::time_point due_{};
  bool primes_ = false;
  bool client_knows_id_ = false;
  bool stopped_ = false;
};

}  // namespace corral::transport
