#include "http/connection_exchange.h"

#include <utility>

#include "http/connection.h"

namespace corral::http {

ConnectionExchange::ConnectionExchange(Loop& loop, std::weak_ptr<Connection> connection,
                                       std::shared_ptr<const Peer> peer)
    : loop_(loop), connection_(std::move(connection)), peer_(std::move(peer)) {}

/// Without an answer the client would wait for ever, so its connection is closed.
ConnectionExchange::~ConnectionExchange() {
  if (const auto connection = let_go()) connection->drop();
}

std::shared_ptr<Connection> ConnectionExchange::let_go() {
  drained_ = nullptr;
  gone_ = nullptr;
  return std::exchange(connection_, {}).lock();
}

void ConnectionExchange::reply(Response response) {
  if (state_ != State::Open) return;
  state_ = State::Answered;
  if (const auto connection = let_go()) connection->reply(std::move(response));
}

void ConnectionExchange::reply_json(const wire::Line& line, const wire::Edit& edit) {
  if (state_ != State::Open) return;
  state_ = State::Answered;
  if (const auto connection = let_go()) connection->reply_json(line, edit);
}

void ConnectionExchange::begin(int status, Headers headers) {
  if (state_ != State::Open) return;
  state_ = State::Begun;
  if (const auto connection = connection_.lock()) connection->begin(status, headers);
}

void ConnectionExchange::write(const wire::Line& piece) {
  if (state_ != State::Begun) return;
  if (const auto connection = connection_.lock()) connection->write(piece);
}

void ConnectionExchange::finish() {
  if (state_ != State::Begun) return;
  state_ = State::Answered;
  if (const auto connection = let_go()) connection->finish();
}

std::size_t ConnectionExchange::queued() const {
  const auto connection = connection_.lock();
  return connection ? connection->queued() : 0;
}

void ConnectionExchange::when_drained(Task task) {
  if (state_ == State::Open || state_ == State::Begun) drained_ = std::move(task);
}

void ConnectionExchange::when_gone(Task task) {
  if (state_ == State::Gone && task) {
    loop_.post(std::move(task));  // the client left before this was called
  } else if (state_ != State::Answered) {
    gone_ = std::move(task);
  }
}

void ConnectionExchange::tell_drained() {
  if (const Task task = drained_) task();
}

void ConnectionExchange::tell_gone() {
  if (state_ == State::Answered || state_ == State::Gone) return;
  state_ = State::Gone;
  const Task task = std::exchange(gone_, nullptr);
  let_go();
  if (task) task();
}

}  // namespace corral::http
