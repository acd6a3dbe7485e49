#include "pool/instance_start.h"

#include <utility>

#include "pool/server_catalog.h"

namespace corral::pool {

using router::Router;

namespace {

router::RouterOptions router_options(const ServerSpec& spec, const knowledge::SharingDecision& decision,
                                     ServerCatalog& catalog) {
  return {
      .server = spec.server,
      .shared = decision.shared,
      .confirm_read_only = decision.confirm_annotations,
      .confirm_modern = decision.confirm_modern,
      .allows_tool = spec.allows_tool,
      .call_timeout = call_timeout(spec),
      .probe = spec.entry.probe,
      .answers_probes = catalog.answers_probes(spec),
      .min_version = spec.entry.min_version,
  };
}

}  // namespace

Result<std::unique_ptr<Router>> start_router(SlotContext& context, const ServerSpec& spec,
                                             const knowledge::SharingDecision& decision,
                                             Router::Listener& listener, router::Learner& learner) {
  if (const auto room = context.owner.make_room(spec); !room) return room.error();
  auto router = std::make_unique<Router>(context.loop, router_options(spec, decision, context.catalog),
                                         listener, learner);
  const instance::JournalEntry entry{context.journal, spec.server};
  const auto started =
      router->start(context.spawner, spec.launch, context.line_cap, entry, spec.make_channel);
  if (!started) return started.error();
  ++context.started;
  context.children.started(router->instance()->keeper());
  return router;
}

instance::Opening opening_for(const ServerSpec& spec, const knowledge::SharingDecision& decision,
                              std::optional<knowledge::Era> expected, const std::string& introduction) {
  instance::Opening opening;
  opening.expected = expected;
  opening.pinned = configured_era(spec).has_value();
  opening.announce = decision.shared;
  const bool is_plain = decision.shared || introduction.empty();
  opening.initialize_params = is_plain ? instance::plain_initialize_params() : introduction;
  return opening;
}

}  // namespace corral::pool
