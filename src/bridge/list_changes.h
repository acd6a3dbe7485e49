// We tell clients of changed lists, whether or not their server does: another instance may have others. So
// every client is told that it may hear of them.
#pragma once

#include <string>
#include <string_view>

namespace corral::bridge {

/// Whether it is one of the capabilities that have lists: tools, prompts, resources.
bool has_lists(std::string_view capability);

/// A capability with lists, as we offer it. JSON.
std::string with_list_changed(std::string_view capability);

/// The same for all of them in the result of an initialize; everything else as it is written. JSON.
std::string with_list_changes(std::string_view initialize_result);

}  // namespace corral::bridge
