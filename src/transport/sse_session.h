// A session over HTTP+SSE, the transport of 2024-11-05: one stream to the client, a POST for every message
// from it. The session ends with the stream.
#pragma once

#include "transport/http_session.h"

namespace corral::transport {

class SseSession final : public HttpSession {
 public:
  /// `endpoint` is the URL that the client posts to, with the session id. `loop` must outlive the session.
  SseSession(Loop& loop, std::shared_ptr<http::Exchange> stream, std::string endpoint,
             const HttpLimits& limits, Gone gone);
  ~SseSession() override;

  void begin(std::unique_ptr<session::Session> session) override;
  session::Session& session() override;
  void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) override;
  std::size_t in_use() const override;

  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  bool overflowing() const override;
  bool congested() const override;
  void pause() override;
  void resume() override;
  void error_output(std::string_view bytes) override;
  void close(Close how) override;
  void exit(int code, const std::string& why) override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::transport
