// The exchange of a request that came over a connection. It knows whether it was answered; either may outlive
// the other.
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

  // For the connection; they may call back, so never from within a call of the above.
  void tell_drained();
  void tell_gone();

 private:
  enum class State : std::uint8_t { Open, Begun, Answered, Gone };

  /// The connection, for the last time.
  std::shared_ptr<Connection> let_go();

  Loop& loop_;
  std::weak_ptr<Connection> connection_;
  std::shared_ptr<const Peer> peer_;
  Task drained_;
  Task gone_;
  State state_ = State::Open;
};

}  // namespace corral::http
