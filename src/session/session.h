// One client's session with one server: passes messages to the server and answers back to the client, until
// it ends. Every message is checked before a server gets it.
//
// The path of a message: receive → handle → take → pass_to_server → Router. The path of an answer: Router →
// answer → Transport. treatment.cc decides what happens to a message, `Attachment` knows the instance,
// `Opening` has the handshake, `Deferred` the messages that wait, `Crossing` the bridge between revisions,
// `SessionEnd` the end.
//
// Used on the loop's thread. Transport, pool and router call it; the session calls them from within these
// calls.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/lifetime.h"
#include "base/loop.h"
#include "pool/pool.h"
#include "router/session_port.h"
#include "session/attachment.h"
#include "session/crossing.h"
#include "session/deferred.h"
#include "session/end_reason.h"
#include "session/opening.h"
#include "session/session_end.h"
#include "session/transport.h"
#include "session/treatment.h"
#include "wire/message.h"

namespace corral::session {

class Session final : public router::SessionPort, private bridge::Outlet {
 public:
  /// The transport owns the session and destroys it some time after `Transport::exit`, never from within a
  /// call of the session. Transport, pool and loop outlive it.
  Session(Loop& loop, SessionId id, Transport& transport, pool::Pool& pool,
          std::shared_ptr<const pool::ServerSpec> spec, std::string owner = {});

  // Called by the transport.
  void receive(const wire::Message& message);
  void receive_oversized(const std::string& id, std::size_t bytes);
  /// The client sends nothing more. Its open requests are still answered, for a limited time.
  void input_ended();
  void output_drained();

  using WhenEnded = SessionEnd::WhenEnded;
  /// Ends the session, as `SessionEnd::end` says.
  void end(EndReason reason, const WhenEnded& when_ended = {}) { end_.end(reason, when_ended); }
  /// The server was removed from the configuration: the session ends when its calls are answered.
  void withdraw(std::string why);

  bool ended() const { return end_.ended(); }
  const SessionRecord& record() const { return record_; }
  Attachment& attachment() { return attachment_; }
  const Attachment& attachment() const { return attachment_; }
  /// Whether its client waits for an answer.
  bool awaited() const;
  /// The last known tools/list result of its server; may be empty. Valid until something new is learned.
  std::string_view known_tools() const {
    return pool_.known_tools({attachment_.spec(), client_.introduction, attachment_.shares()});
  }

 private:
  // Called by the pool and the router.
  void opened(const router::Opened& opened) override;
  void instance_lost(router::Departure departure, const std::string& why) override;
  void instance_ended(const instance::TreeEnd& ending) override {
    end_.end_with_server(ending.exit_code, "server " + attachment_.server() + " " + ending.sentence);
  }
  void deliver(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  void answer(const wire::Message& message, std::string_view id) override;
  void server_drained() override { pace(); }
  void list_changed(router::ChangedList list) override;

  // Called by the bridge.
  void to_client(const wire::Line& line, std::initializer_list<wire::Edit> edits) override;
  void to_server(const wire::Message& message) override;
  QuestionId next_question() override { return memory_.next_question(); }

  // From the client to the server.
  enum class Taken : std::uint8_t { Yes, MustWait };
  void handle(const wire::Message& message);
  Taken take(const wire::Message& message);
  Situation situation() const;
  void pass_to_server(const wire::Message& message);
  void handle_deferred();

  // Getting an instance.
  void open(knowledge::Era era, const wire::Message& request);
  void attach(const router::Opened& opened);
  void request_instance();
  void instance_ready(const router::Opened& opened);

  // Flow control.
  void pace();
  void after_sending();

  Loop& loop_;
  Transport& transport_;
  pool::Pool& pool_;
  Attachment attachment_;
  Deferred deferred_;
  Opening opening_;
  Crossing crossing_;
  SessionRecord record_;
  SessionEnd end_;
  bool told_congested_ = false;  // the router knows that the client does not read
  Lifetime lifetime_;
};

}  // namespace corral::session
