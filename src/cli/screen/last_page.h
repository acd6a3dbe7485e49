// What ran last and how each process ended, as `corral ps --last` shows it: from the registry, so that it can
// be read when no daemon is running. Pure; the texts are made safe for a terminal here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/screen/page.h"

namespace corral::cli {

/// The last process of a server; or, without a pid, a server of which only a failure is known.
struct LastRun {
  std::string server;
  std::string instance{};  // empty = no process was started
  pid_t pid = 0;
  std::int64_t started_ms = 0;  // without a process: the time of the failure
  std::int64_t ended_ms = 0;    // 0 = not known to have ended
  /// "running"; why it ended ("idle", "died", …); "lost" if its daemon ended before it recorded the end;
  /// "failed" or "refused" if there was no process.
  std::string how{};
};

/// How a server failed last.
struct LastFailure {
  std::string server;
  std::int64_t time_ms = 0;
  std::string kind{};  // of the event: "failed", "crash", "broken", "refused"
  std::string text{};
  std::string instance{};                  // empty = no process was started
  pid_t pid = 0;                           // of that process
  std::vector<std::string> error_lines{};  // what it wrote last to stderr
};

struct LastRuns {
  std::string registry;
  std::vector<LastRun> runs;          // the one that was started last first
  std::vector<LastFailure> failures;  // one for each server at most, the newest first
};

/// A table of the runs, and below it one sentence for each failure.
void show_last_runs(Page& page, const LastRuns& last, std::int64_t now_ms);

/// {"registry":…,"runs":[…],"failures":[…]}
std::string last_runs_json(const LastRuns& last);

/// "2026-11-16T03:40:00.123Z crash: instance 1a2b3c4d of server files exited with code 3"
std::string failure_line(const LastFailure& failure);

}  // namespace corral::cli
