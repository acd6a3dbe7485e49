// The registry in a SQLite file, on one machine. Writes that a process depends on are done at once; events
// and sessions wait together for a moment. Nothing here waits for the disk: copying the write-ahead log into
// the database, which does, happens on a thread. If the file cannot be used, the same tables are kept in
// memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/loop.h"
#include "registry/registry.h"

namespace corral::registry {

/// What is lost: all that a damaged file knew of earlier daemons, or some records of a time when it could not
/// be written.
enum class Loss : std::uint8_t { File, Records };

struct RegistryOptions {
  std::chrono::milliseconds history{std::chrono::hours(24 * 14)};  // of events and of what has ended
  std::size_t most_events = 200'000;
  std::size_t most_sessions = 20'000;
  std::size_t most_waiting = 4096;  // events, and as many sessions, that could not be written yet
  std::chrono::milliseconds batch{250};
  std::chrono::milliseconds retry{5000};  // when the disk is full and the like
  std::chrono::milliseconds first_prune{30'000};
  std::chrono::milliseconds prune{std::chrono::minutes(10)};
  std::chrono::milliseconds next_piece{50};  // between the pieces of that
  int checkpoint_pages = 256;                // of 4 KiB in the write-ahead log, then it is copied …
  std::chrono::milliseconds quiet{1000};     // … when nothing was written for so long
  /// What its owner should know although the registry can be used; null = the log.
  std::function<void(Loss, const std::string&)> notice{};
};

/// `path` empty = in memory, which is not degraded. Never fails: at worst it is degraded.
std::unique_ptr<Registry> open_registry(Loop& loop, const std::string& path, RegistryOptions options = {});

}  // namespace corral::registry
