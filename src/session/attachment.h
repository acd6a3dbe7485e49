// A session's hold on an instance of its server: which server it wants, whether it has an instance, waits for
// one or does without, and why it lost the last one. Owned by its session. It decides nothing about messages
// and calls nobody; the session tells it what happened.
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

  // What happens to it.
  void apply(PhaseEvent event) { phase_ = next(phase_, event); }
  /// The client was told what is known of the server, and needs no instance for now.
  void known(knowledge::Sharing sharing);
  /// The client was told something before its instance was there, which is still to come.
  void greeted_early();
  void attach(const router::Opened& opened);
  /// The instance is gone, or must not be spoken to any more.
  void detach() { router_ = nullptr; }
  void lost(const std::string& why);
  /// None could be started. Until `forget_refusal` every call that waits is answered with `why`.
  void refused(const std::string& why);
  void forget_refusal() { refusal_.clear(); }
  /// What was believed of the server was wrong: whether it is shared is open again.
  void forget_sharing() { shared_.reset(); }
  /// The configuration has changed: the next instance follows this spec.
  void redefine(std::shared_ptr<const pool::ServerSpec> spec);
  /// The configuration has lost the server.
  void withdraw(std::string why) { withdrawn_ = std::move(why); }
  void reset();

  // What it is.
  Phase phase() const { return phase_; }
  router::Router* router() const { return router_; }
  const std::shared_ptr<const pool::ServerSpec>& spec() const { return spec_; }
  const std::string& server() const { return server_; }
  /// What the session asks of the pool, for a client that introduces itself so.
  pool::Ask request(const std::string& introduction) const { return {spec_, introduction, side()}; }
  /// Whether its instance has several sessions; nothing as long as that is not known.
  std::optional<bool> shares() const { return shared_; }
  /// Whether it has an instance that is not shared with other sessions.
  bool has_private_instance() const { return router_ != nullptr && !shared_.value_or(false); }
  bool was_greeted_early() const { return greeted_early_; }
  /// Why it lost its last instance; empty = it never did.
  const std::string& absence() const { return absence_; }
  std::string take_absence() { return std::exchange(absence_, {}); }
  const std::string& refusal() const { return refusal_; }
  /// Why it ends with its instance; empty = it does not.
  const std::string& withdrawn() const { return withdrawn_; }

  /// "new", "opening", "ready", "lazy" (no process before its first call), "parked" (none until the next
  /// call) or "returning" (waits for one).
  const char* state() const;
  /// Nothing was asked yet, or it was answered from a manifest, and its first call needs a private instance.
  bool will_want_instance() const;
  /// Whether a request of a modern client with other capabilities may use this session: its instance was told
  /// of no capabilities, or there is no instance yet.
  bool takes_any_client() const;

 private:
  std::optional<bool> side() const;

  std::shared_ptr<const pool::ServerSpec> spec_;
  const std::string server_ = spec_->server;
  Phase phase_ = Phase::New;
  router::Router* router_ = nullptr;  // while attached; the pool tells before it is destroyed
  std::optional<bool> shared_;
  bool had_instance_ = false;
  bool greeted_early_ = false;
  std::string absence_;
  std::string refusal_;
  std::string withdrawn_;
};

}  // namespace corral::session
