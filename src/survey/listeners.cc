#include "survey/listeners.h"

#include <fcntl.h>

#include <optional>
#include <string>

#include "survey/proc_files.h"

namespace corral::survey {
namespace {

constexpr std::size_t kLongestList = 16 << 20;  // some hundred thousand sockets
constexpr std::string_view kListening = "0A";

}  // namespace

std::vector<std::uint64_t> parse_listening_sockets(std::string_view text) {
  std::vector<std::uint64_t> inodes;
  std::string_view line;
  take_line(text, line);  // the heading
  while (take_line(text, line)) {
    // "sl local remote st queues timer retransmit uid timeout inode …"
    std::string_view state;
    std::string_view field;
    for (int i = 0; i < 10; ++i) {
      field = take_word(line);
      if (i == 3) state = field;
    }
    const std::optional<std::uint64_t> inode = whole_number(field);
    if (state == kListening && inode && *inode != 0) inodes.push_back(*inode);
  }
  return inodes;
}

std::vector<std::uint64_t> read_listening_sockets() {
  std::vector<std::uint64_t> inodes;
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const std::optional<std::string> text = read_whole(AT_FDCWD, file, kLongestList);
    if (!text) continue;
    for (const std::uint64_t inode : parse_listening_sockets(*text)) inodes.push_back(inode);
  }
  return inodes;
}

}  // namespace corral::survey
