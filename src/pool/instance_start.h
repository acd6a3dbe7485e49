// How an instance of a server is started: the options of its router, and how its handshake begins. Reads what
// is known of the server, and keeps nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "knowledge/sharing.h"
#include "pool/slot_context.h"
#include "router/router.h"

namespace corral::pool {

/// Makes room if it must, and starts the process. `listener` and `learner` outlive the router, which has not
/// been opened yet. An error is the sentence for the sessions that wait; nothing runs then.
Result<std::unique_ptr<router::Router>> start_router(SlotContext& context, const ServerSpec& spec,
                                                     const knowledge::SharingDecision& decision,
                                                     router::Router::Listener& listener,
                                                     router::Learner& learner);

/// `expected` is the era to try first. `introduction` is what the client of a private instance says in its
/// initialize request, empty if no client is known yet; a shared instance is told of no client's
/// capabilities.
instance::Opening opening_for(const ServerSpec& spec, const knowledge::SharingDecision& decision,
                              std::optional<knowledge::Era> expected, const std::string& introduction);

}  // namespace corral::pool
