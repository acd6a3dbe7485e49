// The bridge between a client and a server that use different revisions, with its deadlines. There is no
// bridge while both use the same one. Owned by the session, used on the loop's thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "base/loop.h"
#include "base/shares.h"
#include "bridge/bridge.h"
#include "instance/handshake.h"
#include "router/session_port.h"

namespace corral::session {

class Crossing {
 public:
  enum class Kind : std::uint8_t { None, ModernToLegacy, LegacyToModern, ToOlder };

  /// The outlet outlives it. The functions below call it with what the bridge sends.
  Crossing(Loop& loop, bridge::Outlet& outlet) : outlet_(outlet), timer_(loop) {}

  struct Sides {
    const router::ClientFacts& client;
    const instance::Handshake& handshake;
    bool shared;
    bool several_programs;  // may use the client's connection
    const std::string& server;
    Account* account;
  };
  enum class Bridge { Kept, New };
  /// The session has a new instance. Keeps the bridge if it still fits. Otherwise the old bridge answers the
  /// calls that it holds, and the bridge that is needed, if any, is made.
  Bridge connect(const Sides& sides);

  Kind kind() const { return kind_; }
  bool active() const { return bridge_ != nullptr; }
  /// The bridge is answering the calls that it holds; what it sends must not reach a server.
  bool ending() const { return ending_; }

  // Call these only while it is active.
  void from_client(const wire::Message& message);
  void from_server(const wire::Line& line, std::initializer_list<wire::Edit> edits);

  /// The client sends nothing more.
  void client_ended();
  /// Whether the bridge holds a call that it will answer itself.
  bool holds_calls() const { return bridge_ && bridge_->next_deadline(); }
  /// Answers every call that the bridge holds. Sends nothing to a server.
  void end();
  /// The session has ended: cancels the deadlines.
  void stop();
  /// Removes the bridge and answers nothing.
  void reset();

 private:
  void watch_deadline();

  bridge::Outlet& outlet_;
  Timer timer_;
  Kind kind_ = Kind::None;
  std::unique_ptr<bridge::Bridge> bridge_;
  bool ending_ = false;
  bool stopped_ = false;
};

}  // namespace corral::session
