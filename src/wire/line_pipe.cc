#include "wire/line_pipe.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace corral::wire {
namespace {

// Shared by all pipes: a read is delivered before the next one starts.
std::array<char, std::size_t{1} << 16> scratch;

// The buffer of a large line is reused within this time, or released.
constexpr std::chrono::seconds kSpareIsKept{1};

// A pipe that always has more must not keep the others waiting.
constexpr int kReadsPerTurn = 16;

void make_non_blocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

LinePipe::LinePipe(Loop& loop, UniqueFd in, UniqueFd out, std::size_t line_cap, Handler& handler,
                   const char* what)
    : loop_(loop),
      what_(what),
      handler_(handler),
      in_(std::move(in)),
      out_(std::move(out)),
      reader_(line_cap) {
  make_non_blocking(in_.get());
  make_non_blocking(out_.get());
  in_watch_ = std::make_unique<Watch>(loop, in_.get());
  out_watch_ = std::make_unique<Watch>(loop, out_.get());
  out_watch_->when_broken(lifetime_.guard([this] {
    if (out_.valid()) lose_output();
  }));
}

// ---- in

void LinePipe::resume() {
  if (reading_ || input_ended_ || rest_done_ || !in_.valid()) return;
  reading_ = true;
  if (backlog_) return go_on_later();
  wait_for_input();
}

void LinePipe::pause() { reading_ = false; }

void LinePipe::wait_for_input() {
  in_watch_->when_readable([this] { read_some(); });
}

void LinePipe::read_some() {
  if (rest_done_) return;
  lines_ = bytes_ = 0;
  if (backlog_) {
    const Handed handed = hand_over_lines(Until::TurnIsUsedUp);
    if (handed == Handed::WeAreGone) return;
    if (handed == Handed::Some) return go_on_later();
  }
  for (int turn = 0; reading_ && turn < kReadsPerTurn; ++turn) {
    const std::span<char> room = reader_.room(scratch);
    const ssize_t got = read(in_.get(), room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) return end_of_input();
    reader_.took(static_cast<std::size_t>(got));
    const Handed handed = hand_over_lines(Until::TurnIsUsedUp);
    if (handed == Handed::WeAreGone) return;
    if (handed == Handed::Some) return go_on_later();
    if (static_cast<std::size_t>(got) < room.size()) break;  // the next wait finds out whether there is more
  }
  keep_spare_for_now();
  if (reading_) wait_for_input();
}

/// As a task, so that all others get their turn first. If paused, `resume` continues.
void LinePipe::go_on_later() {
  if (!reading_ || std::exchange(going_on_, true)) return;
  loop_.post(lifetime_.guard([this] {
    going_on_ = false;
    if (reading_ && in_.valid()) read_some();
  }));
}

/// Large lines come in a row or rarely, so this is checked only from time to time.
void LinePipe::keep_spare_for_now() {
  if (!reader_.has_spare() || spare_) return;
  spare_ = std::make_unique<Timer>(loop_);
  spare_->start(kSpareIsKept, [this] {
    reader_.forget_spare();
    spare_.reset();
  });
}

/// A last line without a line end counts, because a writer that closes the stream has finished.
void LinePipe::end_of_input() {
  reading_ = false;
  input_ended_ = true;
  if (hand_over_partial() != Handed::WeAreGone) handler_.on_input_end();
}

LinePipe::Handed LinePipe::hand_over_partial() {
  if (!reader_.has_partial()) return Handed::All;
  reader_.room(scratch).front() = '\n';
  reader_.took(1);
  return hand_over_lines(Until::NothingIsLeft);
}

void LinePipe::hand_over_held(Task done) {
  reading_ = false;
  rest_done_ = std::move(done);
  rest_reads_ = 0;
  hand_over_rest();
}

void LinePipe::read_rest(Task done) {
  constexpr int kMostReads = 64;  // another process that inherited the pipe may write forever
  reading_ = false;
  rest_done_ = std::move(done);
  rest_reads_ = kMostReads;
  hand_over_rest();
}

void LinePipe::hand_over_rest() {
  lines_ = bytes_ = 0;
  Handed handed = backlog_ ? hand_over_lines(Until::PieceIsFull) : Handed::All;
  while (handed == Handed::All && rest_reads_ > 0 && !input_ended_) handed = hand_over_what_comes();
  if (handed == Handed::WeAreGone) return;
  if (handed == Handed::All) {
    const Task done = std::exchange(rest_done_, nullptr);
    return done();  // may destroy this object
  }
  loop_.post(lifetime_.guard([this] {
    if (in_.valid()) hand_over_rest();
  }));
}

/// Reads one piece of the rest.
LinePipe::Handed LinePipe::hand_over_what_comes() {
  --rest_reads_;
  const std::span<char> room = reader_.room(scratch);
  const ssize_t got = read(in_.get(), room.data(), room.size());
  if (got < 0 && errno == EINTR) return Handed::All;
  if (got <= 0) {  // the end, or nothing more from a writer that is gone
    rest_reads_ = 0;
    return hand_over_partial();
  }
  reader_.took(static_cast<std::size_t>(got));
  return hand_over_lines(Until::PieceIsFull);
}

/// Returns `WeAreGone` if a handler destroyed or closed this pipe.
LinePipe::Handed LinePipe::hand_over_lines(Until until) {
  const Lifetime::Watch life = lifetime_.watch();
  backlog_ = false;
  const auto enough = [this, until] {
    if (until == Until::NothingIsLeft) return false;
    const bool paused = until == Until::TurnIsUsedUp && !reading_;
    return paused || lines_ >= kLinesPerTurn || bytes_ >= kBytesPerTurn;
  };
  while (const std::optional<Line> line = reader_.next()) {
    bytes_ += line->text.size();
    loop_.doing({what_, ++lines_, bytes_});
    handler_.on_line(*line);
    if (life.over() || !in_.valid()) return Handed::WeAreGone;
    if (!enough()) continue;
    reader_.hold();
    backlog_ = true;
    return Handed::Some;
  }
  while (const std::optional<LineReader::Oversized> oversized = reader_.take_oversized()) {
    handler_.on_oversized(*oversized);
    if (life.over() || !in_.valid()) return Handed::WeAreGone;
  }
  return Handed::All;
}

// ---- out

void LinePipe::push(const Line& line, std::initializer_list<Edit> edits) {
  if (!out_.valid() || lost_) return;
  out_queue_.push(line, edits);
  if (out_queue_.bytes() > kHighWater) congested_ = true;
  schedule_flush();
}

/// Not at once: everything that is pushed in this turn goes out in one write.
void LinePipe::schedule_flush() {
  if (flush_scheduled_ || waiting_to_write_) return;
  flush_scheduled_ = true;
  loop_.post(lifetime_.guard([this] {
    flush_scheduled_ = false;
    flush();
  }));
}

void LinePipe::flush() {
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
void LinePipe::lose_output() {
  lost_ = true;
  out_queue_.clear();
  waiting_to_write_ = false;
  out_watch_->cancel();
  handler_.on_output_lost();
}

void LinePipe::close_output_when_flushed() {
  if (!out_.valid()) return;
  close_when_flushed_ = true;
  if (out_queue_.empty()) {
    close_output();
  } else {
    schedule_flush();
  }
}

void LinePipe::close_output() {
  out_watch_.reset();
  out_.reset();
  handler_.on_output_closed();
}

// FIONREAD counts what a pipe holds, whichever end is asked (pipe(7)).
bool LinePipe::output_unread() const {
  int bytes = 0;
  return queued() > 0 || (out_.valid() && ioctl(out_.get(), FIONREAD, &bytes) == 0 && bytes > 0);
}

void LinePipe::close() {
  reading_ = false;
  input_ended_ = true;
  in_watch_.reset();
  out_watch_.reset();
  in_.reset();
  out_.reset();
  out_queue_.clear();
}

}  // namespace corral::wire
