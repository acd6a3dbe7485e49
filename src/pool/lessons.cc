#include "pool/lessons.h"

#include <utility>

#include "pool/server_catalog.h"

namespace corral::pool {

void Lessons::begin(std::shared_ptr<const ServerSpec> spec, const router::Router& router) {
  spec_ = std::move(spec);
  router_ = &router;
  build_ = {};
  opened_ = false;
  outdated_ = false;
}

void Lessons::opened(const knowledge::Fingerprint& build) {
  build_ = build;
  opened_ = true;
  catalog_.learn_build({*spec_, router_->instance()->handshake(), router_->options().shared}, build_);
}

/// Not if it runs a build other than the one that the catalog describes, even if no check has noticed the
/// change yet.
bool Lessons::teaches() const {
  if (!opened_) return true;
  return !outdated_ && catalog_.is_known_build(*spec_, build_);
}

void Lessons::on_tools(router::ToolEffects effects) {
  if (!teaches()) return;
  catalog_.learn_annotations(*spec_, knowledge::sharing_of(router_->options().shared), effects);
}

void Lessons::on_question() { catalog_.learn_conversational(*spec_); }

void Lessons::on_list(const router::SessionPort& port, router::ListKind kind, std::string_view result) {
  if (!teaches()) return;
  catalog_.learn_list({*spec_, router_->instance()->handshake(), router_->options().shared},
                      port.introduction(), kind, result);
}

void Lessons::on_list_changed(router::ChangedList list) {
  if (teaches()) catalog_.forget_list(*spec_, list);
}

void Lessons::on_probe_answered() { catalog_.learn_that_it_answers_probes(*spec_); }

}  // namespace corral::pool
