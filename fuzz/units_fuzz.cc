// Durations, sizes and shares from a command line: refused, or within their bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/units.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto duration = corral::parse_duration(text);
  if (duration && (duration->count() < 0 || *duration > std::chrono::hours(24))) abort();
  const auto bytes = corral::parse_size(text);
  if (bytes && *bytes == 0) abort();
  const auto cores = corral::parse_cores(text);
  if (cores && (*cores < 10 || *cores > 4'096'000)) abort();
  return 0;
}
