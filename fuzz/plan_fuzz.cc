// The keeper's plan: whatever the bytes, parsing stays inside them and every string it hands out ends inside
// them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "keeper/plan.h"

using corral::keeper::Plan;
using corral::keeper::PlanHeader;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<char> bytes(data, data + size);
  if (size >= sizeof(PlanHeader)) {
    // Let most inputs past the first check: the size and the magic are not what is interesting.
    PlanHeader header;
    memcpy(static_cast<void*>(&header), bytes.data(), sizeof header);
    header.magic = PlanHeader::kMagic;
    header.size = static_cast<std::uint32_t>(size);
    header.instance[corral::keeper::kInstanceIdLength] = '\0';
    header.arguments %= 64;
    header.terminators %= 4;
    for (std::uint32_t& count : header.terminator_arguments) count %= 64;
    memcpy(bytes.data(), &header, sizeof header);
  }
  const std::size_t pointers = corral::keeper::plan_pointers(bytes.data(), bytes.size());
  if (pointers == 0) return 0;
  std::vector<char*> slots(pointers);
  Plan plan;
  if (!corral::keeper::parse_plan(bytes.data(), bytes.size(), slots.data(), plan)) return 0;
  std::size_t total = strlen(plan.executable) + strlen(plan.directory) + strlen(plan.cgroup) + 3;
  for (char** argument = plan.arguments; *argument != nullptr; ++argument) total += strlen(*argument) + 1;
  for (std::uint32_t i = 0; i < plan.header.terminators; ++i) {
    for (char** argument = plan.terminator[i]; *argument != nullptr; ++argument)
      total += strlen(*argument) + 1;
  }
  if (total != size - sizeof(PlanHeader)) abort();  // an accepted plan is used up to the last byte
  return 0;
}
