// Whether a process belongs to an instance, according to the marks that its server was started with. Children
// inherit both marks: the environment variable unless a process clears it, and the RLIMIT_RTTIME value unless
// a process lowers it deliberately.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace corral::keeper {

struct Mark {
  const char* instance = nullptr;  // value of the variable; null = every process counts as marked
  std::uint64_t rlimit_tag = 0;    // 0 = none
  const char* variable = "CORRAL_INSTANCE";
};

/// False if the process cannot be read.
bool carries(pid_t pid, const Mark& mark);

}  // namespace corral::keeper
