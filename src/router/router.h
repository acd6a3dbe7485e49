// Passes messages between one instance and its sessions: gives every call an id that is unique on the
// server's side, and every answer to the session that made the call. Never passes one session's answer,
// progress, log message or question to another session. Owned by the pool.
//
// The path of a call is in router.cc, in both directions. Everything else is in parts that own their state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "base/loop.h"
#include "instance/instance.h"
#include "router/admission.h"
#include "router/attached_sessions.h"
#include "router/audience.h"
#include "router/deadlines.h"
#include "router/health_watch.h"
#include "router/last_words.h"
#include "router/learner.h"
#include "router/list_watch.h"
#include "router/news.h"
#include "router/own_listen.h"
#include "router/own_requests.h"
#include "router/pending_calls.h"
#include "router/questions.h"
#include "router/request_rules.h"
#include "router/router_options.h"
#include "router/session_port.h"
#include "router/standing_requests.h"

namespace corral::router {

/// Whether a client reads what is sent to it.
enum class ClientPace : std::uint8_t { Reads, Slow };

class Router final : public instance::Instance::Events {
 public:
  /// Follows the life of the instance. The slot implements it; it owns the router and outlives it. The router
  /// calls it on the loop's thread. Each of these functions may call the router and end the instance. None of
  /// them may destroy the router: that happens in a later turn of the loop.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// The server wrote this to stderr. Called for all of it; once the router is open, sessions get it from
    /// the router as well.
    virtual void on_error_output(Router& router, std::string_view bytes) = 0;
    /// Sessions may attach. Called at most once, and not after `on_unusable`.
    virtual void on_open(Router& router) = 0;
    /// No session may attach: the handshake failed, or the server is not what was known about it.
    virtual void on_unusable(Router& router) = 0;
    /// After `drain`: no call is left. Called from the loop, not from within the call that brought the last
    /// answer.
    virtual void on_calls_finished(Router& router) = 0;
    /// The server does not answer probes. It still runs.
    virtual void on_hung(Router& router) = 0;
    /// The server will send nothing more. Every call was answered with `why`; the sessions are still
    /// attached.
    virtual void on_server_lost(Router& router, const LastWords& why) = 0;
    /// The process tree has ended. Always the last call.
    virtual void on_instance_ended(Router& router, const instance::TreeEnd& ending) = 0;
  };

  /// What the instance is used for.
  struct Activity {
    std::size_t calls = 0;  // that wait for their answer
    bool in_use =
        false;  // it has a call, an open listen, a subscription, or a question that waits for its client
    Clock::time_point last_used;
  };

  Router(Loop& loop, RouterOptions options, Listener& listener, Learner& learner);

  /// Starts the process, whose messages have the framing of `make_channel`. Call once, before any other
  /// function.
  Result<void> start(proc::Spawner& spawner, const proc::LaunchSpec& spec, std::size_t line_cap,
                     const instance::JournalEntry& entry = {},
                     wire::ChannelMaker make_channel = wire::make_line_pipe);
  /// Begins the handshake. Call once; ends with `on_open`, `on_unusable` or `on_server_lost`.
  void open(const instance::Opening& opening);

  /// Call after `on_open`. The session detaches before it is destroyed.
  void attach(SessionPort& port);
  /// Tells the instance what the session told the last one, and compares what both list. After `attach`.
  void restore(SessionPort& port, const Standing& standing);
  /// Cancels every call of the session, which receives nothing more.
  void detach(SessionPort& port);
  /// Answers every call of the session with an error.
  void give_up_calls(SessionPort& port, int code, const std::string& sentence);

  /// A message of a session's client. May call the session back, with an error, before it returns.
  void from_client(SessionPort& port, const wire::Message& message);
  /// A slow client makes a private server wait, but never a shared one.
  void client_pace(SessionPort& port, ClientPace pace);
  /// Tells the listens of this session that asked for it that the list has changed.
  void tell_listens(SessionPort& port, ChangedList list) { news_.tell_listens(port, list); }

  /// Sessions should keep back new calls; `on_calls_finished` reports when the others are answered.
  void drain();
  bool draining() const { return draining_; }
  void stop(instance::Instance::Haste haste);

  const RouterOptions& options() const { return options_; }
  const RouterCounters& counters() const { return counters_; }
  const AttachedSessions& sessions() const { return sessions_; }
  const Admission& admission() const { return admission_; }
  const HealthWatch& health() const { return health_; }
  Questions& questions() { return questions_; }
  /// Null before `start`.
  const instance::Instance* instance() const { return instance_.get(); }
  Activity activity() const;
  /// How many calls of the session wait for their answer.
  std::size_t calls_of(const SessionPort& port) const {
    return calls_.awaited(port.id()) + standing_.waiting(port.id());
  }

 private:
  void on_opened() override;
  void on_message(const wire::Message& message) override;
  void on_lost_answer(const instance::LostAnswer& lost) override;
  void on_error_output(std::string_view bytes) override;
  void on_drained() override;
  void on_server_lost(const std::string& sentence) override;
  void on_ended(const instance::TreeEnd& ending) override;

  // From a session to the server.
  void request(SessionPort& port, const wire::Message& message);
  void forward(SessionPort& port, const wire::Message& message, Purpose purpose);
  void notification(SessionPort& port, const wire::Message& message);

  // From the server to a session.
  void answer(const wire::Message& message);
  void answer_session(SessionPort& port, const Call& call, const wire::Message& message);
  void answer_own(const Call& call, const wire::Message& message);
  void fail(const Call& call, int code, const std::string& sentence);

  void act_on(Admission::Verdict verdict);
  void call_finished();
  Clock::time_point expire();

  Loop& loop_;
  const RouterOptions options_;
  Listener& listener_;
  Learner& learner_;
  RouterCounters counters_;
  AttachedSessions sessions_;
  PendingCalls calls_;
  Deadlines deadlines_;
  OwnRequests own_;
  const Ask ask_;  // own_.ask, for the parts
  RequestRules rules_;
  Admission admission_;
  Audience audience_;
  HealthWatch health_;
  ListWatch lists_;
  OwnListen listen_;
  Questions questions_;
  StandingRequests standing_;
  News news_;
  Clock::time_point last_used_ = Clock::now();
  bool lost_ = false;
  bool draining_ = false;
  bool paused_ = false;                           // because the client does not read
  std::unique_ptr<instance::Instance> instance_;  // ends before the parts that it calls
  Lifetime lifetime_;
};

}  // namespace corral::router
