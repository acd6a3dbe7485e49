// The exchange of a request that arrived on a connection. It keeps track of whether it was answered, so that
// the connection sees its calls in order. Owned by the handler's side; either may outlive the other.
#pragma once

#include <memory>

#include "http/exchange.h"

namespace corral::http {

class Connection;

class ConnectionExchange final : public Exchange {
 public:
  ConnectionExchange(Loop& loop, std::weak_ptr<Connection> connection, std::shared_ptr<const Peer> peer);
  ~ConnectionExchange() override;

  const Peer& peer() const override { return *peer_; }
  void reply(Response response) override;
  void reply_json(const wire::Line& line, const wire::Edit& edit) override;
  void begin(int status, Headers headers) override;
  void write(const wire::Line& piece) override;
  void finish() override;
  std::size_t queued() const override;
  void when_drained(Task task) override;
  void when_gone(Task task) override;

  // For the connection. They run the task of `when_drained` or `when_gone`, so the connection calls them from
  // the loop only, never from within one of the functions above. The task may destroy the exchange.
  void tell_drained();
  void tell_gone();

 private:
  enum class State : std::uint8_t { Open, Begun, Answered, Gone };

  /// Forgets the connection and the tasks. Returns the connection for one last call; null if it is closed.
  std::shared_ptr<Connection> let_go();

  Loop& loop_;
  std::weak_ptr<Connection> connection_;
  std::shared_ptr<const Peer> peer_;
  Task drained_;
  Task gone_;
  State state_ = State::Open;
};

}  // namespace corral::http
