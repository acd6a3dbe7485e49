#include "base/unique_id.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "base/files.h"

namespace corral {
namespace {

void fill(void* bytes, std::size_t count) {
  auto* const at = static_cast<unsigned char*>(bytes);
  for (std::size_t got = 0; got < count;) {
    const ssize_t more = getrandom(at + got, count - got, 0);
    if (more > 0) got += static_cast<std::size_t>(more);
    // A name that can be guessed would be a security hole, so there is no fallback.
    if (more < 0 && errno != EINTR) std::abort();
  }
}

}  // namespace

std::uint32_t random_number() {
  std::uint32_t number = 0;
  fill(&number, sizeof number);
  return number;
}

std::string random_hex(std::size_t bytes) {
  std::vector<unsigned char> random(bytes);
  fill(random.data(), bytes);
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes);
  for (const unsigned char byte : random) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string machine_id() {
  std::string text = read_text("/etc/machine-id");
  if (text.empty()) text = read_text("/var/lib/dbus/machine-id");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string boot_id() {
  std::string text = read_text("/proc/sys/kernel/random/boot_id");
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace corral
