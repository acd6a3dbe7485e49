// Splits JSON-RPC batches, for the revisions that have them. The client gets the answers one by one. Pure.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "session/treatment.h"
#include "wire/message.h"
#include "wire/revisions.h"

namespace corral::session {

/// The messages of a batch, or why the batch is refused. `revision` is the legacy revision of the client;
/// null if the client is modern or has not agreed on a revision yet.
std::variant<std::vector<wire::Message>, Objection> split_batch(const wire::Line& line,
                                                                const wire::Revision* revision);

}  // namespace corral::session
