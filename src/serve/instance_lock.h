// One daemon per user and runtime folder. The lock is a flock on one open file description that janitor and
// daemon share: it is free again only when both are gone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::serve {

/// Does not wait. Invalid = another process holds it.
Result<UniqueFd> take_lock(const std::string& runtime_dir);

/// Whether an inherited descriptor is that lock, and held.
bool is_our_lock(int fd, const std::string& runtime_dir);

/// Waits until it is free. False if that takes too long.
bool await_free_lock(const std::string& runtime_dir, std::chrono::milliseconds patience);

/// The daemon that answers, as far as it tells.
struct Running {
  pid_t pid = 0;        // 0 = it does not say
  std::string version;  // empty = it does not say
  std::string runtime_dir;
};

/// "pid 4711, version 0.1.0, in /run/user/1000/corral"
std::string describe(const Running& running);

/// Nothing if no daemon listens there. One that listens but does not answer is described by its pid file.
std::optional<Running> find_running(const std::string& runtime_dir, const std::string& pid_file);

}  // namespace corral::serve
