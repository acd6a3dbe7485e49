// The lists that a server may report as changed. No client knows any other list, so a notification about
// another one is not recognised: a name that a server made up never gets into a message of corral.
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
/// The notification that reports the change.
constexpr std::string_view method_of(ChangedList list) {
  return kChangedListMethods[static_cast<std::size_t>(list)];
}
/// Nothing if the method is not one of these notifications.
constexpr std::optional<ChangedList> changed_list_of(std::string_view method) {
  for (std::size_t i = 0; i < kChangedListMethods.size(); ++i) {
    if (method == kChangedListMethods[i]) return static_cast<ChangedList>(i);
  }
  return std::nullopt;
}

}  // namespace corral::router
