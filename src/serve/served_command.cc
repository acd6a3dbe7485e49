#include "serve/served_command.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace corral::serve {
namespace {

/// For arguments and environment together: more than the kernel accepts for an exec.
constexpr std::size_t kLongestServed = std::size_t{8} << 20;

Error cannot_be_passed(const char* why) {
  return Error{std::string("cannot pass the command to the daemon: ") + why};
}

bool write_served(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written <= 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// The next text; each ends with a NUL.
bool take_text(std::string_view& rest, std::string& text) {
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return false;
  text = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return true;
}

}  // namespace

std::string served_command_text(const ServeOptions& options) {
  std::string text = std::to_string(options.command.size()) + '\0' + options.cwd + '\0';
  for (const auto* list : {&options.command, &options.environment}) {
    for (const std::string& word : *list) (text += word) += '\0';
  }
  return text;
}

bool parse_served_command(const std::string& text, ServeOptions& options) {
  std::string_view rest = text;
  std::string number;
  std::string word;
  std::size_t words = 0;
  if (!take_text(rest, number) || !take_text(rest, options.cwd)) return false;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), words);
  if (error != std::errc{} || end != number.data() + number.size() || words == 0) return false;
  options.command.clear();
  options.environment.clear();
  while (options.command.size() < words) {
    if (!take_text(rest, word)) return false;
    options.command.push_back(word);
  }
  while (!rest.empty()) {
    if (!take_text(rest, word)) return false;
    options.environment.push_back(word);
  }
  return true;
}

Result<UniqueFd> write_served_command(const ServeOptions& options) {
  const std::string text = served_command_text(options);
  if (text.size() > kLongestServed) return cannot_be_passed("it is longer than 8 MiB; shorten it");
  UniqueFd file(memfd_create("corral-command", MFD_ALLOW_SEALING));
  if (!file.valid()) return cannot_be_passed(strerror(errno));
  if (!write_served(file.get(), text)) return cannot_be_passed(strerror(errno));
  fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return file;
}

Result<void> read_served_command(int file, ServeOptions& options) {
  std::string text;
  std::array<char, 16384> bytes;
  for (off_t at = 0; text.size() <= kLongestServed; at = static_cast<off_t>(text.size())) {
    const ssize_t got = pread(file, bytes.data(), bytes.size(), at);
    if (got < 0) return cannot_be_passed(strerror(errno));
    if (got == 0) break;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  if (parse_served_command(text, options)) return {};
  return cannot_be_passed("the received text is incomplete");
}

}  // namespace corral::serve
