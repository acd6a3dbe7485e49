// Lines of /proc/PID/stat, in which a process chooses its own name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "keeper/proc_fs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using corral::keeper::parse_stat;
  using corral::keeper::StatLine;
  const std::string input(reinterpret_cast<const char*>(data), size);
  StatLine line;
  if (parse_stat(input.data(), input.size(), line) && line.parent < 0) abort();

  // Whatever a process is called, state and parent are read right.
  const std::string whole = "123 (" + input + ") S 4567 1 1 0 -1 4194560";
  StatLine named;
  if (!parse_stat(whole.data(), whole.size(), named) || named.state != 'S' || named.parent != 4567) abort();
  return 0;
}
