// Why an instance ends, and the proof that its process tree is gone. Values and their names.
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

/// Why an instance ends.
enum class Cause : std::uint8_t {
  SessionEnded,
  Idle,
  Parked,
  Evicted,
  Hung,
  Died,
  Unfit,     // its handshake failed, or it is not the server that was expected
  Outdated,  // its code has changed on disk
  Reloaded,
  Restarted,
  Stopped,
  Recycled,  // it used too much memory
  ShuttingDown
};

/// The name in events, answers and the journal: "session-ended", …
const char* cause_name(Cause cause);

/// For people: the part of a sentence that follows "server NAME ".
std::string sentence_for(Cause cause);

/// What the sessions of the instance are told: whether another instance follows, and when.
router::Departure departure_for(Cause cause);

/// An instance that has ended, with the proof.
struct InstanceEnd {
  std::string server;
  InstanceId instance;
  pid_t pid = 0;
  Cause cause = Cause::Died;
  instance::TreeEnd ending;
  std::chrono::milliseconds took{};  // from the decision to the proof
};

/// Called once, on the loop's thread, when the process tree of the instance is gone. It may call the pool.
using WhenEnded = std::function<void(const InstanceEnd&)>;

}  // namespace corral::pool
