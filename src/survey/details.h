// What is read only of the few processes that matter, because it costs more or is nobody else's business.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace corral::survey {

struct Details {
  std::vector<std::string> environment;  // "NAME=value"; values are for comparing, never for showing
  bool environment_readable = false;
  std::string cgroup;                   // path in the unified hierarchy (or of the first one there is)
  pid_t tracer = 0;                     // a debugger, 0 = none
  bool in_other_pid_namespace = false;  // a container, or `corral run --containment strict`
  std::uint64_t rttime_limit = 0;       // hard RLIMIT_RTTIME in microseconds; ~0 = unlimited
};

/// `proc` is another directory in tests only.
Details read_details(pid_t pid, const std::string& proc = "/proc");

struct Memory {
  std::uint64_t resident = 0;      // RSS: counts shared pages for everybody who shares them
  std::uint64_t proportional = 0;  // PSS; 0 if it may not be read
  std::uint64_t swapped = 0;       // leaked processes sit in swap, where RSS does not see them

  /// What ending the process would give back, as well as it can be known.
  std::uint64_t footprint() const { return (proportional != 0 ? proportional : resident) + swapped; }
};

Memory read_memory(pid_t pid, const std::string& proc = "/proc");

/// Whether a hard RLIMIT_RTTIME is one that a keeper chooses for its tree: nobody else sets such a number,
/// and it is handed down from process to process only, unlike an environment, which can be copied.
bool is_rlimit_tag(std::uint64_t limit);

}  // namespace corral::survey
