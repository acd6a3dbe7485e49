// What one client is owed: its handshake, its answers, its end. Validates every message before a server sees
// it. Ends exactly once, through `end`.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/loop.h"
#include "router/session_port.h"
#include "router/switchboard.h"
#include "session/transport.h"
#include "wire/envelope.h"

namespace corral::session {

enum class EndReason : std::uint8_t {
  InputClosed,   // the client closed our input, and has its answers
  OutputClosed,  // the client no longer reads
  ClientGone,    // the client's process died
  ShimGone,      // the program that stands for us was ended
  ServerEnded,   // there is nobody left to ask
  SlowReader,    // answers piled up beyond all bounds
  ShuttingDown,  // the daemon leaves
};
const char* reason_name(EndReason reason);

struct SessionCounters {
  std::uint64_t messages = 0;
  std::uint64_t bad_messages = 0;
};

class Session final : public router::SessionPort {
 public:
  /// The transport owns the session, and lets go of it some time after `exit`.
  Session(Loop& loop, router::SessionId id, Transport& transport, router::Switchboard& switchboard,
          std::shared_ptr<const router::Wanted> wanted);
  ~Session() override;

  // from the transport
  void receive(const wire::Line& line);
  void receive_oversized(const std::string& id, std::size_t bytes);
  /// No more input; what was asked before is still answered, within bounds.
  void input_ended();
  void output_drained();

  void end(EndReason reason);
  bool ended() const { return ended_; }

  router::SessionId session() const override { return id_; }
  router::SessionId id() const { return id_; }
  const std::string& server() const { return server_; }
  const router::Router* router() const { return router_; }
  const std::string& client_info() const {
    return client_info_;
  }  // JSON, as the client said it; may be empty
  Clock::time_point since() const { return since_; }
  const SessionCounters& counters() const { return counters_; }

 private:
  enum class Phase : std::uint8_t { New, Opening, Ready };

  void opened(const router::Opened& opened) override;
  void deliver(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  bool congested() const override { return transport_.congested(); }
  void server_drained() override;
  void error_output(std::string_view bytes) override { transport_.error_output(bytes); }
  void note(const std::string& sentence) override { transport_.note(sentence); }
  void instance_ended(const server::Ending& ending) override;

  void take(const wire::Line& line, const wire::Envelope& envelope);
  void take_request(const wire::Line& line, const wire::Envelope& envelope);
  void take_first_request(const wire::Line& line, const wire::Envelope& envelope);
  bool answer_here(const wire::Line& line, const wire::Envelope& envelope);
  void take_batch(const wire::Line& line);
  void open(server::Era era, const wire::Line& line, const wire::Envelope& envelope);
  void opened_ready(const router::Opened& opened);
  void opened_in_other_era();
  void opening_failed(std::string_view id, const router::Opened& opened);
  void answer_initialize(std::string_view id, const std::string& result);
  void server_gone(int code, const std::string& why);
  void take_deferred();
  void reject(std::string_view id, int code, std::string_view message, std::string_view data = {});
  void refuse_bad_message(const wire::Line& line, const wire::Envelope& envelope);
  void pace();
  void end_when_answered();
  void answer_all(const std::string& why);

  Loop& loop_;
  router::SessionId id_;
  Transport& transport_;
  router::Switchboard& switchboard_;
  std::shared_ptr<const router::Wanted> wanted_;  // until the session is open
  std::string server_;
  Phase phase_ = Phase::New;
  server::Era era_ = server::Era::Legacy;
  router::Router* router_ = nullptr;
  std::string opening_;  // the message that opened the session, until it is answered
  std::string version_;  // that the client asked for
  std::string client_info_;
  std::deque<std::string> deferred_;  // what came while the server was being opened
  std::size_t deferred_bytes_ = 0;
  Timer patience_;
  SessionCounters counters_;
  Clock::time_point since_ = Clock::now();
  bool input_ended_ = false;
  bool server_lost_ = false;
  bool told_congested_ = false;
  bool ended_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace corral::session
