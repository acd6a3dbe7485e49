// The modern requests of one principal to one server, as one session. The modern era has no sessions
// over HTTP, so corral decides which requests belong together. Requests of different programs may have the
// same ids and tokens: inside they get ours, and their answers go out with their own.
#pragma once

#include "transport/http_session.h"

namespace corral::transport {

class ModernSession final : public HttpSession {
 public:
  /// Whose requests these are. With one program, the server waits for a slow reader and nothing is lost. With
  /// several, none waits for another: a slow reader loses notifications, but not answers.
  enum class Programs : std::uint8_t { One, Several };
  ModernSession(Loop& loop, const HttpLimits& limits, Gone gone, Programs programs = Programs::Several);
  ~ModernSession() override;

  void begin(std::unique_ptr<session::Session> session) override;
  session::Session& session() override;
  /// A closed connection cancels the request.
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
