// Ensures that each user has at most one daemon per runtime directory. The lock is a flock on an open file
// description that janitor and daemon share, so it is released only when both have ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::serve {

/// Does not wait. An invalid descriptor means that another process holds the lock.
Result<UniqueFd> take_lock(const std::string& runtime_dir);

/// Whether an inherited descriptor is that lock and holds it.
bool is_our_lock(int fd, const std::string& runtime_dir);

/// Waits until the lock is free. False if it is still held after `patience`.
bool await_free_lock(const std::string& runtime_dir, std::chrono::milliseconds patience);

/// A running daemon, as it describes itself.
struct Running {
  pid_t pid = 0;        // 0 = unknown
  std::string version;  // empty = unknown
  std::string runtime_dir;
};

/// "pid 4711, version 0.1.0, in /run/user/1000/corral"
std::string describe(const Running& running);

/// Nothing if no daemon listens there. One that listens but does not answer is described by its pid file.
std::optional<Running> find_running(const std::string& runtime_dir, const std::string& pid_file);

}  // namespace corral::serve
