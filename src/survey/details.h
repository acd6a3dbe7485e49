// What is read only for the few processes that matter, because it is slow or private: environment, cgroup,
// limits, memory. A process that has exited, or that may not be read, yields empty fields.
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
  std::uint64_t resident = 0;      // RSS: counts a shared page once per process
  std::uint64_t proportional = 0;  // PSS; 0 if it may not be read
  std::uint64_t swapped = 0;       // leaked processes end up in swap, which RSS does not count

  /// The measure that corral shows everywhere: PSS and swap. The sum over processes counts a shared page
  /// once, and is about what ending them would free. Where the kernel does not allow PSS, the resident size
  /// counts.
  std::uint64_t footprint() const { return (proportional != 0 ? proportional : resident) + swapped; }
};

/// The kernel walks the page table for it: about 1 ms for 100 MB.
Memory read_memory(pid_t pid, const std::string& proc = "/proc");

/// Whether a hard RLIMIT_RTTIME is one that a keeper chooses for its tree: no other program sets such a
/// number, and a process only inherits it, while an environment can also be copied.
bool is_rlimit_tag(std::uint64_t limit);

}  // namespace corral::survey
