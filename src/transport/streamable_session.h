// A legacy session over Streamable HTTP: many POSTs, at most one GET, one session. Every message of the
// server goes out on exactly one stream, and a client that lost it can ask for it again.
#pragma once

#include "transport/http_session.h"

namespace corral::transport {

class StreamableSession final : public HttpSession {
 public:
  /// `id` is the client's Mcp-Session-Id. `gone` is called once, when nothing is left to do, and may destroy
  /// the session.
  StreamableSession(Loop& loop, std::string id, const HttpLimits& limits, Gone gone);
  ~StreamableSession() override;

  void begin(std::unique_ptr<session::Session> session) override;
  session::Session& session() override;
  void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) override;
  /// A request whose client has hung up continues, but does not keep the session in use.
  std::size_t in_use() const override;
  bool owes() const override;

  /// GET: opens the stream for messages that belong to no POST or, with the id of the last event that the
  /// client received, continues the stream that was lost. A second GET replaces the first.
  void listen(std::shared_ptr<http::Exchange> exchange, std::string_view last_event_id);

  /// The number of messages without a recipient.
  std::uint64_t dropped() const override;

  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  void answer(const wire::Message& message, std::string_view id) override;
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
