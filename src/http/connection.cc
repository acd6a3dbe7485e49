#include "http/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace corral::http {
namespace {

constexpr std::size_t kMostStashed = std::size_t{64} << 10;  // of requests that were sent ahead
constexpr int kReadsPerTurn = 16;     // a client that always has more must not keep the others waiting
constexpr int kRequestsPerTurn = 32;  // nor must one that sent many requests ahead
// Closing while bytes arrive would reset the connection, and the client might lose its answer.
constexpr std::chrono::seconds kLinger{2};
constexpr std::chrono::milliseconds kGrace{100};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Connection::Connection(std::shared_ptr<ListenerState> shared, UniqueFd socket, Peer peer)
    : shared_(std::move(shared)),
      peer_(std::make_shared<const Peer>(std::move(peer))),
      socket_(std::move(socket)),
      timer_(shared_->loop) {
  watch_.emplace(shared_->loop, socket_.get());
}

Connection::~Connection() { drop_parser(); }

void Connection::start() {
  set_deadline(shared_->limits.head_patience);
  wait_readable();
}

// ---- in

void Connection::wait_readable() {
  if (std::exchange(waits_to_read_, true)) return;
  watch_->when_readable([this] {
    waits_to_read_ = false;
    on_readable();
  });
}

void Connection::on_readable() {
  const auto self = shared_from_this();
  switch (stage_) {
    case Stage::Reading: return stash_.empty() ? read_request() : read_ahead();
    case Stage::Answering:
    case Stage::Flushing: return read_ahead();
    case Stage::Lingering: return discard();
    case Stage::Closed: return;
  }
}

void Connection::read_request() {
  auto& scratch = shared_->scratch;
  for (int turn = 0; turn < kReadsPerTurn; ++turn) {
    const ssize_t got = recv(socket_.get(), scratch.data(), scratch.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (got <= 0) return close();
    consume({scratch.data(), static_cast<std::size_t>(got)});
    if (stage_ != Stage::Reading) return;
    if (!stash_.empty()) break;  // what was kept is older than what is still to be read
    if (static_cast<std::size_t>(got) < scratch.size()) break;
  }
  wait_readable();
}

/// Reads while a request is being answered, to notice that the client disconnects. What it sends ahead is
/// kept, up to a limit; after that it has to wait.
void Connection::read_ahead() {
  auto& scratch = shared_->scratch;
  const std::size_t room = kMostStashed - std::min(kMostStashed, stash_.size());
  if (room == 0) {
    watch_->when_broken([this] {
      const auto self = shared_from_this();
      if (stage_ == Stage::Answering) lose_client();
    });
    return;
  }
  const ssize_t got = recv(socket_.get(), scratch.data(), std::min(room, scratch.size()), MSG_DONTWAIT);
  if (got > 0) {
    stash_.append(scratch.data(), static_cast<std::size_t>(got));
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    // If its answer is being sent, this is noticed again when the client has read it.
    if (stage_ == Stage::Answering) lose_client();
    return;
  }
  wait_readable();
}

void Connection::discard() {
  auto& scratch = shared_->scratch;
  for (int turn = 0; turn < kReadsPerTurn; ++turn) {
    const ssize_t got = recv(socket_.get(), scratch.data(), scratch.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (got <= 0) return close();
  }
  wait_readable();
}

void Connection::serve_stash() {
  if (stage_ != Stage::Reading || stash_.empty()) return;
  const std::string taken = std::exchange(stash_, {});
  consume(taken);
  if (stage_ == Stage::Reading) wait_readable();
}

/// Serves every request that can be answered at once; the rest is kept.
void Connection::consume(std::string_view bytes) {
  for (int served = 0; stage_ == Stage::Reading && !bytes.empty(); ++served) {
    shared_->loop.doing({"http", static_cast<std::uint64_t>(served) + 1, bytes.size()});
    if (served == kRequestsPerTurn) {
      shared_->loop.post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->serve_stash();
      });
      break;
    }
    parse(bytes);
  }
  if (stage_ == Stage::Closed || stage_ == Stage::Lingering || !keep_alive_) return;
  if (!bytes.empty()) stash_.append(bytes);
  if (stage_ != Stage::Reading || !parser_) return;
  if (parser_->in_body()) {
    timed_head_ = false;
    set_deadline(shared_->limits.body_patience);
  } else if (!std::exchange(timed_head_, true) && !fresh_) {
    set_deadline(shared_->limits.head_patience);
  }
}

/// Parses at most one request.
void Connection::parse(std::string_view& bytes) {
  if (!parser_) {
    const Limits& limits = shared_->limits;
    parser_ = std::make_unique<RequestParser>(limits.head, limits.body, peer_, &last_head_);
  }
  RequestParser::Progress progress = parser_->put(bytes);
  if (progress == RequestParser::Progress::Head) {
    if (!admit_body(bytes)) return;
    progress = parser_->put(bytes);
  }
  if (progress == RequestParser::Progress::Bad) {
    ++shared_->counters.malformed;
    mute_ = false;
    return refuse(error_response(parser_->fault().status, parser_->fault().sentence));
  }
  if (!account_body()) {
    Response response = error_response(503, "too many large requests are arriving at once: try again later");
    response.headers.push_back({"Retry-After", "5"});
    return refuse(std::move(response));
  }
  if (progress == RequestParser::Progress::Complete) dispatch();
}

bool Connection::admit_body(std::string_view rest) {
  const RequestHead& head = parser_->head();
  if (!head.chunked && rest.size() >= head.length) return true;
  http_1_0_ = head.http_1_0;
  mute_ = head.request.method == "HEAD";
  if (shared_->gate) {
    if (auto refusal = shared_->gate(head.request)) {
      refuse(std::move(*refusal));
      return false;
    }
  }
  if (head.expects_continue && rest.empty()) {
    out_.push_bytes({kContinue, nullptr});
    flush();
  }
  return stage_ == Stage::Reading;
}

bool Connection::account_body() {
  const std::size_t size = parser_->body_bytes();
  shared_->bodies += size - counted_;
  counted_ = size;
  return shared_->bodies <= shared_->limits.bodies;
}

void Connection::drop_parser() {
  shared_->bodies -= std::exchange(counted_, 0);
  parser_.reset();
}

void Connection::dispatch() {
  RequestHead head = parser_->take();
  drop_parser();
  ++shared_->counters.requests;
  fresh_ = timed_head_ = graced_ = false;
  keep_alive_ = head.keep_alive && !last_;
  http_1_0_ = head.http_1_0;
  mute_ = head.request.method == "HEAD";
  stage_ = Stage::Answering;
  deadline_ = Clock::time_point::max();
  auto exchange = std::make_shared<ConnectionExchange>(shared_->loop, weak_from_this(), peer_);
  exchange_ = exchange;
  dispatching_ = true;
  shared_->handler(head.request, std::move(exchange));
  dispatching_ = false;
  head.request.body = nullptr;
  if (!last_head_.text.empty()) last_head_.head = std::move(head);
  if (stage_ == Stage::Answering) wait_readable();
}

/// Then the connection is closed, because it is unknown where the next request begins, or it is not wanted.
void Connection::refuse(Response response) {
  drop_parser();
  keep_alive_ = false;
  stage_ = Stage::Answering;
  reply(std::move(response));
}

// ---- out

Afterwards Connection::afterwards() const {
  if (!keep_alive_) return Afterwards::Closes;
  return http_1_0_ ? Afterwards::StaysOpenAsRequested : Afterwards::StaysOpen;
}

void Connection::reply(Response response) {
  if (stage_ != Stage::Answering || streaming_) return;
  if (!response.large_body && response.body.size() >= wire::kLargeText) {
    response.large_body = std::make_shared<const std::string>(std::move(response.body));
  }
  const std::string& body = response.large_body ? *response.large_body : response.body;
  const bool bodiless = !may_have_body(response.status);
  const Framing framing = bodiless ? Framing{} : Framing{Framing::Kind::Length, body.size()};
  out_.push_bytes({response_head(response.status, response.headers, framing, afterwards()), nullptr});
  if (!mute_ && !bodiless) out_.push_bytes({body, response.large_body});
  complete();
}

void Connection::reply_json(const wire::Line& line, const wire::Edit& edit) {
  static const Headers json = {{"Content-Type", "application/json"}};
  if (stage_ != Stage::Answering || streaming_) return;
  const std::size_t replaced = edit.where.end - edit.where.begin;
  const Framing framing{Framing::Kind::Length, line.text.size() - replaced + edit.text.size()};
  out_.push_bytes({response_head(200, json, framing, afterwards()), nullptr});
  if (!mute_) out_.push_bytes(line, {edit});
  complete();
}

void Connection::begin(int status, const Headers& headers) {
  if (stage_ != Stage::Answering) return;
  if (http_1_0_) keep_alive_ = false;
  if (!may_have_body(status)) mute_ = true;
  streaming_ = true;
  chunked_ = !http_1_0_;
  Framing framing{http_1_0_ ? Framing::Kind::UntilClose : Framing::Kind::Chunked, 0};
  if (!may_have_body(status)) framing.kind = Framing::Kind::None;
  out_.push_bytes({response_head(status, headers, framing, afterwards()), nullptr});
  flush_soon();
}

void Connection::write(const wire::Line& piece) {
  if (!streaming_ || mute_ || piece.text.empty()) return;
  if (chunked_) out_.push_bytes({chunk_head(piece.text.size()), nullptr});
  out_.push_bytes(piece);
  if (chunked_) out_.push_bytes({kChunkEnd, nullptr});
  flush_soon();
}

void Connection::finish() {
  if (!streaming_) return;
  if (chunked_ && !mute_) out_.push_bytes({kLastChunk, nullptr});
  complete();
}

/// Posted: what is written in one turn of the loop is sent together, and no callback runs from within a
/// write.
void Connection::flush_soon() {
  if (blocked_ || std::exchange(flush_posted_, true)) return;
  shared_->loop.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->flush_posted_ = false;
    if (self->stage_ == Stage::Answering && !self->blocked_ && !self->out_.empty()) self->flush();
  });
}

void Connection::complete() {
  exchange_.reset();
  streaming_ = false;
  stage_ = Stage::Flushing;
  if (!blocked_) return flush();
  if (account_unsent()) return;
  ++shared_->counters.too_slow;
  close();
}

/// No session counts the bytes of a complete answer, so the listener does. A client that exceeds the limit of
/// all connections together is disconnected, like one that reads nothing for too long. Returns false then.
bool Connection::account_unsent() {
  const std::size_t size = out_.bytes();
  shared_->unsent += size - counted_out_;
  counted_out_ = size;
  return size == 0 || shared_->unsent <= shared_->limits.unsent;
}

void Connection::flush() {
  const std::size_t before = out_.bytes();
  const auto result = out_.flush_socket(socket_.get());
  const bool too_much = !account_unsent();
  if (too_much) ++shared_->counters.too_slow;
  if (too_much || result == wire::OutQueue::Flush::Failed) {
    return stage_ == Stage::Answering ? lose_client() : close();
  }
  if (result == wire::OutQueue::Flush::Blocked) {
    const bool first = !std::exchange(blocked_, true);
    if (first || out_.bytes() < before) set_deadline(shared_->limits.write_patience);
    return wait_writable();
  }
  blocked_ = false;
  if (stage_ == Stage::Flushing) return answer_sent();
  if (stage_ != Stage::Answering) return;
  deadline_ = Clock::time_point::max();
  if (const auto exchange = exchange_.lock()) exchange->tell_drained();
}

void Connection::wait_writable() {
  if (std::exchange(waits_to_write_, true)) return;
  watch_->when_writable([this] {
    const auto self = shared_from_this();
    waits_to_write_ = false;
    flush();
  });
}

void Connection::answer_sent() {
  if (!keep_alive_ || last_) {
    stash_ = {};
    stage_ = Stage::Lingering;
    shutdown(socket_.get(), SHUT_WR);
    set_deadline(kLinger);
    return wait_readable();
  }
  stage_ = Stage::Reading;
  set_deadline(shared_->limits.keep_alive);
  if (dispatching_) return;  // the caller of the handler continues
  wait_readable();
  if (stash_.empty()) return;
  // Posted: the caller that has just answered may not expect the next request yet.
  shared_->loop.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->serve_stash();
  });
}

// ---- the end, and deadlines

void Connection::close_when_done() {
  last_ = true;
  if (stage_ == Stage::Reading && !parser_ && stash_.empty()) return close();
  if (stage_ == Stage::Answering) keep_alive_ = false;
}

/// The client is gone before it had its answer. Only from the loop, because the owner of the exchange is
/// called.
void Connection::lose_client() {
  const auto self = shared_from_this();
  const auto exchange = std::exchange(exchange_, {}).lock();
  close();
  if (exchange) exchange->tell_gone();
}

void Connection::close() {
  if (stage_ == Stage::Closed) return;
  abandon();
  shared_->left(shared_from_this());
}

void Connection::abandon() {
  stage_ = Stage::Closed;
  streaming_ = false;
  watch_.reset();
  timer_.cancel();
  socket_.reset();
  out_.clear();
  account_unsent();
  stash_ = {};
  drop_parser();
}

void Connection::set_deadline(Clock::duration after) {
  const auto now = shared_->loop.now();
  deadline_ = now + after;
  if (!timer_.running() || deadline_ < timer_at_) start_timer(now);
}

void Connection::start_timer(Clock::time_point now) {
  timer_at_ = deadline_;
  timer_.start(deadline_ - now, [this] { on_time(); });
}

/// The client sent something in time, and corral has not read it: the machine was busy, or asleep. Granted
/// once per request.
bool Connection::we_are_late() {
  pollfd state{socket_.get(), POLLIN, 0};
  return !std::exchange(graced_, true) && poll(&state, 1, 0) == 1;
}

void Connection::on_time() {
  if (deadline_ == Clock::time_point::max()) return;
  const auto now = Clock::now();
  if (now < deadline_) return start_timer(now);

  const auto self = shared_from_this();
  if (stage_ == Stage::Reading && we_are_late()) return set_deadline(kGrace);
  const bool idle = stage_ == Stage::Reading && !parser_ && !fresh_;
  if (!idle && stage_ != Stage::Lingering) ++shared_->counters.too_slow;
  if (stage_ == Stage::Answering || stage_ == Stage::Flushing) return lose_client();
  if (stage_ != Stage::Reading || !parser_) return close();
  mute_ = false;
  refuse(error_response(408, parser_->in_body()
                                 ? "the rest of the request's body did not arrive in time: send it faster"
                                 : "the rest of the request's head did not arrive in time: send it faster"));
}

}  // namespace corral::http
