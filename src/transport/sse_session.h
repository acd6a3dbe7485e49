// A session over HTTP+SSE, the transport of 2024-11-05: one stream to the client, a POST for every message
// from it. The session ends with the stream.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "transport/http_session.h"

namespace corral::transport {

class SseSession final : public HttpSession {
 public:
  /// `endpoint` is the URL that the client posts to, with the session id.
  SseSession(Loop& loop, std::shared_ptr<http::Exchange> stream, std::string endpoint,
             const HttpLimits& limits, Gone gone);
  ~SseSession() override;

  void begin(std::unique_ptr<session::Session> session) override;
  void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) override;
  std::size_t in_use() const override { return stream_ ? 1 : 0; }

  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  bool overflowing() const override { return queued() > limits_.queued; }
  void close(Close how) override;

 private:
  void take(WaitingPost post) override { pass(post.exchange.get(), post.posted); }
  void pass(http::Exchange* exchange, const Posted& posted);
  void write(std::string_view name, const wire::Line& data);
  void keep_alive();
  void lost();
  std::size_t queued() const { return stream_ ? stream_->queued() : 0; }

  std::shared_ptr<http::Exchange> stream_;  // null: closed
  const std::string endpoint_;
  Timer timer_;
  Clock::time_point last_written_{};
};

}  // namespace corral::transport
