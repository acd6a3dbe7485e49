// The report at the end of a session: plain data, sent over the lifeline and written as one line of JSON. It
// never contains arguments or environment values of the server, because they may be secrets.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "keeper/kernel.h"

namespace corral::keeper {

inline constexpr int kInstanceIdLength = 32;  // hexadecimal digits

/// Why the session ended. The first reason wins.
enum class Reason : std::uint8_t {
  NotStarted,
  StdinClosed,
  StdoutClosed,
  ClientGone,
  Signal,
  ServerExited,
  OwnerGone,
  Watchdog,
  KeeperLost,
  ClientExited,  // only from `corral guard`, whose leader is the client
};

/// How the tree is held. There is always a keeper, except under `corral guard`; the rest is in addition.
struct Level {
  bool cgroup = false;
  bool pid_namespace = false;
  bool guard = false;
};

enum class LimitName : std::uint8_t { Memory, Pids, Cpu };
enum class Enforcer : std::uint8_t { None, Cgroup, Watchdog };

struct LimitState {
  LimitName name;
  Enforcer by;
  bool exceeded;
  std::uint64_t limit;  // bytes, processes, or thousandths of a core
  std::uint64_t seen;   // 0 = not measured
};

/// A process that was alive when the end began and is gone now.
struct EndedProcess {
  pid_t pid;
  char comm[16];
  int signal;  // the signal that ended it; 0 = it exited by itself
};

enum class Cause : std::uint8_t { Permission, Uninterruptible, Unknown };

struct Survivor {
  pid_t pid;
  char comm[16];
  uid_t uid;
  Cause cause;
};

enum class TerminatorKind : std::uint8_t { OnStop, Container };

struct TerminatorResult {
  TerminatorKind kind;
  bool finished;  // false: it was killed at its time limit
  int wait_status;
  Micros took;
};

inline constexpr int kListedProcesses = 1024;
inline constexpr int kListedSurvivors = 32;
inline constexpr int kLimits = 3;
inline constexpr int kTerminators = 2;

struct Report {
  char instance[kInstanceIdLength + 1] = {};
  Reason reason = Reason::NotStarted;
  Level level;
  bool proved_empty = false;  // wait returned ECHILD
  bool server_status_known = false;
  int server_status = 0;  // wait status

  std::uint32_t ended_total = 0;  // all of them; the list may be shorter
  std::uint32_t ended_listed = 0;
  EndedProcess ended[kListedProcesses];
  std::uint32_t sigterm_deaths = 0;
  std::uint32_t sigkill_deaths = 0;

  std::uint32_t survivors = 0;
  Survivor survivor[kListedSurvivors];

  std::uint32_t kept = 0;  // left alive on request; only a guard sets it

  std::uint32_t limits = 0;
  LimitState limit[kLimits];
  std::uint32_t terminators = 0;
  TerminatorResult terminator[kTerminators];

  Micros end_took{0};  // from the reason to the proof
  Micros uptime{0};
};

/// The names used in the JSON line.
const char* reason_name(Reason reason);
const char* level_name(Level level);
const char* cause_name(Cause cause);

/// Adds a process, or updates the signal of a process that is already listed.
void record_ended(Report& report, pid_t pid, const char* comm, int signal);

/// Writes the line in one call, so that several sessions can append to the same file. Returns false if it did
/// not fit or could not be written.
bool write_report(int fd, const Report& report);

}  // namespace corral::keeper
