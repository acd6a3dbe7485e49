// Cuts a stream of bytes into lines. Holds memory only for a line that has begun and not ended: an idle
// connection costs none. A large line is handed over with its buffer, so that nobody copies it again; when
// everybody has let go of it, the next large line uses it again.
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

/// One line without its end ("\n" or "\r\n"). `owner` is set for a large line: whoever keeps it keeps the
/// text.
struct Line {
  std::string_view text;
  std::shared_ptr<const std::string> owner;
};

class LineReader {
 public:
  /// `cap` is the length of the longest line that is accepted, without its end.
  explicit LineReader(std::size_t cap) : cap_(std::min(cap, kLargestCap)) {}

  /// Where the next bytes should be read to. `scratch` is the caller's, shared by all its readers; it is
  /// returned unless a line has begun.
  std::span<char> room(std::span<char> scratch);
  /// Tells how many bytes came; then `next` gives the lines until it gives none, before `room` is asked
  /// again.
  void took(std::size_t bytes);
  /// Whoever stops before `next` gave none calls this: what is left in the caller's scratch is copied, and
  /// `next` can go on later.
  void hold();

  /// The next complete line that is not empty; its text is good until the next call of anything here.
  std::optional<Line> next();

  /// A line that passed the cap was thrown away; asked after `next` gave none, until it gives none itself.
  /// The id is the JSON text of its top-level member, empty if it had none or was not JSON.
  struct Oversized {
    std::string id;
    std::size_t bytes = 0;
    bool asks = false;        // it had a "method": the id is its sender's own
    bool may_answer = false;  // it looked like an answer: see OversizedLine
  };
  std::optional<Oversized> take_oversized();

  /// The buffer of the last large line is kept until this is called: fetching its pages from the kernel takes
  /// longer than filling them.
  bool has_spare() const { return spare_ != nullptr; }
  void forget_spare() { spare_.reset(); }

  /// What stands after the last line end, when the stream has ended.
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
  std::size_t filled_ = 0;  // how many bytes of it have come
  bool into_begun_ = false;
  bool waiting_ = false;  // bytes came that `next` has not been through
  char* target_ = nullptr;
  std::string_view rest_;                   // these bytes: in the caller's scratch, in begun_ or in held_
  std::size_t searched_ = 0;                // how many of them are known to hold no line end
  std::shared_ptr<std::string> held_;       // a buffer that went with a large line and has rest_ behind it
  std::shared_ptr<std::string> spare_;      // the last of these, which others may still have
  std::unique_ptr<OversizedLine> skipped_;  // the line that is being thrown away
  std::vector<Oversized> oversized_;
};

}  // namespace corral::wire
