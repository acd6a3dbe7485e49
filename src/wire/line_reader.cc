#include "wire/line_reader.h"

#include <utility>

namespace corral::wire {

namespace {

constexpr std::size_t kKiB = 1024;
/// A longer line is passed on with its buffer; for a shorter one, a copy costs less than the bookkeeping.
constexpr std::size_t kLarge = 64 * kKiB;
/// Room for one read. The upper bound avoids touching memory that is never filled; a pipe returns 64 KiB at a
/// time, a socket about 200.
constexpr std::size_t kLeastRoom = 16 * kKiB;
constexpr std::size_t kMostRoom = 256 * kKiB;
/// A line's buffer may be this many times its size.
constexpr std::size_t kMostWaste = 4;
/// How far the buffer may extend beyond the cap: enough to read on without a new buffer.
constexpr std::size_t kBeyondCap = 64 * kKiB;

std::string_view without_return(std::string_view text) {
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

}  // namespace

std::span<char> LineReader::room(std::span<char> scratch) {
  into_begun_ = filled_ > 0;
  if (!into_begun_) {
    target_ = scratch.data();
    return scratch;
  }
  const std::size_t limit = cap_ + kBeyondCap;
  if (begun_.capacity() < limit && begun_.capacity() - filled_ < kLeastRoom) grow(limit);
  const std::size_t wanted = filled_ + std::clamp(filled_, kLeastRoom, kMostRoom);
  const std::size_t end = std::min({wanted, begun_.capacity(), limit});
  if (begun_.size() < end) begun_.resize(end);
  return {begun_.data() + filled_, end - filled_};
}

void LineReader::grow(std::size_t limit) {
  std::string larger;
  const bool reused = spare_ != nullptr && spare_.use_count() == 1 && spare_->size() > 2 * filled_;
  if (reused) {
    larger = std::move(*std::exchange(spare_, nullptr));
    std::copy_n(begun_.data(), filled_, larger.data());
  } else {
    // A new string, because reserve() on an old one doubles its capacity and could exceed the limit.
    larger.reserve(std::min(2 * filled_ + kLeastRoom, limit));
    larger.append(begun_, 0, filled_);
  }
  begun_ = std::move(larger);
}

void LineReader::took(std::size_t bytes) {
  waiting_ = true;
  if (into_begun_) {
    rest_ = {begun_.data(), filled_ + bytes};
    searched_ = filled_;
  } else {
    rest_ = {target_, bytes};
    searched_ = 0;
  }
}

void LineReader::hold() {
  if (!waiting_ || into_begun_ || held_ != nullptr) return;  // it is already in our own memory
  held_ = std::make_shared<std::string>(rest_);
  rest_ = *held_;
}

std::optional<Line> LineReader::next() {
  while (waiting_) {
    if (skipped_ != nullptr) {
      skip();
      continue;
    }
    const std::size_t end = rest_.find('\n', searched_);
    if (end == std::string_view::npos) {
      keep_rest();
      break;
    }
    const std::string_view whole = rest_.substr(0, end);
    const std::string_view text = without_return(whole);
    rest_.remove_prefix(end + 1);
    searched_ = 0;
    if (text.size() > cap_) {
      OversizedLine line;
      line.feed(whole);
      report(line);
    } else if (!text.empty()) {
      return hand_out(text);
    }
  }
  return std::nullopt;
}

std::optional<Line> LineReader::hand_out(std::string_view text) {
  if (text.size() <= kLarge) return Line{text, nullptr};
  if (into_begun_) {
    // Moving a string of this size leaves its bytes where they are, so `text` and `rest_` stay valid.
    spare_ = held_ = std::make_shared<std::string>(std::move(begun_));
    into_begun_ = false;
    begun_ = {};
    filled_ = 0;
  }
  if (held_ == nullptr || text.size() > held_->capacity() / kMostWaste) return Line{text, held_};
  // A caller that keeps the line for long must not keep a buffer that once held something much larger.
  const auto owner = std::make_shared<const std::string>(text);
  return Line{*owner, owner};
}

/// What is left is the beginning of a line, or nothing.
void LineReader::keep_rest() {
  waiting_ = false;
  const std::string_view rest = std::exchange(rest_, {});
  if (rest.size() > cap_ && without_return(rest).size() > cap_) {
    skipped_ = std::make_unique<OversizedLine>();
    skipped_->feed(rest);
    release();
  } else if (rest.empty()) {
    release();
  } else if (into_begun_ && rest.data() == begun_.data()) {
    filled_ = rest.size();
  } else {
    // Copied to a new string: its current buffer belongs to others or is too large for it.
    std::string begun(rest);
    release();
    begun_ = std::move(begun);
    filled_ = begun_.size();
  }
}

void LineReader::release() {
  begun_ = {};
  filled_ = 0;
  into_begun_ = false;
  held_.reset();
}

void LineReader::skip() {
  const std::size_t end = rest_.find('\n');
  skipped_->feed(rest_.substr(0, end));
  if (end == std::string_view::npos) {
    rest_ = {};
    waiting_ = false;
    return;
  }
  rest_.remove_prefix(end + 1);
  report(*skipped_);
  skipped_.reset();
}

void LineReader::report(const OversizedLine& line) {
  oversized_.push_back({line.id(), line.bytes(), line.asks(), line.may_answer()});
}

std::optional<Oversized> LineReader::take_oversized() {
  if (oversized_.empty()) return std::nullopt;
  Oversized first = std::move(oversized_.front());
  oversized_.erase(oversized_.begin());
  if (oversized_.empty()) oversized_ = {};
  return first;
}

}  // namespace corral::wire
