// One client's connection: reads a request, waits for its answer, writes it, reads the next. While it waits
// for a request it holds no buffer but the last head. Owned by the listener; lives on the loop's thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "base/unique_fd.h"
#include "http/connection_exchange.h"
#include "http/listener.h"
#include "http/request_parser.h"
#include "http/response_head.h"
#include "wire/out_queue.h"

namespace corral::http {

class Connection;

/// What the connections of one listener share.
struct ListenerState {
  Loop& loop;
  Limits limits;
  Handler handler;
  Gate gate;
  std::function<void(const std::shared_ptr<Connection>&)> left;  // told once, by each that closes itself
  ListenerCounters counters;
  std::size_t bodies = 0;                           // bytes of those that are still coming
  std::size_t unsent = 0;                           // bytes that clients have not taken
  std::array<char, std::size_t{64} << 10> scratch;  // a read is handed over before the next one starts
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ListenerState> shared, UniqueFd socket, Peer peer);
  ~Connection();
  Connection(const Connection&) = delete;

  void start();
  const Peer& peer() const { return *peer_; }
  /// No further request: at once if none has begun.
  void close_when_done();
  /// At once, without a word to anybody.
  void abandon();

  // For the exchange, which sees to it that they come in order.
  void reply(Response response);
  void reply_json(const wire::Line& line, const wire::Edit& edit);
  void begin(int status, const Headers& headers);
  void write(const wire::Line& piece);
  void finish();
  void drop() { close(); }
  std::size_t queued() const { return out_.bytes(); }

 private:
  enum class Stage : std::uint8_t {
    Reading,    // no request, or a part of one
    Answering,  // the handler has it
    Flushing,   // the client has to take the rest of its answer
    Lingering,  // nothing will be said any more; what comes is thrown away
    Closed,
  };

  // in
  void on_readable();
  void read_request();
  void read_ahead();
  void discard();
  void consume(std::string_view bytes);
  void parse(std::string_view& bytes);
  bool admit_body(std::string_view rest);
  bool account_body();
  void dispatch();
  void serve_stash();
  void refuse(Response response);
  void drop_parser();

  // out
  Afterwards afterwards() const;
  void complete();
  void flush();
  void flush_soon();
  void answer_sent();
  bool account_unsent();

  // ends and times
  void lose_client();
  void close();
  void wait_readable();
  void wait_writable();
  void set_deadline(Clock::duration after);
  void start_timer(Clock::time_point now);
  void on_time();
  bool we_are_late();

  std::shared_ptr<ListenerState> shared_;
  std::shared_ptr<const Peer> peer_;
  UniqueFd socket_;  // outlives its watch
  std::optional<Watch> watch_;
  Timer timer_;
  // The timer is not started anew for each deadline: when it goes off too early, it goes on to the right
  // time.
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point timer_at_{};

  LastHead last_head_;                     // outlives the parser
  std::unique_ptr<RequestParser> parser_;  // of a request that has begun
  std::size_t counted_ = 0;                // bytes of its body in ListenerState::bodies
  std::string stash_;                      // what came behind the request that is being answered
  wire::OutQueue out_;
  std::size_t counted_out_ = 0;                 // bytes of it in ListenerState::unsent
  std::weak_ptr<ConnectionExchange> exchange_;  // of the request that is being answered

  Stage stage_ = Stage::Reading;
  bool waits_to_read_ = false;
  bool waits_to_write_ = false;
  bool blocked_ = false;  // the client does not take what there is
  bool flush_posted_ = false;
  bool dispatching_ = false;
  bool last_ = false;        // the listener is closed
  bool fresh_ = true;        // no request yet
  bool timed_head_ = false;  // the deadline is that of the head
  bool graced_ = false;
  bool keep_alive_ = true;  // after this answer
  bool http_1_0_ = false;
  bool streaming_ = false;
  bool chunked_ = false;
  bool mute_ = false;  // the answer has a head only
};

}  // namespace corral::http
