// The answers that a session gives in place of its server: results of handshakes and lists, in the form of
// the client's revision. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "knowledge/sharing.h"
#include "router/session_port.h"

namespace corral::session {

/// The result of an initialize request. A private server has answered the parameters of its client. A shared
/// server has answered those of corral: the version is then agreed between corral and the client, and tasks
/// are left out, because a shared server cannot tell which session a task belongs to.
std::string initialize_answer(const std::string& handshake, knowledge::Era server_era,
                              knowledge::Sharing sharing, std::string_view version,
                              const std::string& server);

/// The result of server/discover.
std::string discover_answer(std::string_view handshake, knowledge::Era server_era);

/// An initialize result for a client that cannot wait any longer. It declares that every list may change.
std::string early_greeting(std::string_view version, std::string_view server);

/// An empty list, for a server that has not started yet.
std::string_view empty_list(router::ListKind kind);

/// A sentence for the user: the server has lost what it had in memory. `absence` is the reason.
std::string restart_news(const std::string& absence);
/// Whether a legacy client in this state wants log messages of the level "warning".
bool hears_warnings(const router::Standing& standing);
/// A log message with this text, of the level "warning".
std::string warning_message(const std::string& text);

/// What the answer to a list request depends on.
struct ListContext {
  const router::ClientFacts& client;
  knowledge::Era server_era;
  std::string_view handshake;
  bool shared;
  const std::function<bool(std::string_view)>& allows_tool;  // empty = all
};
std::string list_answer(router::ListKind kind, std::string_view method, std::string_view result,
                        const ListContext& context);

}  // namespace corral::session
