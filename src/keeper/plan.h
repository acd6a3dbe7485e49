// The plan: what to start and how to hold it. The owner writes it into a sealed memory file instead of the
// keeper's arguments, so that a kill by command line ("everything with server-x in its name") hits the server
// and misses the keeper that cleans up after it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "keeper/ending.h"
#include "keeper/report.h"
#include "version.h"

namespace corral::keeper {

struct PlanLimit {
  std::uint64_t value;  // 0 = no limit
  Enforcer by;
};

/// Equal in two builds only if they lay out the plan, the event and the report the same way: FNV-1a over the
/// version, the date of the build and the sizes.
constexpr std::uint64_t build_number() {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  for (const char* at = kVersion; *at != '\0'; ++at) mix(static_cast<unsigned char>(*at));
  for (const char* at = kBuildDate; *at != '\0'; ++at) mix(static_cast<unsigned char>(*at));
  mix(sizeof(Graces));
  mix(sizeof(Report));
  return hash;
}

/// The fixed part. The strings follow, each with its NUL, in this order: executable, working directory,
/// cgroup directory, the server's arguments, the arguments of each terminator.
struct PlanHeader {
  static constexpr std::uint64_t kMagic = build_number();

  std::uint64_t magic = kMagic;  // first, so that every build finds it
  std::uint32_t size = 0;        // header and strings
  char instance[kInstanceIdLength + 1] = {};
  pid_t owner = 0;
  /// Marks the tree (launch.h). The owner chooses it, so that it can be recorded before the start.
  std::uint64_t rlimit_tag = 0;
  std::uint8_t pid_namespace = 0;  // flags are bytes: every bit pattern is a valid value
  std::uint8_t watch_stdin = 0;
  std::uint8_t watch_stdout = 0;  // 0: release stdout once the server runs
  std::uint8_t report = 0;
  Graces graces;
  Micros terminator_time{10'000'000};  // each terminator is killed after this
  PlanLimit memory{};
  PlanLimit pids{};
  PlanLimit cpu{};
  std::uint64_t open_files = 0;  // soft limit for keeper and tree, if lower than the owner's; 0 = unchanged
  std::uint32_t arguments = 0;
  std::uint32_t terminators = 0;
  TerminatorKind terminator_kind[kTerminators] = {};
  std::uint32_t terminator_arguments[kTerminators] = {};
};

/// The parsed plan. The pointers refer to the bytes and the array that were given to `parse_plan`.
struct Plan {
  PlanHeader header;
  const char* executable = nullptr;
  const char* directory = nullptr;  // empty = unchanged
  const char* cgroup = nullptr;     // empty = none
  char** arguments = nullptr;       // one free slot before the first, for the shell that runs a script
  char** terminator[kTerminators] = {};
};

/// The longest time that the end of this plan can take after it was requested.
Micros longest_end(const PlanHeader& header);

/// The number of pointers that `parse_plan` needs; 0 if the header is invalid.
std::size_t plan_pointers(const char* bytes, std::size_t size);

/// Points `plan` into `bytes`. Returns false if anything is malformed.
bool parse_plan(const char* bytes, std::size_t size, char** pointers, Plan& plan);

/// Maps the file and parses it; the mapping stays for the lifetime of the process.
bool load_plan(int fd, Plan& plan);

}  // namespace corral::keeper
