// Reads and edits the answer to tools/list, as text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace corral::router {

/// What the tools of a server may do, by their annotations.
enum class ToolEffects : std::uint8_t {
  ReadOnly,   // every tool has readOnlyHint: true, and none has destructiveHint: true
  MayChange,  // at least one does not promise that
};

/// Of the result of tools/list. Nothing if it is not such a result, has more pages, or lists no tool at all:
/// an empty list shows nothing.
std::optional<ToolEffects> effects_of_tools(std::string_view result);

/// For a name as it is written, with quotes and escapes: no tool has such a long name, and comparing it with
/// many patterns could take long.
bool is_too_long_for_a_tool(std::string_view written_name);

/// The same result without the tools whose name is refused; everything else stays byte for byte. A tool
/// without a readable name, or with one that is too long, is refused as well. A list that is not readable,
/// occurs twice, or has more than wire::kMostElements tools becomes an empty one.
std::string without_tools(std::string_view result, const std::function<bool(std::string_view)>& allowed);

}  // namespace corral::router
