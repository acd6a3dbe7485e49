#include "router/admission.h"

#include "knowledge/introduction.h"

namespace corral::router {

Admission::Verdict Admission::judge(const instance::Handshake& handshake) {
  if (handshake.outcome() != instance::Handshake::Outcome::Ready) return Verdict::Unusable;
  modern_ = handshake.era() == knowledge::Era::Modern;
  objection_ = knowledge::objection_to_version(options_.server, handshake.result(), options_.min_version);
  if (!objection_.empty()) return Verdict::Unusable;
  if (modern_) return admit();
  if (options_.confirm_modern) return contradict();
  return options_.confirm_read_only ? Verdict::ListTools : admit();
}

/// The tools seemed read-only to clients with other capabilities, and the server may show a shared instance
/// others.
Admission::Verdict Admission::tools_listed(std::optional<ToolEffects> effects) {
  learner_.on_tools(effects.value_or(ToolEffects::MayChange));
  return effects == ToolEffects::ReadOnly ? admit() : contradict();
}

Admission::Verdict Admission::admit() {
  open_ = true;
  return Verdict::Open;
}

Admission::Verdict Admission::contradict() {
  contradicts_ = true;
  return Verdict::Unusable;
}

}  // namespace corral::router
