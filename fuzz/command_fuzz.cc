// Command lines of foreign processes: understood or not, shown as one safe line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/secrets.h"
#include "base/text.h"
#include "known/server_command.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace corral;
  // Words end with a zero, as in /proc/PID/cmdline.
  std::vector<std::string> argv(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == 0) {
      argv.emplace_back();
    } else {
      argv.back().push_back(static_cast<char>(data[i]));
    }
  }

  const known::ServerCommand process = known::understand(argv, "/usr/bin/node", "/nowhere");
  const known::ServerCommand configured = known::understand(argv, "", "", "/nowhere");
  if (process.is_shell && process.key.empty() && process.depends_on_mcp) abort();
  if (configured.arguments.size() > argv.size() + size) abort();

  const std::string line = show_command(argv);
  for (const char c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) abort();
  }
  if (printable(line) != line || line.size() > 64 * 1024) abort();
  return 0;
}
