// Passes what the present instance of a slot shows on to the catalog, as long as the instance runs the build
// that the catalog describes. Owned by the slot; called by the router of the instance, on the loop's thread.
#pragma once

#include <memory>
#include <string_view>

#include "knowledge/fingerprint.h"
#include "pool/server_spec.h"
#include "router/router.h"

namespace corral::pool {

class ServerCatalog;

class Lessons final : public router::Learner {
 public:
  explicit Lessons(ServerCatalog& catalog) : catalog_(catalog) {}

  /// Another instance is started. What it shows before it is open is learned too, because corral asks for it.
  /// `router` is the one that reports here from now on, until the next `begin`.
  void begin(std::shared_ptr<const ServerSpec> spec, const router::Router& router);
  /// The instance is open; `build` names the files that it was started from.
  void opened(const knowledge::Fingerprint& build);
  /// The files of the instance have changed: nothing more is learned from it.
  void mark_outdated() { outdated_ = true; }
  /// Empty until the instance is open.
  const knowledge::Fingerprint& build() const { return build_; }

 private:
  void on_tools(router::ToolEffects effects) override;
  void on_question() override;
  void on_list(const router::SessionPort& port, router::ListKind kind, std::string_view result) override;
  void on_list_changed(router::ChangedList list) override;
  void on_probe_answered() override;
  bool teaches() const;

  ServerCatalog& catalog_;
  std::shared_ptr<const ServerSpec> spec_;
  const router::Router* router_ = nullptr;
  knowledge::Fingerprint build_;
  bool opened_ = false;
  bool outdated_ = false;
};

}  // namespace corral::pool
