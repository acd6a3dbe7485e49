#include "session/attachment.h"

namespace corral::session {

void Attachment::known(knowledge::Sharing sharing) {
  apply(PhaseEvent::Known);
  shared_ = sharing == knowledge::Sharing::Shared;
}

void Attachment::greeted_early() {
  apply(PhaseEvent::GreetedEarly);
  greeted_early_ = true;
}

void Attachment::attach(const router::Opened& opened) {
  apply(PhaseEvent::InstanceReady);
  greeted_early_ = false;
  router_ = opened.router;
  spec_ = opened.spec;
  shared_ = router_->options().shared;
  had_instance_ = true;
}

void Attachment::lost(const std::string& why) {
  apply(PhaseEvent::InstanceLost);
  absence_ = why;
}

void Attachment::refused(const std::string& why) {
  apply(PhaseEvent::NoInstance);
  greeted_early_ = false;
  refusal_ = why;
}

void Attachment::redefine(std::shared_ptr<const pool::ServerSpec> spec) {
  spec_ = std::move(spec);
  shared_.reset();
  withdrawn_.clear();
}

void Attachment::reset() {
  apply(PhaseEvent::Reset);
  router_ = nullptr;
  shared_.reset();
  had_instance_ = false;
  absence_.clear();
}

const char* Attachment::state() const {
  switch (phase_) {
    case Phase::New: return "new";
    case Phase::Opening: return "opening";
    case Phase::Ready: return "ready";
    case Phase::Away: return absence_.empty() ? "lazy" : "parked";
    case Phase::Returning: return "returning";
  }
  return "?";
}

bool Attachment::will_want_instance() const {
  return phase_ == Phase::New || (phase_ == Phase::Away && absence_.empty() && !shared_.value_or(false));
}

bool Attachment::takes_any_client() const {
  if (phase_ == Phase::New || phase_ == Phase::Away) return true;
  if (phase_ != Phase::Ready || router_ == nullptr) return false;
  return shared_.value_or(false) || router_->instance()->handshake().era() == knowledge::Era::Modern;
}

/// A client that knows a shared instance only from a manifest may still get a private one, if sharing was
/// found unsafe since. The opposite is not allowed: a private instance may have promised more.
std::optional<bool> Attachment::side() const {
  return had_instance_ || !shared_.value_or(true) ? shared_ : std::nullopt;
}

}  // namespace corral::session
