// The texts from which our own cgroup is found: what comes out never leaves the mount point.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "proc/cgroup.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find('\0');
  if (cut != std::string_view::npos) corral::proc::own_cgroup(text.substr(0, cut), text.substr(cut + 1));
  const auto found = corral::proc::own_cgroup("1 1 0:1 / /mount rw - cgroup2 cgroup2 rw\n", text);
  if (found && (!found->starts_with("/mount") || found->find("/..") != std::string::npos)) abort();
  return 0;
}
