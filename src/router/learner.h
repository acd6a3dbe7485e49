// Learns from what a server sends, so that the next session, or the next daemon, need not ask for it. pool/
// implements it.
#pragma once

#include <string_view>

#include "router/changed_list.h"
#include "router/session_port.h"
#include "router/tool_list.h"

namespace corral::router {

/// The router and its parts call it on the loop's thread, while they handle a message of the server. It
/// outlives the router. It must not end the instance, and must not call the router.
class Learner {
 public:
  virtual ~Learner() = default;
  /// The server listed all of its tools.
  virtual void on_tools(ToolEffects effects) = 0;
  /// A shared server sent a request to its client, although it was told that no client can answer.
  virtual void on_question() = 0;
  /// The server answered with this list, all on one page. It may show another list to clients that introduce
  /// themselves differently from `port`'s client.
  virtual void on_list(const SessionPort& port, ListKind kind, std::string_view result) = 0;
  /// The server says that this list has changed: what is known about it is out of date.
  virtual void on_list_changed(ChangedList list) = 0;
  /// The server answered a probe, for the first time as far as is known.
  virtual void on_probe_answered() = 0;
};

}  // namespace corral::router
