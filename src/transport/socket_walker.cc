#include "transport/socket_walker.h"

#include <signal.h>

#include <system_error>
#include <utility>

namespace corral::transport {

SocketWalker::~SocketWalker() {
  {
    const std::lock_guard guard(mutex_);
    stopped_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool SocketWalker::look_for(std::uint64_t inode) {
  if (!thread_.joinable() && !start()) return false;
  {
    const std::lock_guard guard(mutex_);
    wanted_.push_back(inode);
  }
  wake_.notify_one();
  return true;
}

bool SocketWalker::start() {
  // Signals are for the loop's thread; a new thread inherits the mask of its creator.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // thread limit of this user
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_.joinable();
}

void SocketWalker::run() {
  for (;;) {
    std::vector<std::uint64_t> batch;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopped_ || !wanted_.empty(); });
      if (stopped_) return;
      batch.swap(wanted_);
    }
    Holders found = find_holders(batch, stopped_);
    if (stopped_) return;
    walked_(std::move(batch), std::move(found));
  }
}

}  // namespace corral::transport
