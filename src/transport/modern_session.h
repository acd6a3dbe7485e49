// The modern requests of one principal to one server, as one session. The modern era has no sessions
// over HTTP, so corral decides which requests belong together. Requests of different programs may have the
// same ids and tokens: the server sees ids that corral issued, and the answers go out with the clients' own.
//
// A request goes: post → pass_request → Session. Its answer comes back: Session → answer → Exchange.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "transport/http_session.h"
#include "transport/modern_posts.h"

namespace corral::transport {

class ModernSession final : public HttpSession {
 public:
  using Programs = ModernPosts::Programs;
  ModernSession(Loop& loop, const HttpLimits& limits, Gone gone, Programs programs = Programs::Several);
  ~ModernSession() override;

  /// A closed connection cancels the request.
  void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) override;
  std::size_t in_use() const override { return posts_.size() + waiting_.size(); }

  void send(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  void answer(const wire::Message& message, std::string_view id) override;
  bool overflowing() const override { return posts_.queued() > limits_.queued; }
  bool of_several_programs() const override { return programs_ == Programs::Several; }
  void close(Close how) override;
  void exit(int code, const std::string& why) override;

 private:
  // From the clients.
  void take(WaitingPost post) override { pass_request(post.id, std::move(post.exchange), post.posted); }
  void pass_request(PostId id, std::shared_ptr<http::Exchange> exchange, const Posted& posted);
  void take_notification(http::Exchange& exchange, const Posted& posted);
  void hung_up(PostId id);
  /// Passes a message to the session; later, if the session is on the stack.
  void tell(const wire::Message& message);

  // To the clients.
  void route(const wire::Line& line, std::span<const wire::Edit> edits);
  void answer_request(const wire::Message& message, std::span<const wire::Edit> edits);
  /// `status` is used if nothing was sent for this request yet.
  void give_answer(const ModernPost& post, std::string text, int status);
  void notify(std::string text);
  void listen_cancelled(const wire::Message& message);
  void write(ModernPost& post, std::string text);
  void begin_stream(ModernPost& post);
  wire::Era server_era() const;

  // Clients that do not read.
  void check_pressure();
  void give_up(PostId id);
  void clients_read();

  void watch(Clock::duration after);
  void tick();

  const Programs programs_;
  ModernPosts posts_;
  IdSource<PostId> ids_;
  Timer timer_;
  Clock::time_point due_{};
  unsigned busy_ = 0;  // calls of or into the session that are on the stack
  bool some_behind_ = false;
};

}  // namespace corral::transport
