// Queues bytes for a descriptor that cannot take them now. Small pieces are combined, so that many messages
// need one write; large ones are written from where they are.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "wire/line_reader.h"
#include "wire/span.h"

namespace corral::wire {

/// Not for concurrent use. The caller owns the descriptor.
class OutQueue {
 public:
  /// Queues one message: the line with the edits applied (as in `edited`) and a line end. Large pieces of a
  /// line with an owner are not copied; the queue keeps a reference to the owner.
  void push(const Line& line, std::initializer_list<Edit> edits = {});
  void push(std::string_view message) { push(Line{message, nullptr}); }
  /// The same without a line end.
  void push_bytes(const Line& piece, std::initializer_list<Edit> edits = {});

  std::size_t bytes() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }

  enum class Flush { Done, Blocked, Failed };
  /// Writes what the non-blocking descriptor takes now. Failed: the reader is gone; errno says why.
  Flush flush(int fd);
  /// The same for a socket: a closed peer is an error here and raises no SIGPIPE.
  Flush flush_socket(int fd);
  void clear();

 private:
  /// Either combined text or, with an owner, a piece of a line that is not copied.
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

  // A vector with a moving front: an empty std::deque takes half a kilobyte, an empty vector nothing.
  std::vector<Chunk> chunks_;
  std::size_t first_ = 0;    // the first chunk that is not completely written
  std::size_t written_ = 0;  // how much of it is written
  std::size_t bytes_ = 0;
};

}  // namespace corral::wire
