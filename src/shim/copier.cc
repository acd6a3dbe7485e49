#include "shim/copier.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace corral::shim {

pollfd Copier::wanted() const {
  if (done()) return {-1, 0, 0};
  if (!buffer_.empty()) return {to_.get(), POLLOUT, 0};
  return {from_.get(), POLLIN, 0};
}

void Copier::advance() {
  if (done()) return;
  if (buffer_.empty()) {
    std::array<char, std::size_t{64} << 10> chunk;
    const ssize_t size = read(from_.get(), chunk.data(), chunk.size());
    if (size > 0) {
      buffer_.assign(chunk.data(), static_cast<std::size_t>(size));
    } else if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
      return finish();
    }
  }
  if (buffer_.empty()) return;
  const ssize_t size = write(to_.get(), buffer_.data(), buffer_.size());
  if (size > 0) {
    buffer_.erase(0, static_cast<std::size_t>(size));
  } else if (size < 0 && errno != EAGAIN && errno != EINTR) {
    finish();  // there is no reader, so the writer must see a closed pipe
  }
}

void Copier::finish() {
  from_.reset();
  to_.reset();
  std::string().swap(buffer_);
}

}  // namespace corral::shim
