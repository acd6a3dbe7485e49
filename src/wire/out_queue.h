// Bytes on their way to a descriptor that may not take them now. Small pieces are gathered, so that many
// messages are one write; large ones stay where they are and are written from there.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/line_reader.h"
#include "wire/span.h"

namespace corral::wire {

/// Replaces a span of a line by another text; what lies between the edits stays as it is.
struct Edit {
  Span where;
  std::string_view text;
};

/// The text with the edits made: in order of place, not overlapping; those whose span is not present are
/// ignored.
std::string edited(std::string_view text, std::span<const Edit> edits);

class OutQueue {
 public:
  /// One message: the line with the edits made (in order of place, not overlapping; those whose span is not
  /// present are ignored) and a line end. Large pieces of a line with an owner are not copied.
  void push(const Line& line, std::initializer_list<Edit> edits = {});
  void push(std::string_view message) { push(Line{message, nullptr}); }
  /// The same without a line end.
  void push_bytes(const Line& piece, std::initializer_list<Edit> edits = {});

  std::size_t bytes() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }

  enum class Flush { Done, Blocked, Failed };
  /// Writes what the non-blocking descriptor takes now. Failed: the reader is gone; errno says how.
  Flush flush(int fd);
  /// The same for a socket, whose reader's end is an error here whatever is set for SIGPIPE.
  Flush flush_socket(int fd);
  void clear();

 private:
  /// Either gathered text or, with an owner, a piece of somebody's line.
  struct Chunk {
    std::string gathered;
    std::shared_ptr<const std::string> owner;
    std::string_view borrowed;

    std::string_view text() const { return owner ? borrowed : std::string_view(gathered); }
  };

  void append(std::string_view text);
  void append_line(std::string_view text, const std::shared_ptr<const std::string>& owner);
  template <class Write>
  Flush flush_with(Write write);
  void done(std::size_t bytes);

  // A vector with a moving front: an empty std::deque holds half a kilobyte, an empty vector nothing.
  std::vector<Chunk> chunks_;
  std::size_t first_ = 0;    // the first chunk that is not written
  std::size_t written_ = 0;  // how much of it is
  std::size_t bytes_ = 0;
};

}  // namespace corral::wire
