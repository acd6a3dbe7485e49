// Splits a stream of bytes into lines. Holds memory only for a line that has begun and not ended, so an idle
// connection costs nothing. A large line is passed on with its buffer, so that it is not copied again; once
// all references to the buffer are gone, the next large line reuses it. Not for concurrent use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/oversized_line.h"

namespace corral::wire {

/// One line without its end ("\n" or "\r\n"). For a large line `owner` is set and keeps `text` alive;
/// otherwise `text` is valid only during the callback.
struct Line {
  std::string_view text;
  std::shared_ptr<const std::string> owner;
};

/// From this size on a text has an owner and is moved or referred to instead of copied. Below, copying it
/// into the next write is cheaper than the allocation and the extra piece.
inline constexpr std::size_t kLargeText = std::size_t{16} << 10;

class LineReader {
 public:
  /// `cap` is the length of the longest accepted line, without its end.
  explicit LineReader(std::size_t cap) : cap_(std::min(cap, kLargestCap)) {}

  /// Where the next bytes should be read to. `scratch` belongs to the caller and is shared by all its
  /// readers; it is returned unless a line has begun.
  std::span<char> room(std::span<char> scratch);
  /// Says how many bytes were read. Then call `next` until it returns nothing, before the next call of
  /// `room`.
  void took(std::size_t bytes);
  /// Call this when stopping before `next` returned nothing: copies what is left in the caller's scratch, so
  /// that `next` can continue later.
  void hold();

  /// The next complete line that is not empty. Its text is valid until the next call of any method.
  std::optional<Line> next();

  /// A line that was longer than the cap and was discarded. Call this after `next` returned nothing, until it
  /// returns nothing too.
  std::optional<Oversized> take_oversized();

  /// The buffer of the last large line is kept until `forget_spare`: getting its pages from the kernel takes
  /// longer than filling them.
  bool has_spare() const { return spare_ != nullptr; }
  void forget_spare() { spare_.reset(); }

  /// Whether text is left after the last line end; for use when the stream has ended.
  bool has_partial() const { return filled_ > 0 || skipped_ != nullptr; }

 private:
  static constexpr std::size_t kLargestCap = std::size_t{1} << 40;

  std::optional<Line> hand_out(std::string_view text);
  void grow(std::size_t limit);
  void keep_rest();
  void release();
  void skip();
  void report(const OversizedLine& line);

  std::size_t cap_;
  std::string begun_;       // the line that has begun, and room for more of it
  std::size_t filled_ = 0;  // how many of its bytes have arrived
  bool into_begun_ = false;
  bool waiting_ = false;  // bytes arrived that `next` has not processed
  char* target_ = nullptr;
  std::string_view rest_;     // the unprocessed bytes: in the caller's scratch, in begun_ or in held_
  std::size_t searched_ = 0;  // how many of them contain no line end
  std::shared_ptr<std::string>
      held_;  // a buffer that was passed on with a large line and also contains rest_
  std::shared_ptr<std::string> spare_;      // the last of these, which others may still use
  std::unique_ptr<OversizedLine> skipped_;  // the line that is being discarded
  std::vector<Oversized> oversized_;
};

}  // namespace corral::wire
