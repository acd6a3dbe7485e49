// What a session answers in place of its server, as text: the result of a handshake and of a list, in the
// words of the client's revision. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "knowledge/sharing.h"
#include "router/session_port.h"

namespace corral::session {

/// The result of an initialize request. A private server has answered its client's own words. A shared one
/// has answered ours: the version is agreed on between corral and the client then, and tasks are left out,
/// because a shared server cannot tell whose they are.
std::string initialize_answer(const std::string& handshake, knowledge::Era server_era,
                              knowledge::Sharing sharing, std::string_view version,
                              const std::string& server);

/// The result of server/discover.
std::string discover_answer(std::string_view handshake, knowledge::Era server_era);

/// An initialize result for a client that cannot wait any longer: it promises that everything may still come.
std::string early_greeting(std::string_view version, std::string_view server);

/// The list of a server that has not started yet.
std::string_view empty_list(router::ListKind kind);

/// For the person at the client: the server lost what it had in memory. `absence` says why.
std::string restart_news(const std::string& absence);
/// Whether a legacy client that has said this wants log messages of this importance.
bool hears_warnings(const router::Standing& standing);
/// The log message that tells it.
std::string warning_message(const std::string& text);

/// What a list answer depends on.
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
