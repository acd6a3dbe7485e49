// What one client is owed: its handshake, its answers, its end. Validates every message before a server sees
// it. Ends exactly once, through `end`.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/loop.h"
#include "bridge/bridge.h"
#include "pool/pool.h"
#include "router/session_port.h"
#include "session/deferred.h"
#include "session/transport.h"
#include "wire/message.h"

namespace corral::session {

enum class EndReason : std::uint8_t {
  InputClosed,   // the client closed our input, and has its answers
  OutputClosed,  // the client no longer reads
  ClientGone,    // the client's process died
  ShimGone,      // the program that stands for us was ended
  ServerEnded,   // there is nobody left to ask
  SlowReader,    // answers piled up beyond all bounds
  ShuttingDown,  // the daemon leaves
  SessionEnded,  // somebody ended the session object that it belongs to
  Removed,       // the server is no longer configured
  Deleted,       // the client said so, over HTTP
  Expired,       // nobody used it, over HTTP
};
const char* reason_name(EndReason reason);

struct SessionCounters {
  std::uint64_t messages = 0;
  std::uint64_t bad_messages = 0;
};

class Session final : public router::SessionPort, private bridge::Outlet {
 public:
  /// The transport owns the session, and lets go of it some time after `exit`.
  Session(Loop& loop, router::SessionId id, Transport& transport, pool::Pool& pool,
          std::shared_ptr<const pool::ServerSpec> wanted, std::string owner = {});
  ~Session() override;

  // from the transport
  void receive(const wire::Message& message);
  void receive_oversized(const std::string& id, std::size_t bytes);
  /// No more input; what was asked before is still answered, within bounds.
  void input_ended();
  void output_drained();

  using WhenGone = std::function<void(const pool::InstanceEnd* gone)>;
  /// `when_gone` is called once: with the instance that ended with the session, when its tree is gone, or
  /// with null if none did.
  void end(EndReason reason, const WhenGone& when_gone = {});
  /// The configuration has changed: from its next instance on the session speaks to this one.
  void redefine(std::shared_ptr<const pool::ServerSpec> wanted);
  /// The configuration has lost the server: the session ends when its calls are answered, within bounds.
  void withdraw(std::string why);
  bool ended() const { return ended_; }
  /// Why it has ended, in one word.
  const char* reason() const { return reason_; }

  router::SessionId session() const override { return id_; }
  Account* account() const override { return wanted_->account; }
  bool of_several_programs() const override { return transport_.of_several_programs(); }
  const std::string& owner() const override { return owner_; }
  knowledge::Era era() const override { return era_; }
  const std::string& introduction() const override { return params_; }
  /// "new", "opening", "ready", "lazy" (no process before its first call), "parked" (none until the next),
  /// "returning" (waits for one)
  const char* state() const;
  /// It has not asked for anything yet, or was greeted from a manifest, and its first call needs an instance
  /// of its own.
  bool will_want_instance() const;
  /// Whether a request of a modern client with other capabilities may come to it: its instance was told of
  /// none, or there is no instance yet.
  bool takes_any_client() const;
  /// Whether its client waits for something.
  bool awaited() const;
  /// When something last passed between it and its client.
  Clock::time_point last_heard() const { return last_heard_; }
  router::SessionId id() const { return id_; }
  const std::string& server() const { return server_; }
  /// The text of the last tools/list result that is known of its server, until something new is learned;
  /// empty if none is.
  std::string_view known_tools() const;
  const router::Router* router() const { return router_; }
  /// Whether its instance is one of several sessions; nothing as long as it is not known.
  std::optional<bool> shares() const { return shared_; }
  const std::string& client_info() const {
    return client_info_;
  }  // JSON, as the client said it; may be empty
  Clock::time_point since() const { return since_; }
  const SessionCounters& counters() const { return counters_; }
  std::uint64_t dropped() const { return transport_.dropped(); }

 private:
  enum class Phase : std::uint8_t {
    New,
    Opening,
    Ready,
    Away,       // it has no instance, until the next call
    Returning,  // it waits for one
  };

  void opened(const router::Opened& opened) override;
  void deliver(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  void answer(const wire::Message& message, std::string_view id) override;
  bool congested() const override { return transport_.congested(); }
  void server_drained() override;
  void error_output(std::string_view bytes) override { transport_.error_output(bytes); }
  void note(const std::string& sentence) override { transport_.note(sentence); }
  void instance_left(router::Departure departure, const std::string& why) override;
  void instance_ended(const instance::Ending& ending) override;
  bool goes_on() const override { return !input_ended_; }
  QuestionId next_question() override { return questions_.next(); }
  void subscription(const std::string& uri, bool agreed) override;
  bool subscribed() const override { return !standing_.uris.empty(); }
  void list_given(router::ListKind kind, std::size_t digest) override;
  void list_now(router::ListKind kind, std::size_t digest) override;
  void list_changed(router::ChangedList list) override;
  std::vector<router::ListKind> lists_given() const override;

  /// What only an instance can answer is the caller's to keep until there is one.
  enum class Taken : std::uint8_t { Yes, NeedsInstance };
  void receive_one(const wire::Message& message);
  bool cancel_unsent(const wire::Message& message);
  void defer(const wire::Message& message);
  Taken take(const wire::Message& message);
  Taken take_request(const wire::Message& message);
  void take_opening(Deferred::Entry opening);
  void take_first_request(const wire::Message& message);
  bool answer_here(const wire::Message& message);
  bool refuse_long_words(const wire::Message& message);
  bool keep_introduction(const wire::Message& message, std::size_t bytes);
  bool refuse_subscription(const wire::Message& message);
  bool weigh_subscriptions();
  void take_batch(const wire::Line& line);
  void open(knowledge::Era era, const wire::Message& message);
  void opened_ready(const router::Opened& opened);
  void begin_anew();

  // without an instance
  void attach_lazily(const pool::Known& known);
  bool answer_from_manifest(const wire::Message& message);
  void answer_early();
  bool answer_early_list(const wire::Message& message);
  void give_list(std::string_view id, router::ListKind kind, std::string_view method, std::string_view result,
                 knowledge::Era server_era, std::string_view handshake);

  // across the eras
  void meet(const router::Opened& opened);
  void cross();
  void to_client(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  void check_reader();
  void to_server(const wire::Message& message) override;
  void pass_to_server(const wire::Message& message);
  void to_router(const wire::Message& message);
  void watch_bridge();
  void end_bridge();
  std::string discovered(std::string_view handshake, knowledge::Era server_era) const;
  void come_back();
  std::optional<bool> side() const;
  void came_back(const router::Opened& opened);
  void stayed_away(const std::string& why);
  void tell_of_return();
  bool must_wait(const wire::Message& message) const;
  void remember(const wire::Message& message);
  void opening_failed(std::string_view id, const router::Opened& opened);
  void answer_initialize(std::string_view id, const std::string& result, knowledge::Era server_era,
                         bool shared);
  void server_gone(int code, const std::string& why);
  void take_deferred();
  void reject(std::string_view id, int code, std::string_view message, std::string_view data = {});
  void refuse_bad_message(const wire::Message& message);
  bool waits_enough();
  void pace();
  void end_when_answered();
  void answer_all(const std::string& why);
  void reject_deferred(int code, const std::string& why);

  Loop& loop_;
  router::SessionId id_;
  Transport& transport_;
  pool::Pool& pool_;
  std::shared_ptr<const pool::ServerSpec> wanted_;
  std::string server_;
  Phase phase_ = Phase::New;
  knowledge::Era era_ = knowledge::Era::Legacy;
  router::Router* router_ = nullptr;
  std::unique_ptr<Deferred::Entry> opening_;  // the message that opened the session, until it is answered
  bool opening_cancelled_ =
      false;            // its client wants no answer to it any more; the server is opened all the same
  std::string params_;  // of its initialize, or what a modern client says in its place
  enum class Crossing : std::uint8_t { None, ModernToLegacy, LegacyToModern, ToOlder };
  Crossing crossing_ = Crossing::None;
  std::unique_ptr<bridge::Bridge> bridge_;  // unless client and server speak alike
  Timer bridge_timer_;
  bool early_ = false;        // it was greeted before its server was there
  bool only_greeted_ = true;  // a modern client that has asked for nothing but server/discover
  std::optional<bool> shared_;
  bool met_ = false;  // it has had an instance
  router::Standing standing_;
  std::array<std::optional<std::size_t>, router::kListKinds> lists_{};  // digests of what the client has seen
  std::string absence_;    // why it lost its last instance; empty = it never did
  std::string refusal_;    // why it gets none; while the calls that wait for one are answered
  std::string withdrawn_;  // why it ends with its instance; empty = it does not
  std::string version_;    // agreed on with a legacy client
  std::string client_info_;
  Account::Held introduction_;   // the bytes of what the client said of itself
  Account::Held subscriptions_;  // and of what it wants to hear of
  Deferred deferred_;
  struct Received {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };
  Received received_;
  std::optional<Received> full_since_;  // when enough waited for a server
  IdSource<QuestionId> questions_;
  Timer patience_;
  SessionCounters counters_;
  Clock::time_point since_ = Clock::now();
  Clock::time_point last_heard_ = Clock::now();
  const std::string owner_;
  bool input_ended_ = false;
  bool server_lost_ = false;
  bool told_congested_ = false;
  const char* reason_ = "server-ended";
  bool ended_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace corral::session
