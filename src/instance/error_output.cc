#include "instance/error_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace corral::instance {
namespace {

std::array<char, std::size_t{1} << 14> scratch;  // shared: a read is delivered before the next one
constexpr int kReadsPerTurn = 4;                 // much stderr must not delay the answers

}  // namespace

ErrorOutput::ErrorOutput(Loop& loop, UniqueFd fd, std::function<void(std::string_view)> listener)
    : loop_(loop),
      fd_(std::move(fd)),
      watch_(std::make_unique<Watch>(loop, fd_.get())),
      listener_(std::move(listener)) {
  fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
  wait();
}

void ErrorOutput::wait() {
  watch_->when_readable([this] {
    for (int turn = 0; turn < kReadsPerTurn; ++turn) {
      if (!read_once()) break;
    }
    if (fd_.valid()) wait();
  });
}

/// False if there is nothing to read now.
bool ErrorOutput::read_once() {
  const ssize_t got = read(fd_.get(), scratch.data(), scratch.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {
    watch_.reset();
    fd_.reset();
    return false;
  }
  const std::string_view chunk(scratch.data(), static_cast<std::size_t>(got));
  loop_.doing({"stderr", 1, chunk.size()});
  bytes_ += chunk.size();
  tail_ += chunk;
  if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  listener_(chunk);
  return true;
}

void ErrorOutput::read_rest() {
  constexpr int kMost = 64;
  for (int turn = 0; turn < kMost && fd_.valid(); ++turn) {
    if (!read_once()) return;
  }
}

}  // namespace corral::instance
