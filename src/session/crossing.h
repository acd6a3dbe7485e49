// The bridge between a client and a server that speak different revisions, with its deadlines. Owned by the
// session; there is no bridge while both speak alike.
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

  /// The outlet outlives it, and hears what the bridge says from within the functions below.
  Crossing(Loop& loop, bridge::Outlet& outlet) : outlet_(outlet), timer_(loop) {}

  struct Sides {
    const router::ClientFacts& client;
    const instance::Handshake& handshake;
    bool shared;
    const std::string& server;
    Account* account;
  };
  enum class Bridge { Kept, New };
  /// The session has a new instance. Keeps the bridge if it still fits; otherwise answers what the old one
  /// held back, and makes the one that is needed, if any.
  Bridge connect(const Sides& sides);

  Kind kind() const { return kind_; }
  bool active() const { return bridge_ != nullptr; }
  /// The bridge answers what it held back, and must not reach a server any more.
  bool ending() const { return ending_; }

  // Call these only while it is active.
  void from_client(const wire::Message& message);
  void from_server(const wire::Line& line, std::initializer_list<wire::Edit> edits);

  /// The client will say no more.
  void client_ended();
  /// Whether the bridge holds a call back that it will answer by itself.
  bool holds_calls() const { return bridge_ && bridge_->next_deadline(); }
  /// Answers every call that the bridge holds back. No server hears of it.
  void end();
  /// The session has ended: no deadline is kept any more.
  void stop();
  /// Forgets the bridge without a word.
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
