#include "pool/lessons.h"

#include <utility>

#include "pool/catalog.h"

namespace corral::pool {

void Lessons::begin(std::shared_ptr<const ServerSpec> spec) {
  spec_ = std::move(spec);
  build_ = {};
  opened_ = false;
  outdated_ = false;
}

void Lessons::opened(const router::Router& router, const knowledge::Fingerprint& build) {
  build_ = build;
  opened_ = true;
  catalog_.learn_build({*spec_, router.instance()->handshake(), router.options().shared}, build_);
}

/// One of another build than the one that is known does not, also before anybody has found it out of date.
bool Lessons::teaches() const {
  if (!opened_) return true;
  return !outdated_ && catalog_.is_known_build(*spec_, build_);
}

void Lessons::learned_read_only(router::Router& router, bool read_only) {
  if (teaches()) catalog_.learn_read_only(*spec_, router.options().shared, read_only);
}

void Lessons::learned_conversational(router::Router&) { catalog_.learn_conversational(*spec_); }

void Lessons::learned_list(router::Router& router, const router::SessionPort& port, router::ListKind kind,
                           std::string_view result) {
  if (!teaches()) return;
  catalog_.learn_list({*spec_, router.instance()->handshake(), router.options().shared}, port.introduction(),
                      kind, result);
}

void Lessons::learned_of_change(router::Router&, router::ChangedList list) {
  if (teaches()) catalog_.forget_list(*spec_, list);
}

void Lessons::learned_that_it_answers_probes(router::Router&) {
  catalog_.learn_that_it_answers_probes(*spec_);
}

}  // namespace corral::pool
