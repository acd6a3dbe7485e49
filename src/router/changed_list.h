// The lists that a server may say have changed. Whatever else it calls a list is not known to any client, and
// is dropped: no name that a server made up is ever put into a message of ours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace corral::router {

enum class ChangedList : std::uint8_t { Tools, Prompts, Resources };

inline constexpr std::array<std::string_view, 3> kChangedListNames = {"tools", "prompts", "resources"};
inline constexpr std::array<std::string_view, 3> kChangedListMethods = {
    "notifications/tools/list_changed", "notifications/prompts/list_changed",
    "notifications/resources/list_changed"};

/// "tools", …
constexpr std::string_view name_of(ChangedList list) {
  return kChangedListNames[static_cast<std::size_t>(list)];
}
/// The notification that tells of it.
constexpr std::string_view method_of(ChangedList list) {
  return kChangedListMethods[static_cast<std::size_t>(list)];
}
/// Nothing if the method is another one.
constexpr std::optional<ChangedList> changed_list_of(std::string_view method) {
  for (std::size_t i = 0; i < kChangedListMethods.size(); ++i) {
    if (method == kChangedListMethods[i]) return static_cast<ChangedList>(i);
  }
  return std::nullopt;
}

}  // namespace corral::router
