// Splits the batches of the revisions that have them. Their clients get the answers one by one.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "session/treatment.h"
#include "wire/message.h"
#include "wire/revisions.h"

namespace corral::session {

/// The messages of a batch, or why there are none. `revision` is the legacy revision of the client; null = it
/// has agreed on none yet, or is a modern client.
std::variant<std::vector<wire::Message>, Objection> split_batch(const wire::Line& line,
                                                                const wire::Revision* revision);

}  // namespace corral::session
