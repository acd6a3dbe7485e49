// What is told of instances that have gone, as JSON: docs/protocol/control.md describes it. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "pool/pool.h"

namespace corral::daemon {

/// An instance that a session used and that stays for others.
struct Kept {
  std::string server;
  InstanceId instance;
  std::size_t sessions = 0;
};

/// The end of a session object, with what it took along.
struct SessionEvidence {
  std::string id;
  std::vector<pool::InstanceEnd> ended;
  std::vector<Kept> kept;
  std::chrono::milliseconds took{};

  /// A tree of which nobody can say that it is gone.
  bool leaked() const;
};

/// [{"server", "instance", …}, …]
std::string gone_json(const std::vector<pool::InstanceEnd>& gone);
std::string names_json(const std::vector<std::string>& names);
std::string to_json(const SessionEvidence& evidence);

}  // namespace corral::daemon
