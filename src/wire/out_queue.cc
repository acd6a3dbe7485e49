#include "wire/out_queue.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace corral::wire {

namespace {

/// A chunk of combined messages: large enough for an efficient write.
constexpr std::size_t kChunk = 64 * 1024;
/// Enough for most chunks, so that they do not grow step by step.
constexpr std::size_t kFirstRoom = 500;
/// The capacity that an empty queue keeps for the next message.
constexpr std::size_t kKept = 1024;
constexpr std::size_t kMostPieces = 64;
/// Bytes written by one flush.
constexpr std::size_t kMostAtOnce = std::size_t{4} << 20;

}  // namespace

void OutQueue::push(const Line& line, std::initializer_list<Edit> edits) {
  push_bytes(line, edits);
  append("\n");
}

void OutQueue::push_bytes(const Line& line, std::initializer_list<Edit> edits) {
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (!edit.where.present()) continue;
    if (edit.where.begin < at || edit.where.end > line.text.size()) std::abort();  // a bug of the caller
    append_line(line.text.substr(at, edit.where.begin - at), line.owner);
    append(edit.text);
    at = edit.where.end;
  }
  append_line(line.text.substr(at), line.owner);
}

void OutQueue::append_line(std::string_view text, const std::shared_ptr<const std::string>& owner) {
  if (owner == nullptr || text.size() < kLargeText) {
    append(text);
    return;
  }
  chunks_.push_back({{}, owner, text});
  bytes_ += text.size();
}

void OutQueue::append(std::string_view text) {
  if (text.empty()) return;
  const bool fits = !chunks_.empty() && chunks_.back().owner == nullptr &&
                    chunks_.back().gathered.size() + text.size() <= kChunk;
  if (!fits) chunks_.emplace_back().gathered.reserve(std::max(text.size(), kFirstRoom));
  chunks_.back().gathered.append(text);
  bytes_ += text.size();
}

OutQueue::Flush OutQueue::flush(int fd) {
  return flush_with([fd](iovec* pieces, std::size_t count) {  //
    return writev(fd, pieces, static_cast<int>(count));
  });
}

OutQueue::Flush OutQueue::flush_socket(int fd) {
  return flush_with([fd](iovec* pieces, std::size_t count) {
    if (count == 1) return send(fd, pieces->iov_base, pieces->iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

template <class Write>
OutQueue::Flush OutQueue::flush_with(Write write) {
  std::size_t total = 0;
  while (!empty()) {
    if (total > kMostAtOnce)
      return Flush::Blocked;  // the reader is as fast as we are; let others have their turn
    std::array<iovec, kMostPieces> pieces;
    const std::size_t count = std::min(chunks_.size() - first_, kMostPieces);
    for (std::size_t i = 0; i < count; ++i) {
      std::string_view text = chunks_[first_ + i].text();
      if (i == 0) text.remove_prefix(written_);
      pieces[i] = {const_cast<char*>(text.data()), text.size()};
    }
    const ssize_t taken = write(pieces.data(), count);
    if (taken > 0) {
      total += static_cast<std::size_t>(taken);
      done(static_cast<std::size_t>(taken));
    } else if (taken == 0 || errno == EAGAIN) {
      return Flush::Blocked;
    } else if (errno != EINTR) {
      return Flush::Failed;
    }
  }
  return Flush::Done;
}

/// Releases what was written.
void OutQueue::done(std::size_t bytes) {
  bytes_ -= bytes;
  if (bytes_ == 0) {
    clear();
    return;
  }
  written_ += bytes;
  while (written_ >= chunks_[first_].text().size()) {
    written_ -= chunks_[first_].text().size();
    chunks_[first_] = {};
    ++first_;
  }
  // Moving the rest only when it is the smaller half costs a constant amount per chunk.
  if (first_ > chunks_.size() / 2) {
    chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

void OutQueue::clear() {
  const bool small =
      chunks_.size() == 1 && chunks_[0].owner == nullptr && chunks_[0].gathered.capacity() <= kKept;
  if (small) {
    chunks_[0].gathered.clear();
  } else {
    chunks_ = {};
  }
  first_ = 0;
  written_ = 0;
  bytes_ = 0;
}

}  // namespace corral::wire
