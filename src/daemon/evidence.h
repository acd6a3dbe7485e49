// How instances have ended, as JSON for the control protocol (docs/protocol/control.md). Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pool/pool.h"

namespace corral::daemon {

/// An instance that a session used and that other sessions still use.
struct Kept {
  std::string server;
  InstanceId instance;
  std::size_t sessions = 0;
};

/// How a session ended, and what ended with it.
struct SessionEvidence {
  std::string id;
  std::vector<pool::InstanceEnd> ended;
  std::vector<Kept> kept;
  std::chrono::milliseconds took{};

  /// Whether the end of some process tree is not proved.
  bool leaked() const;
};

/// How many sessions use the instance now; nothing if it has ended.
std::optional<std::size_t> sessions_of(const pool::Pool& pool, const InstanceId& instance);

/// [{"server", "instance", …}, …]
std::string ended_json(const std::vector<pool::InstanceEnd>& ended);
std::string to_json(const SessionEvidence& evidence);

}  // namespace corral::daemon
