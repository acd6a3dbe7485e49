// The endpoint's view of every HTTP session, and what all of them have in common: the session that they
// serve, the posts that wait for it, the flow control and the end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "base/loop.h"
#include "http/exchange.h"
#include "session/session.h"
#include "session/transport.h"
#include "transport/http_limits.h"
#include "transport/posted.h"
#include "transport/waiting_posts.h"
#include "transport/water_marks.h"

namespace corral::transport {

/// Owned by the endpoint, which may destroy it from `Gone` or when none of its functions is on the stack.
/// Exchanges and tasks may outlive it: every callback that it hands out is guarded by `lifetime_`.
class HttpSession : public session::Transport {
 public:
  using Gone = std::function<void(HttpSession&)>;

  /// `gone` is called once, from the loop, when the session needs nothing more; it may destroy the session.
  /// `loop` must outlive the session.
  HttpSession(Loop& loop, const HttpLimits& limits, Gone gone);
  HttpSession(const HttpSession&) = delete;

  /// Call once, before anything else.
  virtual void begin(std::unique_ptr<session::Session> session) { session_ = std::move(session); }
  session::Session& session() { return *session_; }

  /// A client posted this. The exchange is answered, now or later.
  virtual void post(std::shared_ptr<http::Exchange> exchange, const Posted& posted) = 0;
  /// The number of open streams and requests; if it is not 0, the session is in use.
  virtual std::size_t in_use() const = 0;
  /// Whether it holds answers or questions for a client that may reconnect.
  virtual bool owes() const { return false; }

  bool congested() const final { return marks_.congested(); }
  std::uint64_t dropped() const final { return dropped_; }
  void pause() final { paused_ = true; }
  void resume() final;
  void exit(int code, const std::string& why) override;
  /// HTTP has no channel for notes, so it is logged: each once, within the log quota of its principal.
  void note(const std::string& sentence) final;
  void error_output(std::string_view) final {}  // HTTP has no channel for it

 protected:
  /// Accepts a post that waited.
  virtual void take(WaitingPost post) = 0;

  /// Whether a post must wait, so that the server gets the messages in order.
  bool must_wait() const { return paused_ || !waiting_.empty(); }
  /// Queues a post of a session with one client, or refuses it.
  void queue(const std::shared_ptr<http::Exchange>& exchange, const Posted& posted);
  /// Accepts waiting posts when the session is not on the stack any more.
  void take_waiting_soon();
  /// Tells the session that its client reads again.
  void report_drained(std::size_t queued);
  /// For destructors: the session may call its transport until it is destroyed.
  void destroy_session();

  Loop& loop_;
  const HttpLimits limits_;
  std::unique_ptr<session::Session> session_;
  WaitingPosts waiting_;
  WaterMarks marks_;
  std::uint64_t dropped_ = 0;  // messages of the server that no client received
  bool paused_ = false;        // the session accepts no messages at the moment
  bool closed_ = false;        // no message passes any more
  bool exited_ = false;        // `exit` was called: only `gone` is left to do

 private:
  void take_waiting();

  Gone gone_;
  std::string last_note_;
  bool taking_soon_ = false;

 protected:
  Lifetime lifetime_;
};

}  // namespace corral::transport
