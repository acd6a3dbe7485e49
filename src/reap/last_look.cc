#include "reap/last_look.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "keeper/proc_fs.h"
#include "proc/proc_files.h"

namespace corral::reap {
namespace {

/// The text after "
/// Label:" and spaces.
std::string_view after(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + label.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return true;
}

}  // namespace

LastLook parse_status(std::string_view text) {
  LastLook look;
  const std::string_view state = after(text, "\nState:");
  std::string_view uids = after(text, "\nUid:");
  std::string_view tracer = after(text, "\nTracerPid:");
  if (state.empty()) return look;
  look.state = state.front();
  look.there =
      take_number(uids, look.real) && take_number(uids, look.effective) && take_number(tracer, look.tracer);
  return look;
}

LastLook look(pid_t pid) {
  std::array<char, 4096> buffer{};  // the relevant lines are in the first kilobyte
  const std::string path = "/proc/" + std::to_string(pid) + "/status";
  const auto text = proc::read_once(AT_FDCWD, path.c_str(), buffer);
  return text && !text->empty() ? parse_status(*text) : LastLook{};
}

std::vector<pid_t> own_line() {
  std::vector<pid_t> line{getpid()};
  keeper::StatLine stat;
  while (line.back() > 1 && keeper::read_stat(line.back(), stat) && stat.parent > 0) {
    if (std::find(line.begin(), line.end(), stat.parent) != line.end()) break;
    line.push_back(stat.parent);
  }
  return line;
}

}  // namespace corral::reap
