#include "survey/listeners.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>

#include "proc/proc_files.h"
#include "proc/proc_texts.h"

namespace corral::survey {
namespace {

constexpr std::size_t kLongestList = 16 << 20;  // a few hundred thousand sockets
constexpr std::string_view kListening = "0A";
constexpr std::string_view kEstablished = "01";
constexpr int kHexadecimal = 16;

/// "0100007F:1F90": the number after the colon.
std::uint16_t port_in(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return 0;
  std::uint16_t port = 0;
  const char* const end = address.data() + address.size();
  const auto [last, error] = std::from_chars(address.data() + colon + 1, end, port, kHexadecimal);
  return error == std::errc{} && last == end ? port : std::uint16_t{0};
}

/// An IPv6 socket may be the other end of an IPv4 one: its address then has a prefix, which is left out.
std::string_view plain_address(std::string_view address) {
  constexpr std::string_view kLittleEndian = "0000000000000000FFFF0000";
  constexpr std::string_view kBigEndian = "00000000000000000000FFFF";
  const bool mapped = address.starts_with(kLittleEndian) || address.starts_with(kBigEndian);
  return mapped ? address.substr(kLittleEndian.size()) : address;
}

/// "sl local remote st queues timer retransmit uid timeout inode …"
struct Line {
  std::string_view state;
  std::string_view local;
  std::string_view remote;
  std::uint64_t inode = 0;
  uid_t uid = 0;
};

/// The lines below the heading. Only a connection that has not been accepted yet has no inode.
template <class Take>
void for_each_line(std::string_view text, Take take) {
  std::string_view line;
  proc::take_line(text, line);  // the heading
  while (proc::take_line(text, line)) {
    std::array<std::string_view, 10> fields;
    for (std::string_view& field : fields) field = proc::take_word(line);
    const std::optional<std::uint64_t> uid = proc::whole_number(fields[7]);
    const std::optional<std::uint64_t> inode = proc::whole_number(fields[9]);
    if (!inode) continue;
    take(Line{fields[3], plain_address(fields[1]), plain_address(fields[2]), *inode,
              uid ? static_cast<uid_t>(*uid) : static_cast<uid_t>(-1)});
  }
}

}  // namespace

std::vector<ListeningSocket> parse_listening_sockets(std::string_view text) {
  TcpSockets sockets;
  parse_tcp_sockets(text, sockets);
  return std::move(sockets.listening);
}

void parse_tcp_sockets(std::string_view text, TcpSockets& sockets) {
  for_each_line(text, [&sockets](const Line& line) {
    const std::uint16_t port = port_in(line.local);
    if (line.state == kEstablished) {
      sockets.connections.push_back({std::string(line.local), std::string(line.remote), port, line.inode});
    }
    if (line.inode == 0) return;
    sockets.inodes.push_back(line.inode);
    if (line.state == kListening) sockets.listening.push_back({line.inode, port, line.uid});
  });
}

TcpSockets read_tcp_sockets(const std::string& folder) {
  TcpSockets sockets;
  for (const char* name : {"/tcp", "/tcp6"}) {
    const std::string file = folder + name;
    const std::optional<std::string> text = proc::read_whole(AT_FDCWD, file.c_str(), kLongestList);
    // Without IPv6 there is no list of it, and no such socket. The other one is always there.
    const bool none = !text && errno == ENOENT && name == std::string_view("/tcp6");
    if (!none && (!text || text->size() == kLongestList)) sockets.complete = false;
    if (text) parse_tcp_sockets(*text, sockets);
  }
  return sockets;
}

std::vector<ListeningSocket> read_listening_sockets() { return read_tcp_sockets().listening; }

}  // namespace corral::survey
