#include "keeper/mark.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace corral::keeper {
namespace {

bool has_rlimit_tag(pid_t pid, std::uint64_t tag) {
  rlimit limit{};
  return tag != 0 && prlimit(pid, RLIMIT_RTTIME, nullptr, &limit) == 0 && limit.rlim_max == tag;
}

/// Reads the environment, which can be long, in pieces that overlap by the length of the cookie.
bool has_cookie(pid_t pid, const Mark& mark) {
  char cookie[64];
  const auto length =
      static_cast<std::size_t>(snprintf(cookie, sizeof cookie, "%s=%s", mark.variable, mark.instance));
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/environ", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[8192];
  std::size_t kept = 0;
  bool found = false;
  for (ssize_t got = 0; !found && (got = read(fd, buffer + kept, sizeof buffer - kept)) > 0;) {
    const std::size_t filled = kept + static_cast<std::size_t>(got);
    found = memmem(buffer, filled, cookie, length) != nullptr;
    kept = filled < length ? filled : length;
    memmove(buffer, buffer + filled - kept, kept);
  }
  close(fd);
  return found;
}

}  // namespace

bool carries(pid_t pid, const Mark& mark) {
  return mark.instance == nullptr || has_rlimit_tag(pid, mark.rlimit_tag) || has_cookie(pid, mark);
}

}  // namespace corral::keeper
