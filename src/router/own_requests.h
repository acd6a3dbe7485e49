// The requests that corral itself sends to a server, and the end of calls that are given up.
#pragma once

#include <optional>
#include <string_view>

#include "instance/instance.h"
#include "router/deadlines.h"
#include "router/pending_calls.h"

namespace corral::router {

class OwnRequests {
 public:
  /// `call_timeout` is how long the server may take for most of them. The references outlive it.
  OwnRequests(PendingCalls& calls, Deadlines& deadlines, Clock::duration call_timeout)
      : calls_(calls), deadlines_(deadlines), call_timeout_(call_timeout) {}

  /// Called once, before any other function.
  void connect(instance::Instance& server) { server_ = &server; }
  /// The server will read nothing more.
  void server_lost() { lost_ = true; }

  /// Sends a request and adds `call`, whose purpose says what its answer is for, to the calls.
  CallId ask(std::string_view method, std::string_view params, Call call);
  /// No session waits for this call any more: the server is told, and a late answer is expected. Nothing if
  /// the call was answered already.
  std::optional<Call> give_up(CallId id, std::string_view reason);

 private:
  PendingCalls& calls_;
  Deadlines& deadlines_;
  const Clock::duration call_timeout_;
  instance::Instance* server_ = nullptr;
  bool lost_ = false;
};

}  // namespace corral::router
