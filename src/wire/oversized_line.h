// A line that is too long to keep, or not a message: its bytes go by and are thrown away, but the top-level
// "id" is caught wherever it stands, so that whoever waits for an answer can get one.
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
  /// Whether it has a top-level "method": then the id is the sender's own, and not the one of a call to it.
  bool asks() const { return asks_; }
  /// Whether it looks like an answer: it does not ask, and has a top-level "jsonrpc", or a "result" or an
  /// "error" that is an object or a list. A record of a log has none of them (its "error" is a text), and its
  /// "id" is not the one of a call.
  bool may_answer() const { return !asks_ && rpc_; }

 private:
  enum class Catch : std::uint8_t { Nothing, Key, Id };

  const char* in_string(const char* at, const char* end);
  const char* below(const char* at, const char* end);
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
  bool asks_ = false;
  bool rpc_ = false;
  bool outcome_begins_ = false;  // the value of a "result" or an "error"
  Catch catch_ = Catch::Nothing;
  std::size_t depth_ = 0;
  std::size_t ids_ = 0;
  std::string caught_;
  std::string id_;
};

/// The id of the call that a line would answer if it were a message; empty if it names none, asks something
/// itself, or does not look like an answer.
std::string answered_id(std::string_view line);

}  // namespace corral::wire
