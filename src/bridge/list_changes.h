// corral notifies clients of changed lists even if their server does not, because another instance may have
// other lists. So every client is told that list changes are supported.
#pragma once

#include <string>
#include <string_view>

namespace corral::bridge {

/// Whether a capability has lists: tools, prompts, resources.
bool has_lists(std::string_view capability);

/// A capability with lists, as corral offers it. JSON.
std::string with_list_changed(std::string_view capability);

/// Applies with_list_changed to all of them in a result of initialize; the rest stays as it is written. JSON.
std::string with_list_changes(std::string_view initialize_result);

}  // namespace corral::bridge
