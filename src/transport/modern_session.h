// The modern requests of one principal to one server, as one session: the revision 2026-07-28 has none over
// HTTP, so what belongs together is ours to say. Requests of different programs may carry the same ids and
// tokens: inside they get ours, and their answers go out with their own.
#pragma once

#include "transport/http_session.h"

namespace corral::transport {

class ModernSession final : public HttpSession {
 public:
  /// Whose requests these are. One program that does not read is waited for, and nothing of its server is
  /// lost. Where several meet none waits for another: one that does not read loses news, not answers.
  enum class Programs : std::uint8_t { One, Several };
  ModernSession(Loop& loop, const HttpLimits& limits, Gone gone, Programs programs = Programs::Several);
  ~ModernSession() override;

  void begin(std::unique_ptr<session::Session> session) override;
  session::Session& session() override;
  /// The client's end of the exchange cancels the request.
  void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) override;
  std::size_t in_use() const override;
  std::uint64_t dropped() const override;

  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  void answer(const wire::Message& message, std::string_view id) override;
  bool overflowing() const override;
  bool congested() const override;
  void pause() override;
  void resume() override;
  void error_output(std::string_view bytes) override;
  bool of_several_programs() const override;
  void close(Close how) override;
  void exit(int code, const std::string& why) override;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace corral::transport
