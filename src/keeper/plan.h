// What to start and how to hold it, as the owner wrote it into a sealed memory file. It travels that way, and
// not in the keeper's arguments, so that a kill by command line ("everything with server-x in its name") hits
// the server and misses the process that cleans up after it.
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

/// A number that two builds share only if they lay out a plan, an event and a report alike: FNV-1a over the
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
  std::uint64_t rlimit_tag =
      0;  // marks the tree (launch.h); the owner chooses it, who can write it down first
  std::uint8_t pid_namespace = 0;  // flags are bytes: any bit pattern is a value, whatever the file holds
  std::uint8_t watch_stdin = 0;
  std::uint8_t watch_stdout = 0;  // 0: let go of it when the server runs
  std::uint8_t report = 0;
  Graces graces;
  Micros terminator_time{10'000'000};  // each terminator is ended after this
  PlanLimit memory{};
  PlanLimit pids{};
  PlanLimit cpu{};
  std::uint64_t open_files = 0;  // the soft limit of keeper and tree, if lower than the owner's; 0 = the same
  std::uint32_t arguments = 0;
  std::uint32_t terminators = 0;
  TerminatorKind terminator_kind[kTerminators] = {};
  std::uint32_t terminator_arguments[kTerminators] = {};
};

struct Plan {
  PlanHeader header;
  const char* executable = nullptr;
  const char* directory = nullptr;  // empty = as it is
  const char* cgroup = nullptr;     // empty = none
  char** arguments = nullptr;       // one free slot before the first: for the shell that runs a script
  char** terminator[kTerminators] = {};
};

/// How long the end of this plan can take at most, once it is asked for.
Micros longest_end(const PlanHeader& header);

/// Number of pointers that `parse_plan` needs; 0 if the header makes no sense.
std::size_t plan_pointers(const char* bytes, std::size_t size);

/// Points `plan` into `bytes`. False for anything malformed.
bool parse_plan(const char* bytes, std::size_t size, char** pointers, Plan& plan);

/// Maps the file and parses it; the mapping stays for the life of the process.
bool load_plan(int fd, Plan& plan);

}  // namespace corral::keeper
