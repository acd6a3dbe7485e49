// Why an instance is ended, and the proof that its process tree is gone. Values, and the words for them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/id.h"
#include "instance/instance.h"
#include "router/session_port.h"

namespace corral::pool {

/// Why an instance is ended.
enum class Cause : std::uint8_t {
  SessionEnded,
  Idle,
  Parked,
  Evicted,
  Hung,
  Died,
  Unfit,     // its handshake went wrong
  Outdated,  // its code has changed on disk
  Reloaded,
  Restarted,
  Stopped,
  Recycled,  // it has grown too large
  ShuttingDown
};

/// As events, answers and the journal have it: "session-ended", …
const char* cause_name(Cause cause);

/// For people, as it goes on after "server NAME ".
std::string sentence_for(Cause cause);

/// What the sessions of such an instance are told: whether another one follows, and when.
router::Departure departure_for(Cause cause);

/// An instance that has ended, and the proof.
struct InstanceEnd {
  std::string server;
  InstanceId instance;
  pid_t pid = 0;
  Cause cause = Cause::Died;
  instance::Ending ending;
  std::chrono::milliseconds took{};  // from the decision to the proof
};

/// Called once, when the tree of the instance is gone. May call the pool.
using WhenGone = std::function<void(const InstanceEnd&)>;

}  // namespace corral::pool
