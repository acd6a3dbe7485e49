#include "router/audience.h"

namespace corral::router {

Audience::Audience(const RouterOptions& options, const AttachedSessions& sessions, const PendingCalls& calls,
                   RouterCounters& counters)
    : options_(options), sessions_(sessions), calls_(calls), counters_(counters) {}

SessionPort* Audience::only_cause(Causes which) const {
  if (!options_.shared) return sessions_.only();
  auto causes = calls_.causes(which, Clock::now());
  // A server that works for no session may write about any of them.
  if (causes.none() && which == Causes::AnyCall) {
    for (const auto& [session, port] : sessions_) causes.add(session);
  }
  const auto session = causes.only();
  return session ? sessions_.find(*session) : nullptr;
}

void Audience::pass_error_output(std::string_view bytes) const {
  if (callers_.none()) {
    sessions_.each([bytes](SessionPort& port) { port.error_output(bytes); });
  } else if (SessionPort* const port = only_cause(Causes::AnyCall)) {
    port->error_output(bytes);
  } else {
    counters_.kept_error_bytes += bytes.size();
  }
}

LastWords Audience::last_words(const std::string& why, std::string_view error_tail) const {
  LastWords words{why};
  if (error_tail.empty()) return words;
  words.stderr_end = error_tail.substr(0, error_tail.find_last_not_of("\r\n") + 1);
  words.server = options_.server;
  if (callers_.none()) words.readers = LastWords::Readers::All;
  if (const auto only = callers_.only()) {
    words.readers = LastWords::Readers::One;
    words.about = *only;
  }
  return words;
}

}  // namespace corral::router
