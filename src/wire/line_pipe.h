// The channel with one message per line, which is MCP's stdio transport: reads lines from one descriptor and
// writes lines to another. Reads only while resumed, and never so much in one turn that others wait. Must be
// used on the loop's thread.
#pragma once

#include <cstddef>
#include <memory>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "wire/channel.h"
#include "wire/line_reader.h"

namespace corral::wire {

class LinePipe final : public Channel {
 public:
  /// The most that one turn of the loop delivers; the rest waits for the next turn.
  static constexpr std::size_t kLinesPerTurn = 512;
  static constexpr std::size_t kBytesPerTurn = std::size_t{1} << 20;  // a single line may be longer

  /// Takes both descriptors and makes them non-blocking. The arguments are those of a ChannelMaker.
  LinePipe(Loop& loop, UniqueFd in, UniqueFd out, std::size_t line_cap, Handler& handler,
           const char* what = "messages");

  void read_rest(Task done) override;
  void hand_over_held(Task done) override;
  bool writer_is_gone() const override;

 private:
  void start_reading() override;
  void close_input() override;
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

  const char* what_;
  UniqueFd in_;
  std::unique_ptr<Watch> in_watch_;
  LineReader reader_;
  std::unique_ptr<Timer> spare_;  // exists while the reader has a spare buffer
  std::size_t lines_ = 0;         // delivered in this turn
  std::size_t bytes_ = 0;
  bool backlog_ = false;   // lines were read but not delivered
  bool going_on_ = false;  // a task to deliver them is posted
  Task rest_done_;         // set while the rest is delivered, piece by piece
  int rest_reads_ = 0;     // reads that are still allowed for it
  bool input_ended_ = false;
};

/// A LinePipe as a ChannelMaker makes it.
std::unique_ptr<Channel> make_line_pipe(Loop& loop, UniqueFd in, UniqueFd out, std::size_t message_cap,
                                        Channel::Handler& handler, const char* what);

}  // namespace corral::wire
