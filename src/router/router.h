// Carries the messages between one instance and its sessions: gives every call an id of ours and every answer
// its caller, and never one session's answer, progress, log line or question to another. The only place that
// knows both sides. Owned by the pool.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "base/loop.h"
#include "instance/health.h"
#include "instance/instance.h"
#include "router/last_words.h"
#include "router/log_levels.h"
#include "router/pending_calls.h"
#include "router/questions.h"
#include "router/session_port.h"
#include "router/subscriptions.h"
#include "router/tool_list.h"

namespace corral::router {

/// What a router must know about its server.
struct RouterOptions {
  std::string server;                                 // its name, for messages
  bool shared = false;                                // several sessions may attach
  bool confirm_read_only = false;                     // before it is opened to anyone
  bool confirm_modern = false;                        // likewise
  std::function<bool(std::string_view)> allows_tool;  // empty = all
  Clock::duration call_timeout = std::chrono::hours(1);
  Clock::duration probe{};       // of a silent server; zero = never
  bool answers_probes = false;   // an earlier instance did
  std::string min_version = {};  // an older server is unfit; empty = none is
};

struct RouterCounters {
  std::uint64_t calls = 0;
  std::uint64_t answers = 0;
  std::uint64_t unknown_answers = 0;    // to an id that nobody waits for
  std::uint64_t late_answers = 0;       // to a call that was cancelled
  std::uint64_t dropped_news = 0;       // notifications that belong to nobody, or whose reader is slow
  std::uint64_t dropped_log_lines = 0;  // of which no single session can be the cause
  std::uint64_t kept_error_bytes = 0;   // of stderr, likewise: they are only in the log of the server
  std::uint64_t misleading = 0;         // messages that a server might read in another way than we do
  std::uint64_t refused_questions = 0;
  std::uint64_t dropped_replies = 0;  // to a server that asks and does not read
  std::uint64_t timeouts = 0;
  std::uint64_t lost_answers = 0;  // over the line cap
  std::uint64_t missed_probes = 0;
};

std::optional<ListKind> list_kind_of(std::string_view method);
/// Of the list in the result of such a request, whatever else stands there.
std::size_t list_digest(ListKind kind, std::string_view result);

/// Learns from what the server sends. The router calls it on the loop thread, while it handles the message.
/// Outlives the router. It must not end the instance, and must not call the router.
class Learner {
 public:
  virtual ~Learner() = default;
  /// The server listed all of its tools. Only the first page counts, and only if there is no other.
  virtual void on_tools(ToolEffects effects) = 0;
  /// A shared server sent a request to its client, which it was told not to do.
  virtual void on_question() = 0;
  /// The server answered with this list. It may show another one to clients that introduce themselves
  /// differently from `port`'s.
  virtual void on_list(const SessionPort& port, ListKind kind, std::string_view result) = 0;
  /// The server says that this list has changed: what is known about it is out of date.
  virtual void on_list_changed(ChangedList list) = 0;
  /// The server answered a probe for the first time.
  virtual void on_probe_answered() = 0;
};

class Router final : public instance::Instance::Events {
 public:
  /// Follows the life of the instance. The slot implements it; it owns the router and outlives it. The router
  /// calls it on the loop thread. It may call the router, and end the instance, from any of these functions;
  /// it must not destroy the router in them, only in a later turn of the loop.
  class Listener {
   public:
    virtual ~Listener() = default;
    /// The server wrote this to stderr. Called for all of it; once the router is open, sessions get it from
    /// the router as well.
    virtual void on_error_output(Router& router, std::string_view bytes) = 0;
    /// Sessions may attach. Called once, and never after `on_unusable`.
    virtual void on_open(Router& router) = 0;
    /// No session may attach: the handshake failed, or the server is not what was known about it.
    virtual void on_unusable(Router& router) = 0;
    /// After `drain`: the last call is answered. In a turn of its own.
    virtual void on_calls_finished(Router& router) = 0;
    /// The server does not answer probes. It still runs.
    virtual void on_hung(Router& router) = 0;
    /// The server will send nothing more. Every call was answered with `why`; the sessions are still
    /// attached.
    virtual void on_server_lost(Router& router, const LastWords& why) = 0;
    /// The process tree has ended. Always the last call.
    virtual void on_instance_ended(Router& router, const instance::Ending& ending) = 0;
  };

  Router(Loop& loop, RouterOptions options, Listener& listener, Learner& learner);
  ~Router() override;

  /// Call once, before anything else.
  Result<void> start(proc::Spawner& spawner, const proc::LaunchSpec& spec, std::size_t line_cap,
                     const instance::JournalEntry& entry = {});

  /// Begins the handshake, once.
  void open(const instance::Opening& opening);

  /// Call it when the router is open.
  void attach(SessionPort& port);
  /// Tells the instance what the session had told the one before, and compares what it lists.
  void restore(SessionPort& port, const Standing& standing);
  /// Every call of the session is cancelled; it hears nothing more.
  void detach(SessionPort& port);
  /// Sessions should keep back new calls; the owner hears when the others are answered.
  void drain();
  /// A private instance goes: whoever works on an answer for it need not.
  void take_back_questions();
  /// Why its version is not to be used; empty = it may be.
  const std::string& objection() const { return objection_; }
  bool opened() const { return opened_; }
  bool draining() const { return draining_; }
  /// Nothing more comes from the client of a private instance: its questions are answered without it, because
  /// calls that wait for them would hold the end of the session.
  void client_silent(SessionPort& port);

  /// Tells the listens of this session that asked for it that the list is another one now.
  void tell_listens(SessionPort& port, ChangedList list);

  /// Answers every call of the session with an error.
  void give_up_calls(SessionPort& port, int code, const std::string& sentence);

  /// A request, notification or response of a session; anything else is ignored.
  void from_client(SessionPort& port, const wire::Message& message);
  void request(SessionPort& port, const wire::Message& message);
  void notification(SessionPort& port, const wire::Message& message);
  void response(SessionPort& port, const wire::Message& message);

  /// The server does not take more: the session should stop reading until `server_drained`.
  bool congested() const { return instance_ && instance_->congested(); }
  /// A slow client holds up a private server, never a shared one.
  void session_congested(SessionPort& port, bool congested);

  void stop(instance::Instance::Haste haste);

  const RouterOptions& options() const { return options_; }
  const RouterCounters& counters() const { return counters_; }
  const instance::Instance* instance() const { return instance_.get(); }
  const std::map<SessionId, SessionPort*>& sessions() const { return sessions_; }
  /// A copy: what is told to one session may end another. Look each of them up before it is used.
  std::vector<SessionId> session_ids() const;
  /// Null if it is not attached, or is gone.
  SessionPort* port_of(SessionId session) const;
  std::size_t calls() const { return calls_.awaited(); }
  std::size_t calls_of(const SessionPort& port) const {
    return calls_.awaited(port.id()) + subscriptions_.waiting(port.id());
  }
  /// Work in flight, an open listen, an open subscription, a question that waits for its client.
  bool in_use() const;
  Clock::time_point last_used() const { return last_used_; }
  bool unhealthy() const { return health_ && health_->unhealthy(); }
  /// Confirmed to be another server than we believed: whoever came for it must ask anew.
  bool refuted() const { return refuted_; }

 private:
  void on_opened() override;
  void on_message(const wire::Message& message) override;
  void on_lost_answer(const instance::LostAnswer& lost) override;
  void on_error_output(std::string_view bytes) override;
  void on_drained() override;
  void on_lost(const std::string& sentence) override;
  void on_ended(const instance::Ending& ending) override;

  // towards the server
  void forward(SessionPort& port, const wire::Message& message, Purpose purpose);
  CallId ask(std::string_view method, std::string_view params, Call call);
  void cancel_up(CallId up_id, std::string_view reason);
  void cancelled_by_client(SessionPort& port, const wire::Message& message);
  void subscribe(SessionPort& port, const wire::Message& message);
  void unsubscribe(SessionPort& port, const wire::Message& message);
  void set_level(SessionPort& port, const wire::Message& message);
  void tell_unsubscribed(const std::string& uri, SessionId on_behalf_of);
  void tell_level(LogLevel level, SessionId on_behalf_of);
  void level_told();
  bool refuse_tool(SessionPort& port, const wire::Message& message);
  bool misleads(const wire::Message& message);
  bool asks_without_id(std::string_view method);

  // towards the sessions
  void answer(const wire::Message& message);
  void answer_call(const Call& call, const wire::Message& message);
  void answer_own(const Call& call, const wire::Message& message);
  void answer_tools(SessionPort& port, const Call& call, const wire::Message& message);
  void question(const wire::Message& message);
  void answer_for_client(std::string_view id, QuestionKind kind);
  void news(const wire::Message& message);
  void progress(const wire::Message& message);
  void cancelled_by_server(const wire::Message& message);
  void subscribed_news(const wire::Message& message);
  SessionPort* cause_of_words(Causes which) const;
  void log_message(const wire::Message& message);
  void batch(const wire::Line& line);
  void deliver_to_all(const std::vector<SessionId>& sessions, const wire::Message& message);
  void deliver_news(SessionPort& port, const wire::Message& message,
                    std::initializer_list<wire::Edit> edits = {});
  void fail(const Call& call, int code, const std::string& sentence);
  void fit();
  void refute();
  void pay_owed_news(SessionPort& port);
  void call_finished();
  LastWords last_words(const std::string& why) const;
  void has_asked(const SessionPort& port);
  void watch_deadline(Clock::time_point deadline);
  void reply(const std::string& message);
  void expire();
  SessionPort* only_session() const;

  // how the server fares
  void watch_health(Clock::duration after);
  void look_at_health();
  void probe();
  void compare_list(SessionPort& port, ListKind kind);
  void compared(const Call& call, std::string_view result);
  void forget_compared(ChangedList list);
  std::size_t digest_of(ListKind kind, std::string_view result) const;
  bool modern() const { return instance_->handshake().era() == knowledge::Era::Modern; }
  void learn(const SessionPort& port, ListKind kind, std::string_view result);

  // on behalf of clients that know no listen
  void listen_for_all();
  void listened(const wire::Message& message);

  Loop& loop_;
  RouterOptions options_;
  Listener& listener_;
  Learner& learner_;
  std::unique_ptr<instance::Instance> instance_;
  std::map<SessionId, SessionPort*> sessions_;       // those that are attached
  std::set<SessionId> ready_;                        // those that said notifications/initialized, or need not
  std::map<SessionId, std::set<ChangedList>> owed_;  // lists that changed while nobody read
  PendingCalls calls_;
  wire::PossibleCauses<SessionId> callers_;  // all that ever asked this instance something
  Questions questions_;
  bool client_silent_ = false;
  Subscriptions subscriptions_;
  std::deque<CallId> unsubscribes_;  // the last that we sent; most are answered
  LogLevels levels_;
  std::optional<LogLevel> level_asked_;                       // the server has not answered it yet
  std::optional<std::pair<LogLevel, SessionId>> next_level_;  // what it is to be told then, and for whom
  Timer deadlines_;
  Clock::time_point next_look_ = Clock::time_point::max();  // at the deadlines
  std::size_t replies_to_deaf_ = 0;  // short ones, queued for a server that does not read
  RouterCounters counters_;
  std::optional<instance::Health> health_;
  Timer health_timer_;
  std::uint64_t said_ = 0;  // messages of the server
  CallId probe_;            // our last question
  CallId listen_;           // our own; nobody's = none
  struct Listed {
    bool asked = false;
    std::optional<std::size_t> digest;
  };
  std::array<Listed, kListKinds> listed_{};  // what this instance shows, where that was compared
  Clock::time_point last_used_ = Clock::now();
  bool opened_ = false;
  bool lost_ = false;
  std::string objection_;
  bool draining_ = false;
  bool refuted_ = false;
  bool paused_ = false;  // by a client that does not read
  Lifetime lifetime_;
};

}  // namespace corral::router
