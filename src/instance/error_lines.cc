#include "instance/error_lines.h"

#include <algorithm>

#include "base/text.h"
#include "base/utc_time.h"
#include "knowledge/launch_key.h"

namespace corral::instance {
namespace {

constexpr std::string_view kCutMark = " [cut]";
constexpr std::size_t kShortInstance = 8;

}  // namespace

std::uint64_t ErrorLines::take(std::string_view bytes, std::string_view prefix, std::string& out) {
  std::uint64_t lines = 0;
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    begin(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    lines += put(prefix, out) ? 1 : 0;
  }
  begin(bytes);
  return lines;
}

std::uint64_t ErrorLines::take_rest(std::string_view prefix, std::string& out) {
  return put(prefix, out) ? 1 : 0;
}

void ErrorLines::begin(std::string_view part) {
  const std::size_t room = kLongest - begun_.size();
  if (part.size() > room) cut_ = true;
  begun_.append(part.substr(0, room));
}

/// An empty line is left out: it has no information, and its prefix would take thirty times its size.
bool ErrorLines::put(std::string_view prefix, std::string& out) {
  if (begun_.ends_with('\r')) begun_.pop_back();
  const bool any = !begun_.empty();
  if (any) {
    std::replace(begun_.begin(), begun_.end(), '\t', ' ');  // a tab would be shown as an escape sequence
    out.append(prefix).append(printable(begun_)).append(cut_ ? kCutMark : "").append("\n");
  }
  // Most lines are short, so the memory of a long one is released.
  begun_.size() > 1024 ? void(begun_ = std::string()) : begun_.clear();
  cut_ = false;
  return any;
}

std::string error_line_prefix(std::int64_t time_ms, std::string_view instance) {
  return show_utc(time_ms) + " " + std::string(instance.substr(0, kShortInstance)) + " ";
}

std::string log_file_name(const std::string& server) {
  constexpr std::size_t kLongestName = 200;
  const bool plain = !server.empty() && server.size() <= kLongestName && server.front() != '.' &&
                     server.front() != '-' && server.find('/') == std::string::npos &&
                     printable(server) == server;
  if (plain) return server + ".log";
  std::string readable;
  for (const char letter : std::string_view(server).substr(0, 40)) {
    const bool fine = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                      (letter >= '0' && letter <= '9') ||
                      (!readable.empty() && (letter == '-' || letter == '.'));
    readable += fine ? letter : '_';
  }
  return readable + "-" + knowledge::name_digest(server) + ".log";
}

}  // namespace corral::instance
