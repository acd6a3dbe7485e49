// A legacy client before a legacy server that was told of a newer revision: content that the client's own
// revision does not have is put in words that it has.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bridge/bridge.h"

namespace corral::bridge {

/// Whether a client of this revision may meet content that it does not know.
bool needs_older_words(std::string_view version);

/// A result of `method` in the words of `version`: no audio before 2025-03-26; no resource links, structured
/// content or output schemas before 2025-06-18. JSON.
std::string in_older_words(std::string_view method, std::string_view result, std::string_view version);

std::unique_ptr<Bridge> older_client(Outlet& outlet, std::string version);

}  // namespace corral::bridge
