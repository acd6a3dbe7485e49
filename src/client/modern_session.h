// The modern requests of one principal to one server, as one session: the revision 2026-07-28 has none over
// HTTP, so what belongs together is ours to say. Requests of different programs may carry the same ids and
// tokens: inside they get ours, and their answers go out with their own.
#pragma once

#include "client/http_session.h"

namespace corral::client {

class ModernSession final : public HttpSession {
 public:
  ModernSession(Loop& loop, const HttpLimits& limits, Gone gone);
  ~ModernSession() override;

  void begin(std::unique_ptr<session::Session> session) override;
  session::Session& session() override;
  /// The client's end of the exchange cancels the request.
  void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) override;
  std::size_t in_use() const override;
  /// Messages of the server that belong to no request that is open.
  std::uint64_t dropped() const;

  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  void answer(const wire::Line& line, const wire::Envelope& envelope, std::string_view id) override;
  bool overflowing() const override;
  bool congested() const override;
  void pause() override;
  void resume() override;
  void error_output(std::string_view bytes) override;
  void note(const std::string& sentence) override;
  void close(Close how) override;
  void exit(int code, const std::string& why) override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::client
