#include "survey/listeners.h"

#include <fcntl.h>

#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "survey/proc_files.h"

namespace corral::survey {
namespace {

constexpr std::size_t kLongestList = 16 << 20;  // some hundred thousand sockets
constexpr std::string_view kListening = "0A";
constexpr int kHexadecimal = 16;

/// "0100007F:1F90": what stands behind the colon.
std::uint16_t port_in(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return 0;
  std::uint16_t port = 0;
  const char* const end = address.data() + address.size();
  const auto [last, error] = std::from_chars(address.data() + colon + 1, end, port, kHexadecimal);
  return error == std::errc{} && last == end ? port : std::uint16_t{0};
}

}  // namespace

std::vector<ListeningSocket> parse_listening_sockets(std::string_view text) {
  std::vector<ListeningSocket> sockets;
  std::string_view line;
  take_line(text, line);  // the heading
  while (take_line(text, line)) {
    // "sl local remote st queues timer retransmit uid timeout inode …"
    std::array<std::string_view, 10> fields;
    for (std::string_view& field : fields) field = take_word(line);
    const std::optional<std::uint64_t> uid = whole_number(fields[7]);
    const std::optional<std::uint64_t> inode = whole_number(fields[9]);
    if (fields[3] != kListening || !inode || *inode == 0) continue;
    sockets.push_back({*inode, port_in(fields[1]), uid ? static_cast<uid_t>(*uid) : static_cast<uid_t>(-1)});
  }
  return sockets;
}

std::vector<ListeningSocket> read_listening_sockets() {
  std::vector<ListeningSocket> sockets;
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const std::optional<std::string> text = read_whole(AT_FDCWD, file, kLongestList);
    if (!text) continue;
    for (const ListeningSocket& socket : parse_listening_sockets(*text)) sockets.push_back(socket);
  }
  return sockets;
}

}  // namespace corral::survey
