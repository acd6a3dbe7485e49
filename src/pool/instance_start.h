// Starts an instance of a server: chooses the options of its router and the first words of its handshake from
// what is known about the server. Keeps no state. Called by the slot, on the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "knowledge/sharing.h"
#include "pool/slot_context.h"
#include "router/router.h"

namespace corral::pool {

/// Makes room if it must, and starts the process. The caller opens the router. `listener` and `learner`
/// outlive the router. If it fails, nothing runs, and the error is a sentence for the sessions that wait.
Result<std::unique_ptr<router::Router>> start_router(SlotContext& context, const ServerSpec& spec,
                                                     const knowledge::SharingDecision& decision,
                                                     router::Router::Listener& listener,
                                                     router::Learner& learner);

/// `expected` is the era to try first. `introduction` holds the initialize parameters of the client of a
/// private instance; it may be empty. A shared instance is opened without the capabilities of any client.
instance::Opening opening_for(const ServerSpec& spec, const knowledge::SharingDecision& decision,
                              std::optional<knowledge::Era> expected, const std::string& introduction);

}  // namespace corral::pool
