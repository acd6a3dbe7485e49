#include "base/acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace corral {
namespace {

constexpr int kAcceptedPerTurn = 64;  // then others have their turn
constexpr std::chrono::milliseconds kBackOff{100};

}  // namespace

Acceptor::Acceptor(Loop& loop, UniqueFd socket, Accepted accepted, OutOfResources out_of_resources)
    : socket_(std::move(socket)),
      watch_(std::make_unique<Watch>(loop, socket_.get())),
      pause_(loop),
      accepted_(std::move(accepted)),
      out_of_resources_(std::move(out_of_resources)) {
  fcntl(socket_.get(), F_SETFL, fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
  wait();
}

void Acceptor::close() {
  pause_.cancel();
  watch_.reset();
  socket_.reset();
}

void Acceptor::wait() {
  watch_->when_readable([this] { accept_some(); });
}

void Acceptor::accept_some() {
  const Lifetime::Watch life = lifetime_.watch();
  for (int i = 0; i < kAcceptedPerTurn; ++i) {
    UniqueFd connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.valid()) {
      accepted_(std::move(connection));
      if (life.over() || !socket_.valid()) return;
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return back_off();
    }
  }
  wait();
}

/// Out of descriptors or memory. The connections that wait in the kernel's queue would wake us again at once.
void Acceptor::back_off() {
  if (out_of_resources_) out_of_resources_();
  pause_.start(kBackOff, [this] { accept_some(); });
}

}  // namespace corral
