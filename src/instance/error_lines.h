// What a server writes to stderr as lines that can be kept and shown. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace corral::instance {

/// The lines of one instance.
class ErrorLines {
 public:
  static constexpr std::size_t kLongest = std::size_t{16} << 10;

  /// Appends every line that is complete now to `out`, behind `prefix`; returns how many.
  std::uint64_t take(std::string_view bytes, std::string_view prefix, std::string& out);
  /// The same for one that has no end yet.
  std::uint64_t take_rest(std::string_view prefix, std::string& out);

 private:
  void begin(std::string_view part);
  bool put(std::string_view prefix, std::string& out);

  std::string begun_;
  bool cut_ = false;  // the rest of this line is left out
};

/// "2026-11-16T03:40:00.123Z 1a2b3c4d ": when, and 8 digits of who.
std::string error_line_prefix(std::int64_t time_ms, std::string_view instance);

/// A server's name as the name of its file: no '/', nothing that a terminal shows otherwise, never hidden.
/// Different names stay different.
std::string log_file_name(const std::string& server);

}  // namespace corral::instance
