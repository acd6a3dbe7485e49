#include "wire/channel.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cstdlib>

namespace corral::wire {

Channel::Channel(Loop& loop, UniqueFd out, Handler& handler, Framing framing)
    : loop_(loop), handler_(handler), framing_(framing), out_(std::move(out)) {
  fcntl(out_.get(), F_SETFL, fcntl(out_.get(), F_GETFL) | O_NONBLOCK);
  out_watch_ = std::make_unique<Watch>(loop, out_.get());
  out_watch_->when_broken(lifetime_.guard([this] {
    if (out_.valid()) lose_output();
  }));
}

void Channel::send(const Line& message, std::initializer_list<Edit> edits) {
  if (!out_.valid() || lost_) return;
  if (framing_ == Framing::Lines) {
    out_queue_.push(message, edits);
  } else {
    frame(message, edits, out_queue_);
  }
  if (out_queue_.bytes() > kHighWater) congested_ = true;
  schedule_flush();
}

void Channel::frame(const Line& /*message*/, std::initializer_list<Edit> /*edits*/, OutQueue& /*out*/) {
  std::abort();  // a bug: a subclass with a framing of its own must override this
}

/// Not at once: everything that is sent in this turn goes out in one write.
void Channel::schedule_flush() {
  if (flush_scheduled_ || waiting_to_write_) return;
  flush_scheduled_ = true;
  loop_.post(lifetime_.guard([this] {
    flush_scheduled_ = false;
    flush();
  }));
}

void Channel::flush() {
  if (!out_.valid()) return;
  const OutQueue::Flush outcome = out_queue_.flush(out_.get());
  if (outcome == OutQueue::Flush::Failed) return lose_output();
  waiting_to_write_ = outcome == OutQueue::Flush::Blocked;
  if (waiting_to_write_) {
    out_watch_->when_writable([this] {
      waiting_to_write_ = false;
      flush();
    });
  } else if (close_when_flushed_) {
    return close_output();
  }
  if (congested_ && out_queue_.bytes() < kLowWater) {
    congested_ = false;
    handler_.on_output_drained();
  }
}

/// From here on nothing is written, because it would only fail again.
void Channel::lose_output() {
  lost_ = true;
  out_queue_.clear();
  waiting_to_write_ = false;
  out_watch_->cancel();
  handler_.on_output_lost();
}

void Channel::close_output_when_flushed() {
  if (!out_.valid()) return;
  close_when_flushed_ = true;
  if (out_queue_.empty()) {
    close_output();
  } else {
    schedule_flush();
  }
}

void Channel::close_output() {
  out_watch_.reset();
  out_.reset();
  handler_.on_output_closed();
}

// FIONREAD counts what a pipe holds, whichever end is asked (pipe(7)).
bool Channel::output_unread() const {
  int bytes = 0;
  return queued() > 0 || (out_.valid() && ioctl(out_.get(), FIONREAD, &bytes) == 0 && bytes > 0);
}

void Channel::close() {
  reading_ = false;
  close_input();
  out_watch_.reset();
  out_.reset();
  out_queue_.clear();
}

}  // namespace corral::wire
