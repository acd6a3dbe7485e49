// The implementation of modern_client: the client's side is in modern_client.cc, the server's in
// modern_client_server.cc, and suspended calls are in modern_client_suspended.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bridge/listens.h"
#include "bridge/modern_client.h"
#include "bridge/modern_request.h"
#include "bridge/open_calls.h"
#include "bridge/to_modern.h"

namespace corral::bridge {

class ModernClient : public Bridge {
 public:
  ModernClient(Outlet& outlet, ModernClientOptions options);

  void from_client(const wire::Message& message, Clock::time_point now) override;
  void from_server(const wire::Message& message, Clock::time_point now) override;
  void instance_changed(std::string_view handshake) override;
  void client_ended() override;
  std::optional<Clock::time_point> next_deadline() const override { return calls_.next_due(); }
  void expire(Clock::time_point now) override;

 private:
  // A message to the server may bring an answer before the call returns, so no pointer into calls_ is used
  // after one.

  void request(const wire::Message& message, Clock::time_point now);
  void forward(const wire::Message& message, const ModernRequest& request);
  void cancelled(const wire::Message& message);
  void client_notification(const wire::Message& message);

  void answer(UpId id, const wire::Message& message, Clock::time_point now);
  void deliver(Call call, const wire::Message& message, Clock::time_point now);
  void deliver_error(Call call, const wire::Message& message, Clock::time_point now);
  void progress(const wire::Message& message);
  void log_line(const wire::Message& message);
  void server_notification(const wire::Message& message);

  void question(const wire::Message& message, Clock::time_point now);
  std::optional<UpId> cause_of(Ask ask, Clock::time_point now);
  void refuse(Ask ask, std::string_view question_id, Clock::time_point now);
  void fail(UpId id, Ask ask);
  void add_question(UpId id, Question question, Clock::time_point now);
  bool room_for(const Call& call, std::size_t bytes);
  std::string free_key(const Call& call, std::string wished);
  void wants_urls(Call call, std::string_view error, Clock::time_point now);
  void tell(UpId id, Clock::time_point now);
  void retry(const wire::Message& message, const ModernRequest& request, Clock::time_point now);
  std::string fault_of_retry(const Call* call, const ModernRequest& request) const;
  std::vector<std::string> take_responses(Call& call, std::string_view responses);
  void resumed(UpId id, const std::vector<std::string>& responses, Clock::time_point now);
  void deliver_kept(UpId id, Clock::time_point now);
  void tell_missed_progress(Call& call);
  void keep(Call& call, const wire::Message& message);
  void give_up(UpId id, std::string_view why);
  void cancel_at_server(UpId id, std::string_view why);
  void dismiss(const std::vector<Question>& questions);
  void dismiss_orphans();
  void pass_on(std::vector<Question> questions, Clock::time_point now);

  void tell_level();
  void to_client(const std::string& message) { outlet_.to_client({message, nullptr}); }
  void refuse_request(const wire::Message& request, int code, std::string_view why);

  Outlet& outlet_;
  std::string name_;  // of the server, for messages
  Clock::duration suspension_;
  LegacyServer server_;
  IdSource<UpId> ids_;
  std::uint64_t next_key_ = 1;
  OpenCalls calls_;
  Listens listens_;
  std::optional<wire::LogLevel> told_level_;
  bool ended_ = false;
  Clock::time_point now_{};  // the last time that was passed in
};

}  // namespace corral::bridge
