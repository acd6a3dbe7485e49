// The messages between corral and one peer: a client's or a server's. `instance::Instance` and
// `transport::StdioClient` know only this class, so another framing is one new subclass and the place that
// creates it. `LinePipe`, with one message per line, is the subclass of today's stdio transport.
//
// The base class owns the output (the queue, its limits and the descriptor), because that is the same for
// every framing. A subclass reads the input and finds the messages in it. Nothing on the path of a message is
// virtual, except the call of the handler: `send` writes a line itself and asks the subclass only for another
// framing, and `resume` asks the subclass only if the channel was paused.
//
// Must be used on the loop's thread. Anything that is queued is written at the end of the turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "base/lifetime.h"
#include "base/loop.h"
#include "base/unique_fd.h"
#include "wire/message.h"
#include "wire/out_queue.h"
#include "wire/oversized_line.h"

namespace corral::wire {

class Channel {
 public:
  /// The owner of the channel. Every callback runs from the loop or from a method of the channel, and may
  /// destroy the channel.
  class Handler {
   public:
    virtual ~Handler() = default;
    /// One message, scanned. It may be anything that the peer wrote, so check its kind. Its text is valid
    /// only during the call unless it has an owner.
    virtual void on_message(const Message& message) = 0;
    /// A message was longer than the cap and was discarded.
    virtual void on_oversized(const Oversized& oversized) = 0;
    /// The peer sends nothing more. Not called for `read_rest` and `hand_over_held`.
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

  virtual ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Queues one message with these edits, which are in order and do not overlap. Large messages that have an
  /// owner are not copied. Has no effect after the output was closed or lost. Never calls the handler.
  void send(const Line& message, std::initializer_list<Edit> edits = {});
  void send(std::string_view message) { send(Line{message, nullptr}); }
  std::size_t queued() const { return out_queue_.bytes(); }
  /// True from the high-water mark until `on_output_drained`: the owner should send no more.
  bool congested() const { return congested_; }

  /// Reading starts with the first `resume`. A paused channel delivers nothing and stops reading, so the
  /// peer blocks.
  void resume() {
    if (!reading_) start_reading();
  }
  void pause() { reading_ = false; }
  /// Delivers everything that has already arrived, even if paused; for use after the writer is gone. Includes
  /// a last message without its end. The work is split over turns like any other reading. `done` runs when
  /// nothing is left, either inside this call or later; it does not run if the channel is closed or destroyed
  /// first. Nothing is read afterwards.
  virtual void read_rest(Task done) = 0;
  /// The same, with only what was already read.
  virtual void hand_over_held(Task done) = 0;

  /// Whether nobody can write to our input any more, although there may be something left to read. False if
  /// that cannot be told.
  virtual bool writer_is_gone() const { return false; }

  /// Writes what is queued, then closes the output. The owner needs a timer for a reader that does not read.
  void close_output_when_flushed();
  /// Closes both directions at once and drops what is queued. Calls no handler.
  void close();
  bool output_open() const { return out_.valid(); }
  /// Whether the reader has not read everything that we wrote.
  bool output_unread() const;

 protected:
  enum class Framing : std::uint8_t {
    Lines,  // a message and a line end
    Own,    // as `frame` writes it
  };

  /// Takes the descriptor for the output and makes it non-blocking. `loop` and `handler` must outlive the
  /// channel.
  Channel(Loop& loop, UniqueFd out, Handler& handler, Framing framing);

  /// Queues the bytes of one message, with `Framing::Own` only.
  virtual void frame(const Line& message, std::initializer_list<Edit> edits, OutQueue& out);
  /// Sets `reading_` and begins to read, unless the input has ended or was closed.
  virtual void start_reading() = 0;
  /// Closes the input; must not call the handler.
  virtual void close_input() = 0;

  Loop& loop_;
  Handler& handler_;
  bool reading_ = false;  // a subclass delivers messages only while this is true; see `read_rest`

 private:
  void schedule_flush();
  void flush();
  void lose_output();
  void close_output();

  Framing framing_;
  bool flush_scheduled_ = false;
  bool waiting_to_write_ = false;
  bool congested_ = false;
  bool close_when_flushed_ = false;
  bool lost_ = false;  // our output has no reader
  UniqueFd out_;
  std::unique_ptr<Watch> out_watch_;
  OutQueue out_queue_;

 protected:
  Lifetime lifetime_;
};

/// Creates a channel between two descriptors. `message_cap` is the length of the longest accepted message.
/// `what` is a string literal for SlowTurn: "client-messages". `loop` and `handler` must outlive the channel.
using ChannelMaker = std::unique_ptr<Channel> (*)(Loop& loop, UniqueFd in, UniqueFd out,
                                                  std::size_t message_cap, Channel::Handler& handler,
                                                  const char* what);

}  // namespace corral::wire
