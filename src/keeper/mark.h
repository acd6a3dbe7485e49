// Whether a process belongs to an instance, by the marks that the server was started with. They are
// inherited: the cookie in the environment unless a process clears it, the number in RLIMIT_RTTIME unless it
// lowers that on purpose.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace corral::keeper {

struct Mark {
  const char* instance = nullptr;  // the value of the variable; null = every process counts as marked
  std::uint64_t rlimit_tag = 0;    // 0 = none
  const char* variable = "CORRAL_INSTANCE";
};

/// False for a process that cannot be read.
bool carries(pid_t pid, const Mark& mark);

}  // namespace corral::keeper
