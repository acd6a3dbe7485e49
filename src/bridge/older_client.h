// The bridge for a legacy client and a legacy server of a newer revision: content that the client's revision
// does not have is replaced by content that it has.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bridge/bridge.h"

namespace corral::bridge {

/// Whether a client of this revision may receive content that it does not know.
bool needs_older_words(std::string_view version);

/// Converts a result of `method` for `version`: removes the audio, resource links, structured content and
/// output schemas that this revision does not have (wire/revisions.h). JSON.
std::string in_older_words(std::string_view method, std::string_view result, std::string_view version);

/// `outlet` must outlive the bridge.
std::unique_ptr<Bridge> older_client(Outlet& outlet, std::string version);

}  // namespace corral::bridge
