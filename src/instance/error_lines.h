// Turns what a server writes to stderr into lines that can be stored and shown in a terminal. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace corral::instance {

/// The lines of one instance. Holds at most one line that has begun.
class ErrorLines {
 public:
  /// A longer line is cut.
  static constexpr std::size_t kLongest = std::size_t{16} << 10;

  /// Appends every line that is complete now to `out`, each after `prefix`; returns how many.
  std::uint64_t take(std::string_view bytes, std::string_view prefix, std::string& out);
  /// The same for a last line that has no line end.
  std::uint64_t take_rest(std::string_view prefix, std::string& out);

 private:
  void begin(std::string_view part);
  bool put(std::string_view prefix, std::string& out);

  std::string begun_;
  bool cut_ = false;  // the rest of this line is dropped
};

/// "2026-11-16T03:40:00.123Z 1a2b3c4d ": the time and 8 digits of the id of the instance.
std::string error_line_prefix(std::int64_t time_ms, std::string_view instance);

/// The file name for a server: without '/' and control characters, and never a hidden file. Different servers
/// have different file names.
std::string log_file_name(const std::string& server);

}  // namespace corral::instance
