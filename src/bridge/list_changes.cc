#include "bridge/list_changes.h"

#include "wire/json_members.h"
#include "wire/json_text.h"

namespace corral::bridge {

bool has_lists(std::string_view capability) {
  return capability == "tools" || capability == "prompts" || capability == "resources";
}

std::string with_list_changed(std::string_view capability) {
  std::string out = wire::kept_members(capability, [](std::string_view key) { return key != "listChanged"; });
  out.insert(1, out.size() > 2 ? R"("listChanged":true,)" : R"("listChanged":true)");
  return out;
}

std::string with_list_changes(std::string_view initialize_result) {
  const wire::Span place = wire::member(initialize_result, "capabilities");
  const std::string_view capabilities = place.in(initialize_result);
  std::string out(initialize_result.substr(0, place.begin));
  std::size_t at = 0;
  wire::each_member(capabilities, [&](std::string_view key, wire::Member member) {
    const std::string_view value = member.value.in(capabilities);
    if (!has_lists(key) || !wire::is_object(value)) return;
    if (wire::member(value, "listChanged").in(value) == "true") return;
    out.append(capabilities.substr(at, member.value.begin - at)).append(with_list_changed(value));
    at = member.value.end;
  });
  if (!place.present()) return std::string(initialize_result);
  return out.append(capabilities.substr(at)).append(initialize_result.substr(place.end));
}

}  // namespace corral::bridge
