// A line that is too long to keep: its bytes go by and are thrown away, but the top-level "id" is caught
// wherever it stands, so that whoever waits for an answer can get one. For the line reader only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace corral::wire {

class OversizedLine {
 public:
  /// Longer ids are not worth an answer.
  static constexpr std::size_t kMaxId = 1024;

  void feed(std::string_view bytes);

  /// Without the "\r" of the line end.
  std::size_t bytes() const { return bytes_ - (last_ == '\r' ? 1 : 0); }
  /// After the last byte: the id's JSON text; empty if there is none, more than one, one that is neither a
  /// string nor a number, or if the line is plainly no object. It looks at brackets and strings, no closer.
  std::string id() const;

 private:
  enum class Catch : std::uint8_t { Nothing, Key, Id };

  const char* in_string(const char* at, const char* end);
  void structure(char byte);
  void open();
  void close();
  void next_member();
  void value_begins();
  void note(const char* from, const char* to);

  std::size_t bytes_ = 0;
  char last_ = '\0';
  bool broken_ = false;
  bool ended_ = false;  // the object is closed
  bool in_string_ = false;
  bool after_backslash_ = false;
  bool key_expected_ = false;
  bool too_long_ = false;
  Catch catch_ = Catch::Nothing;
  std::size_t depth_ = 0;
  std::size_t ids_ = 0;
  std::string caught_;
  std::string id_;
};

}  // namespace corral::wire
