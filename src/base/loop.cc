#include "base/loop.h"

#include <poll.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace corral {

namespace asio = boost::asio;
using boost::system::error_code;

struct Loop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;
void Loop::run() { impl_->context.run(); }
void Loop::run_due() { impl_->context.poll(); }
void Loop::stop() { impl_->context.stop(); }
void Loop::post(Task task) { asio::post(impl_->context, std::move(task)); }

// ---- Watch

// A completion that is queued already cannot be taken back, so each carries the number of the wait that it
// belongs to: cancelling moves on to the next number, and a late completion finds itself out of date.
struct Watch::Impl : std::enable_shared_from_this<Watch::Impl> {
  Impl(Loop& loop, int fd) : descriptor(loop.impl().context, fd) {}
  ~Impl() { descriptor.release(); }

  using Wait = asio::posix::stream_descriptor::wait_type;

  void wait(Wait type, Task& slot, Task task) {
    const bool waiting = slot != nullptr;
    slot = std::move(task);
    if (!waiting) arm(type, slot);
  }

  void arm(Wait type, Task& slot) {
    descriptor.async_wait(type,
                          [self = shared_from_this(), type, &slot, at = generation](const error_code& error) {
                            // An error is for the reader to find: it reads and sees it.
                            if (self->generation != at || !slot) return;
                            if (!error && !is_so(self->descriptor.native_handle(), type))
                              return self->arm(type, slot);
                            const Task call = std::exchange(slot, nullptr);
                            call();
                          });
  }

  /// Asio keeps its notes about released descriptors for the next ones, and news that were queued for the old
  /// one are then told to the new one. A pipe that somebody else's end broke must not look broken.
  static bool is_so(int fd, Wait type) {
    const int events = type == Wait::wait_read ? POLLIN : type == Wait::wait_write ? POLLOUT : 0;
    pollfd state{fd, static_cast<short>(events), 0};
    return poll(&state, 1, 0) != 0;
  }

  asio::posix::stream_descriptor descriptor;
  std::uint64_t generation = 0;
  Task readable;
  Task writable;
  Task broken;
};

Watch::Watch(Loop& loop, int fd) : impl_(std::make_shared<Impl>(loop, fd)) {}

Watch::~Watch() {
  cancel();
  impl_->descriptor.release();
}

void Watch::when_readable(Task task) { impl_->wait(Impl::Wait::wait_read, impl_->readable, std::move(task)); }
void Watch::when_writable(Task task) {
  impl_->wait(Impl::Wait::wait_write, impl_->writable, std::move(task));
}
void Watch::when_broken(Task task) { impl_->wait(Impl::Wait::wait_error, impl_->broken, std::move(task)); }

void Watch::cancel() {
  ++impl_->generation;
  impl_->readable = impl_->writable = impl_->broken = nullptr;
  error_code ignored;
  impl_->descriptor.cancel(ignored);
}

// ---- Timer

struct Timer::Impl {
  explicit Impl(Loop& loop) : timer(loop.impl().context) {}

  asio::steady_timer timer;
  std::uint64_t generation = 0;
  bool running = false;
};

Timer::Timer(Loop& loop) : impl_(std::make_shared<Impl>(loop)) {}
Timer::~Timer() { cancel(); }

void Timer::start(Clock::duration after, Task task) {
  const std::uint64_t at = ++impl_->generation;
  impl_->running = true;
  impl_->timer.expires_after(after);
  impl_->timer.async_wait([impl = impl_, at, task = std::move(task)](const error_code&) {
    if (impl->generation != at) return;
    impl->running = false;
    task();
  });
}

void Timer::cancel() {
  ++impl_->generation;
  impl_->running = false;
  impl_->timer.cancel();
}

bool Timer::running() const { return impl_->running; }

}  // namespace corral
