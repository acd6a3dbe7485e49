#include "wire/line_pipe.h"

#include <fcntl.h>
#include <poll.h>
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

}  // namespace

LinePipe::LinePipe(Loop& loop, UniqueFd in, UniqueFd out, std::size_t line_cap, Handler& handler,
                   const char* what)
    : Channel(loop, std::move(out), handler, Framing::Lines),
      what_(what),
      in_(std::move(in)),
      reader_(line_cap) {
  fcntl(in_.get(), F_SETFL, fcntl(in_.get(), F_GETFL) | O_NONBLOCK);
  in_watch_ = std::make_unique<Watch>(loop, in_.get());
}

std::unique_ptr<Channel> make_line_pipe(Loop& loop, UniqueFd in, UniqueFd out, std::size_t message_cap,
                                        Channel::Handler& handler, const char* what) {
  return std::make_unique<LinePipe>(loop, std::move(in), std::move(out), message_cap, handler, what);
}

void LinePipe::start_reading() {
  if (input_ended_ || rest_done_ || !in_.valid()) return;
  reading_ = true;
  if (backlog_) return go_on_later();
  wait_for_input();
}

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

bool LinePipe::writer_is_gone() const {
  if (input_ended_ || !in_.valid()) return true;
  pollfd question{in_.get(), POLLRDHUP, 0};
  return poll(&question, 1, 0) == 1 && (question.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
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
    handler_.on_message(Message(*line));
    if (life.over() || !in_.valid()) return Handed::WeAreGone;
    if (!enough()) continue;
    reader_.hold();
    backlog_ = true;
    return Handed::Some;
  }
  while (const std::optional<Oversized> oversized = reader_.take_oversized()) {
    handler_.on_oversized(*oversized);
    if (life.over() || !in_.valid()) return Handed::WeAreGone;
  }
  return Handed::All;
}

void LinePipe::close_input() {
  input_ended_ = true;
  in_watch_.reset();
  in_.reset();
}

}  // namespace corral::wire
