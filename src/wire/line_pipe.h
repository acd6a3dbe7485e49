// Lines in from one descriptor, lines out to another: the client's pipes on one side of the daemon, a
// server's on the other. Reads when asked to, writes when it can, and holds what cannot be written yet.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "wire/line_reader.h"
#include "wire/out_queue.h"

namespace corral::wire {

class LinePipe {
 public:
  /// Any of these may destroy the pipe that calls it.
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_line(const Line& line) = 0;
    virtual void on_oversized(const LineReader::Oversized& oversized) = 0;
    virtual void on_input_end() = 0;
    /// The reader of our output is gone; nothing more can be said to it.
    virtual void on_output_lost() = 0;
    /// What was queued fell below the low-water mark, after it had been above the high one.
    virtual void on_output_drained() = 0;
    /// `close_output_when_flushed` has come to its end.
    virtual void on_output_closed() {}
  };

  static constexpr std::size_t kHighWater = std::size_t{1} << 20;
  static constexpr std::size_t kLowWater = std::size_t{1} << 18;

  /// What one turn of the loop hands over at most; the rest waits for the next one.
  static constexpr std::size_t kLinesPerTurn = 512;
  static constexpr std::size_t kBytesPerTurn = std::size_t{1} << 20;  // a single line may have more

  /// `what` is a constant word for whoever asks what the loop did: "client-messages".
  LinePipe(Loop& loop, UniqueFd in, UniqueFd out, std::size_t line_cap, Handler& handler,
           const char* what = "messages");
  ~LinePipe();
  LinePipe(const LinePipe&) = delete;

  void push(const Line& line, std::initializer_list<Edit> edits = {});
  void push(std::string_view message) { push(Line{message, nullptr}); }
  std::size_t queued() const { return out_queue_.bytes(); }
  bool congested() const { return congested_; }

  /// Reading starts with the first `resume`. A paused pipe hands over nothing and lets the writer on the
  /// other side feel it.
  void resume();
  void pause();
  /// Hands over what has come already, also if paused; for when the writer is gone. A last line without its
  /// end counts. No turn hands over more than any other, so `done` is called when nothing is left: from in
  /// here if that was all, else later; never if the pipe is closed or destroyed before. Reads no more then.
  void read_rest(Task done);
  /// The same with what was read already.
  void hand_over_held(Task done);

  /// Writes what is queued, then closes; what cannot be written within reason is the owner's timer's affair.
  void close_output_when_flushed();
  /// Closes both at once.
  void close();
  bool output_open() const { return out_.valid(); }
  /// Whether something of what we said has not been read yet.
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
  std::unique_ptr<Timer> spare_;  // while the reader has one
  OutQueue out_queue_;
  std::size_t lines_ = 0;  // handed over in this turn
  std::size_t bytes_ = 0;
  bool reading_ = false;
  bool backlog_ = false;   // lines were read and not handed over
  bool going_on_ = false;  // a task of ours will go on with them
  Task rest_done_;         // while the rest is handed over, piece by piece
  int rest_reads_ = 0;     // that it may still take
  bool input_ended_ = false;
  bool flush_scheduled_ = false;
  bool waiting_to_write_ = false;
  bool congested_ = false;
  bool close_when_flushed_ = false;
  bool lost_ = false;  // nobody reads what we write
  // Says to a task or a loop in progress that we are gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace corral::wire
