// The registry in a SQLite file, on one machine. Writes that a process depends on happen at once; events and
// sessions are collected for a moment and written together. Nothing here waits for the disk: copying the
// write-ahead log into the database, which does, happens on a thread. If the file cannot be used, the same
// tables are kept in memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "registry/database_file.h"
#include "registry/registry.h"

namespace corral::registry {

struct RegistryOptions {
  std::chrono::milliseconds history{std::chrono::hours(24 * 14)};  // for events and ended records
  std::size_t most_events = 200'000;
  std::size_t most_sessions = 20'000;
  std::size_t most_waiting = 4096;  // events, and as many sessions, waiting to be written
  std::chrono::milliseconds batch{250};
  std::chrono::milliseconds retry{5000};  // after a failure such as a full disk
  std::chrono::milliseconds first_prune{30'000};
  std::chrono::milliseconds prune{std::chrono::minutes(10)};
  std::chrono::milliseconds next_piece{50};  // between the pieces of one prune
  int checkpoint_pages = 256;                // of 4 KiB in the write-ahead log before it is copied …
  std::chrono::milliseconds quiet{1000};     // … after this long without a write
  /// Called with messages for the user although the registry works; null = log them.
  std::function<void(Loss, const std::string&)> notice{};
};

/// With an empty `path` the registry is in memory, which does not count as degraded. Never fails; at worst
/// the registry is degraded. `loop` must outlive it.
std::unique_ptr<Registry> open_registry(Loop& loop, const std::string& path, RegistryOptions options = {});

}  // namespace corral::registry
