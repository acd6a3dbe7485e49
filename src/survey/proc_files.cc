#include "survey/proc_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstddef>

namespace corral::survey {
namespace {

constexpr std::string_view kBlanks = " \t\n";

ssize_t read_some(int fd, char* to, std::size_t room) {
  ssize_t got = -1;
  do got = read(fd, to, room);
  while (got < 0 && errno == EINTR);
  return got;
}

/// No wait for whoever is at the other end: in a directory that is not /proc a name may be anything.
UniqueFd open_file(int directory, const char* name) {
  return UniqueFd(openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

}  // namespace

UniqueFd open_directory(int parent, const char* name) {
  return UniqueFd(openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::optional<std::string_view> read_once(int directory, const char* name, std::span<char> buffer) {
  const UniqueFd file = open_file(directory, name);
  if (!file.valid()) return std::nullopt;
  const ssize_t got = read_some(file.get(), buffer.data(), buffer.size());
  if (got < 0) return std::nullopt;
  return std::string_view(buffer.data(), static_cast<std::size_t>(got));
}

std::optional<std::string> read_whole(int directory, const char* name, std::size_t most) {
  constexpr std::size_t kStep = 65536;
  const UniqueFd file = open_file(directory, name);
  if (!file.valid()) return std::nullopt;
  std::string text;
  while (text.size() < most) {
    const std::size_t before = text.size();
    text.resize(std::min(before + kStep, most));
    const ssize_t got = read_some(file.get(), text.data() + before, text.size() - before);
    if (got < 0) return std::nullopt;
    text.resize(before + static_cast<std::size_t>(got));
    if (got == 0) break;
  }
  return text;
}

std::string read_link(int directory, const char* name) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(directory, name, target, sizeof target);
  return length < 0 ? std::string() : std::string(target, static_cast<std::size_t>(length));
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  const std::optional<std::uint64_t> number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

bool take_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return true;
}

std::string_view value_of(std::string_view text, std::string_view name) {
  for (std::string_view line; take_line(text, line);) {
    if (!line.starts_with(name) || line.size() == name.size() || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    return line.substr(0, line.find_last_not_of(kBlanks) + 1);
  }
  return {};
}

const char* DirectoryNames::next() {
  if (at_ >= filled_) {
    const long got = syscall(SYS_getdents64, directory_, bytes_.data(), bytes_.size());
    if (got <= 0) return nullptr;
    filled_ = static_cast<std::size_t>(got);
    at_ = 0;
  }
  const auto* const entry = reinterpret_cast<const dirent64*>(bytes_.data() + at_);
  at_ += entry->d_reclen;
  return entry->d_name;
}

}  // namespace corral::survey
