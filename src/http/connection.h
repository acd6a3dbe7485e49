// One client's connection: reads a request, calls the handler, waits for the answer, writes it, reads the
// next request.
//
// Owned by the listener, and by its callbacks while they run; used on the loop's thread only. Requests are
// served one after the other; what a client sends ahead waits. While the connection waits for a request, the
// last head is all that it keeps in memory. A connection that closes itself tells the listener, which lets go
// of it.
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
  /// Called once by each connection that closes itself.
  std::function<void(const std::shared_ptr<Connection>&)> left;
  ListenerCounters counters;
  std::size_t bodies = 0;                           // bytes of bodies that are still arriving
  std::size_t unsent = 0;                           // bytes that clients have not read
  std::array<char, std::size_t{64} << 10> scratch;  // for one read at a time, of any connection
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ListenerState> shared, UniqueFd socket, Peer peer);
  ~Connection();
  Connection(const Connection&) = delete;

  /// Call once, when a shared pointer owns it. Requests are served from the loop, not from here.
  void start();
  const Peer& peer() const { return *peer_; }
  /// Closes after the request that has begun; at once if there is none.
  void close_when_done();
  /// Closes at once, and calls neither the listener nor the owner of an exchange.
  void abandon();

  // For the exchange, which calls them in the right order. None of them calls the handler or
  // an exchange before it returns.
  void reply(Response response);
  void reply_json(const wire::Line& line, const wire::Edit& edit);
  void begin(int status, const Headers& headers);
  void write(const wire::Line& piece);
  void finish();
  void drop() { close(); }
  std::size_t queued() const { return out_.bytes(); }

 private:
  enum class Stage : std::uint8_t {
    Reading,    // waits for a request, or has a part of one
    Answering,  // the handler has the request
    Flushing,   // the answer is complete; the client has not read all of it
    Lingering,  // nothing is sent any more, and what arrives is dropped
    Closed,
  };

  // From the client.
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

  // To the client.
  Afterwards afterwards() const;
  void complete();
  void flush();
  void flush_soon();
  void answer_sent();
  bool account_unsent();

  // The end, and deadlines.
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
  // The timer is not restarted for each deadline: if it fires too early, it is started again for the rest of
  // the time.
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point timer_at_{};

  LastHead last_head_;                     // outlives the parser
  std::unique_ptr<RequestParser> parser_;  // while a request has begun
  std::size_t counted_ = 0;                // bytes of its body in ListenerState::bodies
  std::string stash_;                      // what arrived after the request that is being answered
  wire::OutQueue out_;
  std::size_t counted_out_ = 0;                 // bytes of it in ListenerState::unsent
  std::weak_ptr<ConnectionExchange> exchange_;  // of the request that is being answered

  Stage stage_ = Stage::Reading;
  bool waits_to_read_ = false;
  bool waits_to_write_ = false;
  bool blocked_ = false;  // the socket accepts no more bytes at the moment
  bool flush_posted_ = false;
  bool dispatching_ = false;
  bool last_ = false;        // the listener is closed
  bool fresh_ = true;        // no request yet
  bool timed_head_ = false;  // the deadline of the head is set
  bool graced_ = false;      // it got more time, because corral was late
  bool keep_alive_ = true;   // the connection stays open after this answer
  bool http_1_0_ = false;
  bool streaming_ = false;
  bool chunked_ = false;
  bool mute_ = false;  // the answer has no body
};

}  // namespace corral::http
