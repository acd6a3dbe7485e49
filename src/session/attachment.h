// The relation between a session and the instances of its server: which server it uses, whether it has an
// instance, waits for one or needs none now, and why it lost the last one. Owned by its session, which
// reports every event to it. It makes no calls and decides nothing about messages.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "pool/pool.h"
#include "router/router.h"
#include "session/phase.h"

namespace corral::session {

class Attachment {
 public:
  explicit Attachment(std::shared_ptr<const pool::ServerSpec> spec) : spec_(std::move(spec)) {}

  // Events.
  void apply(PhaseEvent event) { phase_ = next(phase_, event); }
  /// The client was answered from what is known about the server, and needs no instance now.
  void known(knowledge::Sharing sharing);
  /// The client was answered while its instance is still starting.
  void greeted_early();
  void attach(const router::Opened& opened);
  /// The instance is gone, or must not be used any more.
  void detach() { router_ = nullptr; }
  void lost(const std::string& why);
  /// No instance could be started. Until `forget_refusal`, every call that waits is answered with `why`.
  void refused(const std::string& why);
  void forget_refusal() { refusal_.clear(); }
  /// What was known about the server was wrong: whether it is shared must be decided again.
  void forget_sharing() { shared_.reset(); }
  /// The configuration has changed: the next instance follows this spec.
  void redefine(std::shared_ptr<const pool::ServerSpec> spec);
  /// The server was removed from the configuration.
  void withdraw(std::string why) { withdrawn_ = std::move(why); }
  void reset();

  // State.
  Phase phase() const { return phase_; }
  router::Router* router() const { return router_; }
  const std::shared_ptr<const pool::ServerSpec>& spec() const { return spec_; }
  const std::string& server() const { return server_; }
  /// The request to the pool, for a client with these initialize parameters.
  pool::Ask request(const std::string& introduction) const { return {spec_, introduction, side()}; }
  /// Whether its instance is shared; nothing while that is not known.
  std::optional<bool> shares() const { return shared_; }
  /// Whether it has a private instance.
  bool has_private_instance() const { return router_ != nullptr && !shared_.value_or(false); }
  bool was_greeted_early() const { return greeted_early_; }
  /// Why it lost its last instance; empty if it lost none.
  const std::string& absence() const { return absence_; }
  std::string take_absence() { return std::exchange(absence_, {}); }
  const std::string& refusal() const { return refusal_; }
  /// Why the session ends with its instance; empty if it does not.
  const std::string& withdrawn() const { return withdrawn_; }

  /// "new", "opening", "ready", "lazy" (no instance before the first call), "parked" (no instance until the
  /// next call) or "returning" (waits for an instance).
  const char* state() const;
  /// Whether its first call will need a private instance: the client has sent nothing yet, or was answered
  /// from a manifest.
  bool will_want_instance() const;
  /// Whether a modern client with other capabilities may use this session: its instance does not know the
  /// capabilities of any client, or there is no instance yet.
  bool takes_any_client() const;

 private:
  std::optional<bool> side() const;

  std::shared_ptr<const pool::ServerSpec> spec_;
  const std::string server_ = spec_->server;
  Phase phase_ = Phase::New;
  router::Router* router_ = nullptr;  // while attached; the pool tells the session before it is destroyed
  std::optional<bool> shared_;
  bool had_instance_ = false;
  bool greeted_early_ = false;
  std::string absence_;
  std::string refusal_;
  std::string withdrawn_;
};

}  // namespace corral::session
