// Reads lines from one descriptor and writes lines to another: a client's pipes, or a server's. Reads only
// while resumed, writes when the descriptor is writable, and queues what cannot be written yet. Must be used
// on the loop's thread.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>

#include "base/lifetime.h"
#include "base/loop.h"
#include "base/unique_fd.h"
#include "wire/line_reader.h"
#include "wire/out_queue.h"

namespace corral::wire {

class LinePipe {
 public:
  /// The owner of the pipe. Every callback runs from the loop or from a method of the pipe, and may destroy
  /// the pipe.
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_line(const Line& line) = 0;
    virtual void on_oversized(const LineReader::Oversized& oversized) = 0;
    virtual void on_input_end() = 0;
    /// The reader of our output is gone; nothing more can be written.
    virtual void on_output_lost() = 0;
    /// The queue fell below the low-water mark after it had been above the high-water mark.
    virtual void on_output_drained() = 0;
    /// `close_output_when_flushed` has finished.
    virtual void on_output_closed() {}
  };

  static constexpr std::size_t kHighWater = std::size_t{1} << 20;
  static constexpr std::size_t kLowWater = std::size_t{1} << 18;

  /// The most that one turn of the loop delivers; the rest waits for the next turn.
  static constexpr std::size_t kLinesPerTurn = 512;
  static constexpr std::size_t kBytesPerTurn = std::size_t{1} << 20;  // a single line may be longer

  /// Takes both descriptors and makes them non-blocking. `what` is a string literal for SlowTurn:
  /// "client-messages". `loop` and `handler` must outlive the pipe.
  LinePipe(Loop& loop, UniqueFd in, UniqueFd out, std::size_t line_cap, Handler& handler,
           const char* what = "messages");
  LinePipe(const LinePipe&) = delete;

  /// Queues one message; it is written at the end of the turn. See OutQueue::push for the edits.
  void push(const Line& line, std::initializer_list<Edit> edits = {});
  void push(std::string_view message) { push(Line{message, nullptr}); }
  std::size_t queued() const { return out_queue_.bytes(); }
  bool congested() const { return congested_; }

  /// Reading starts with the first `resume`. A paused pipe delivers nothing and stops reading, so the writer
  /// on the other side blocks.
  void resume();
  void pause();
  /// Delivers everything that has already arrived, even if paused; for use after the writer is gone. Includes
  /// a last line without a line end. The work is split over turns like any other reading. `done` runs when
  /// nothing is left, either inside this call or later; it does not run if the pipe is closed or destroyed
  /// first. Nothing is read afterwards.
  void read_rest(Task done);
  /// The same, with only what was already read.
  void hand_over_held(Task done);

  /// Writes what is queued, then closes the output. The owner needs a timer for a reader that does not read.
  void close_output_when_flushed();
  /// Closes both descriptors at once.
  void close();
  bool output_open() const { return out_.valid(); }
  /// Whether the reader has not read everything that we wrote.
  bool output_unread() const;

 private:
  void wait_for_input();
  void read_some();
  void keep_spare_for_now();
  void end_of_input();
  enum class Until { TurnIsUsedUp, PieceIsFull, NothingIsLeft };
  enum class Handed { All, Some, WeAreGone };
  Handed hand_over_lines(Until until);
  Handed hand_over_partial();
  Handed hand_over_what_comes();
  void hand_over_rest();
  void go_on_later();
  void schedule_flush();
  void flush();
  void lose_output();
  void close_output();

  Loop& loop_;
  const char* what_;
  Handler& handler_;
  UniqueFd in_;
  UniqueFd out_;
  std::unique_ptr<Watch> in_watch_;
  std::unique_ptr<Watch> out_watch_;
  LineReader reader_;
  std::unique_ptr<Timer> spare_;  // exists while the reader has a spare buffer
  OutQueue out_queue_;
  std::size_t lines_ = 0;  // delivered in this turn
  std::size_t bytes_ = 0;
  bool reading_ = false;
  bool backlog_ = false;   // lines were read but not delivered
  bool going_on_ = false;  // a task to deliver them is posted
  Task rest_done_;         // set while the rest is delivered, piece by piece
  int rest_reads_ = 0;     // reads that are still allowed for it
  bool input_ended_ = false;
  bool flush_scheduled_ = false;
  bool waiting_to_write_ = false;
  bool congested_ = false;
  bool close_when_flushed_ = false;
  bool lost_ = false;  // our output has no reader
  Lifetime lifetime_;
};

}  // namespace corral::wire
