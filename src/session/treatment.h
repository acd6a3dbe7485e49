// Decides what a session does with a message of its client. One pure decision, from the message and the
// situation of the session; `Session` carries it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/shares.h"
#include "knowledge/manifest.h"
#include "session/phase.h"
#include "wire/message.h"

namespace corral::session {

/// The situation of the session when the message arrives.
struct Situation {
  Phase phase = Phase::New;
  knowledge::Era era = knowledge::Era::Legacy;  // of the client
  bool attached = false;                        // there is an instance
  bool draining = false;                        // the instance takes no new call
  bool greeted_early = false;                   // the client was answered before its server was ready
  bool only_greeted = false;                    // a modern client that has sent only server/discover
  bool bridged = false;                         // client and server use different revisions
  bool legacy_to_modern = false;                // and the server is the modern one
  bool server_lost = false;                     // the server has ended, and the session ends with it
  const std::string* refusal = nullptr;         // why it gets no instance, while waiting calls are answered
  const std::string* server = nullptr;          // its name
  Account* account = nullptr;
};

enum class Step : std::uint8_t {
  Pass,             // to the server
  Remember,         // a notification that is sent to the next instance
  Drop,             // a response that nobody waits for
  Wait,             // until the server can take it
  AskManifest,      // answer from the manifest, or wait for an instance
  GiveEarlyList,    // answer with an empty list: the server is still starting
  Pong,             // answer a ping
  DescribeServer,   // answer server/discover from the handshake of the instance
  OpenLegacy,       // the message opens the session
  OpenModern,       // likewise
  ResetAndOpen,     // a modern client that has sent only server/discover begins again with initialize
  Refuse,           // answer with the objection
  RefuseMalformed,  // the same, and count it
};

/// Why a message is refused, as a JSON-RPC error.
struct Objection {
  int code = 0;
  std::string message;
  std::string data{};  // JSON; empty = none
};

struct Treatment {
  Step step = Step::Drop;
  Objection objection{};  // Refuse, RefuseMalformed
};

Treatment treat(const wire::Message& message, const Situation& situation);

/// Why a message of this many bytes, which is more than the line cap, is refused.
Objection objection_to_size(std::size_t bytes);

/// Whether a modern request has the facts about its client that it must have.
bool introduces_client(const wire::Message& message);

}  // namespace corral::session
