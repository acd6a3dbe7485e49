#include "transport/posted.h"

#include <algorithm>

#include "wire/json_text.h"

namespace corral::transport {

std::vector<std::string> capability_names(const Posted& posted) {
  constexpr std::size_t kMostNames = 64;
  const std::string_view meta = posted.message.meta();
  const std::string_view declared = wire::member(meta, "io.modelcontextprotocol/clientCapabilities").in(meta);
  std::vector<std::string> names;
  wire::each_member(declared, [&](std::string_view name, wire::Member member) {
    const std::string_view details = member.value.in(declared);
    names.emplace_back(name);
    wire::each_member(details, [&](std::string_view detail, wire::Member) {
      if (names.size() < kMostNames) names.push_back(std::string(name) + "." + std::string(detail));
    });
  });
  std::ranges::sort(names);
  return names;
}

bool covers(const std::vector<std::string>& declared, const std::vector<std::string>& wanted) {
  return std::ranges::includes(declared, wanted);
}

}  // namespace corral::transport
