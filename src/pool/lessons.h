// What the present instance of a slot teaches the catalog, while it is still of the build that is known.
// Owned by the slot; its router reports here what the server shows.
#pragma once

#include <memory>
#include <string_view>

#include "knowledge/fingerprint.h"
#include "pool/server_spec.h"
#include "router/router.h"

namespace corral::pool {

class Catalog;

class Lessons final : public router::Router::Learner {
 public:
  explicit Lessons(Catalog& catalog) : catalog_(catalog) {}

  /// Another instance is started. What it shows before it is open counts: it is asked for it.
  void begin(std::shared_ptr<const ServerSpec> spec);
  /// The instance is open, and was started from these files.
  void opened(const router::Router& router, const knowledge::Fingerprint& build);
  /// Its files have changed: what it shows is not what the next instance would show.
  void mark_outdated() { outdated_ = true; }
  /// Empty while it is not open.
  const knowledge::Fingerprint& build() const { return build_; }

 private:
  void learned_read_only(router::Router& router, bool read_only) override;
  void learned_conversational(router::Router& router) override;
  void learned_list(router::Router& router, const router::SessionPort& port, router::ListKind kind,
                    std::string_view result) override;
  void learned_of_change(router::Router& router, router::ChangedList list) override;
  void learned_that_it_answers_probes(router::Router& router) override;
  bool teaches() const;

  Catalog& catalog_;
  std::shared_ptr<const ServerSpec> spec_;
  knowledge::Fingerprint build_;
  bool opened_ = false;
  bool outdated_ = false;
};

}  // namespace corral::pool
