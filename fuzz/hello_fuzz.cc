// The first line that anyone sends to the daemon, and what a daemon says back: a value or an error, never a
// crash, and a value says the same after another trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "control/control_socket.h"
#include "control/hello.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace corral::control;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto hello = decode_hello(text); hello && hello->protocol == kProtocol) {
    const std::string line = encode(*hello);
    if (line.find('\n') != line.size() - 1) abort();
    const auto again = decode_hello(std::string_view(line).substr(0, line.size() - 1));
    if (!again || encode(*again) != line) abort();
    for (const std::string& word : hello->argv) {
      if (word.find('\0') != std::string::npos) abort();
    }
    for (const auto& command : hello->commands) {
      if (command.empty() || command.front().empty()) abort();
    }
  }
  if (const auto reply = decode_reply(text);
      reply && reply->kind != Reply::Kind::Status && reply->kind != Reply::Kind::Result) {
    const std::string line = encode(*reply);
    if (line.find('\n') != line.size() - 1) abort();
    const auto again = decode_reply(std::string_view(line).substr(0, line.size() - 1));
    if (!again || encode(*again) != line) abort();
  }
  ReplyReader reader;
  for (std::size_t at = 0; at < size; at += 7) {
    reader.add(text.substr(at, 7));
    const auto reply = reader.take();
    if (reply && !*reply) break;
  }
  return 0;
}
