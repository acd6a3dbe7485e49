#include "knowledge/sharing.h"

#include "wire/json_text.h"

namespace corral::knowledge {
namespace {

constexpr std::string_view kSharedWord = "shared: ";
constexpr std::string_view kPrivateWord = "private: ";

/// What the user must write so that the daemon shares the server.
std::string how_to_share(const SharingFacts& facts) {
  if (!facts.from_configuration) return "corral connect --share shared -- COMMAND";
  return R"("corral": {"share": "shared"} in the entry )" + wire::quoted(facts.server);
}

SharingDecision share(std::string_view reason) {
  return {true, false, false, reason_for(Sharing::Shared, reason), ""};
}

/// There is no evidence that sharing is safe; the user may know better.
SharingDecision keep_private(const SharingFacts& facts, std::string_view reason) {
  return {false, false, false, reason_for(Sharing::Private, reason), "to share it: " + how_to_share(facts)};
}

/// There is evidence that sharing is not safe.
SharingDecision keep_private_for_a_cause(const SharingFacts& facts, std::string_view reason) {
  return {false, false, false, reason_for(Sharing::Private, reason),
          "to share it all the same: " + how_to_share(facts)};
}

SharingDecision share_as_asked(const SharingFacts& facts) {
  if (facts.era == knowledge::Era::Legacy && facts.shown.conversational) {
    return share(
        R"(share is set to "shared"; it asks its clients questions, and a shared process gets a refusal)");
  }
  return share(R"(share is set to "shared")");
}

/// Decides by the annotations of the tools, which are the weakest evidence.
SharingDecision decide_by_annotations(const SharingFacts& facts) {
  if (!facts.shown.read_only.has_value()) {
    return keep_private(facts,
                        "not known to be safe to share; what its tools say about themselves is unknown until "
                        "a session has listed them");
  }
  if (!*facts.shown.read_only) {
    return keep_private(
        facts, "not every tool is annotated as read-only, so one session might see what another one did");
  }
  SharingDecision decision = share("every tool is annotated as read-only");
  decision.confirm_annotations = true;
  return decision;
}

SharingDecision decide_by_evidence(const SharingFacts& facts) {
  // Evidence against sharing comes first, or an old `stateless` in the configuration would hide it.
  if (facts.shown.conversational) {
    return keep_private_for_a_cause(
        facts, "it asks its client questions, and only a private process knows which client to ask");
  }
  if (facts.known != nullptr && !facts.known->shareable) {
    return keep_private_for_a_cause(
        facts, "known to keep state for one client: " + std::string(facts.known->evidence));
  }
  if (facts.stateless_by_configuration) return share(R"(its entry says "stateless")");
  if (facts.era == knowledge::Era::Modern && facts.shown.modern.value_or(true)) {
    SharingDecision decision =
        share("it speaks a revision of MCP in which servers keep no state per connection");
    decision.confirm_modern = true;
    return decision;
  }
  if (facts.known != nullptr) return share("known to be safe: " + std::string(facts.known->evidence));
  return decide_by_annotations(facts);
}

}  // namespace

std::string reason_for(Sharing sharing, std::string_view why) {
  return std::string(sharing == Sharing::Shared ? kSharedWord : kPrivateWord).append(why);
}

std::string_view why_alone(std::string_view reason) {
  for (const std::string_view word : {kSharedWord, kPrivateWord}) {
    if (reason.starts_with(word)) return reason.substr(word.size());
  }
  return reason;
}

SharingDecision decide_sharing(const SharingFacts& facts) {
  switch (facts.wanted) {
    case config::Share::Session:
      return {false, false, false, reason_for(Sharing::Private, R"(share is set to "session")"), ""};
    case config::Share::Shared: return share_as_asked(facts);
    case config::Share::Root: return share(R"(share is set to "root"; this one is for )" + facts.root);
    case config::Share::Auto: break;
  }
  return decide_by_evidence(facts);
}

bool keeps_no_state(const SharingFacts& facts) { return decide_by_evidence(facts).shared; }

}  // namespace corral::knowledge
