// A legacy session over Streamable HTTP: many POSTs, at most one GET, one session. Every message of the
// server goes out on exactly one stream, and a client that lost it can ask for it again.
//
// A request goes: post → pass → pass_request → Session. Its answer comes back: Session → answer → Exchange.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/http_session.h"
#include "transport/session_streams.h"

namespace corral::transport {

class StreamableSession final : public HttpSession {
 public:
  /// `id` is the client's Mcp-Session-Id.
  StreamableSession(Loop& loop, std::string id, const HttpLimits& limits, Gone gone);
  ~StreamableSession() override;

  void begin(std::unique_ptr<session::Session> session) override;
  void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) override;
  /// A request whose client has hung up continues, but does not keep the session in use.
  std::size_t in_use() const override { return streams_.connected() + waiting_.size(); }
  bool owes() const override { return streams_.log().owes(); }

  /// GET: opens the stream for messages that belong to no POST or, with the id of the last event that the
  /// client received, continues the stream that was lost. A second GET replaces the first.
  void listen(std::shared_ptr<http::Exchange> exchange, std::string_view last_event_id);

  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  void answer(const wire::Message& message, std::string_view id) override;
  bool overflowing() const override { return streams_.queued() > limits_.queued; }
  void close(Close how) override;

 private:
  // What the client posts. A null exchange: the client did not wait.
  void take(WaitingPost post) override { pass(std::move(post.exchange), post.posted); }
  void pass(std::shared_ptr<http::Exchange> exchange, const Posted& posted);
  void pass_request(std::shared_ptr<http::Exchange> exchange, const Posted& posted);
  void take_batch(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted);
  void pass_batch(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted,
                  std::vector<OpenPost::Awaited> asked, const std::vector<std::string>& cancelled);
  bool refuse_beyond_limits(http::Exchange* exchange, const std::vector<OpenPost::Awaited>& asked);
  OpenPost& open_post(std::shared_ptr<http::Exchange> exchange, std::vector<OpenPost::Awaited> awaited);
  void cancel(std::string_view request);

  // Messages of the server.
  void send_line(const wire::Line& line);
  void answer_message(const wire::Message& message);
  void give_answer(OpenPost& post, const wire::Message& message);
  void refuse_whole_batch(const wire::Line& line);
  void place(const wire::Message& message);
  void forget(const OpenPost& post);

  // Streams and their clients.
  void resume_stream(std::shared_ptr<http::Exchange> exchange, EventId after);
  void connect(EventStream& stream, std::shared_ptr<http::Exchange> exchange);
  void deliver_kept();
  void lost(std::uint64_t number, const http::Exchange* exchange);
  void check_congestion();
  void drained();

  void end_if_useless();

  SessionStreams streams_;
  std::string* refusal_ = nullptr;  // set while a batch is processed: receives the reason if it is refused
  bool agreed_ = false;             // it was initialized
};

}  // namespace corral::transport
