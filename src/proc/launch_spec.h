// Everything about one start of a server, as plain values. The caller owns the descriptors and keeps them
// open until `spawn` returns.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace corral::proc {

enum class Containment {
  Auto,    // a keeper, and a cgroup where we may create one
  Strict,  // also a PID namespace; refuses to start rather than do without
  Basic,   // only a keeper
};

struct Limits {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint32_t> processes;
  std::optional<std::uint32_t> cpu_thousandths;  // of one core
};

/// What is known about a tree before any of its processes exists.
struct Birth {
  std::string instance;                  // the cookie that all its processes will carry
  std::string cgroup;                    // empty = none
  std::uint64_t rlimit_tag = 0;          // the second mark (keeper/launch.h); 0 = none
  std::vector<std::string> container{};  // what the removal of its container needs; empty = no container
};

struct LaunchSpec {
  std::vector<std::string> argv;         // argv[0] is looked up in the PATH of `environment`
  std::vector<std::string> environment;  // "NAME=value", complete
  std::string directory;                 // empty = our working directory
  Containment containment = Containment::Auto;
  Limits limits;

  std::chrono::milliseconds stdin_grace{2000};
  std::chrono::milliseconds term_grace{1500};
  std::chrono::milliseconds kill_grace{2000};

  /// Passed to the server unchanged. The session ends when `input` hangs up or `output` has no reader.
  int input = 0;
  int output = 1;
  int error = 2;
  /// False if the reader of `output` detects its end itself. The keeper then holds no copy of `output`,
  /// because a copy would hide that the server has closed its own.
  bool watch_output = true;

  std::string on_stop;  // shell command that runs when the tree is gone; empty = none
  int report = -1;      // the keeper appends one line of JSON here; -1 = no report

  /// Called on the caller's thread before the first process of the tree is created, so that a caller that
  /// keeps a journal can write the entry before there is anything to lose. Not called if the start fails
  /// earlier.
  std::function<void(const Birth&)> before_start{};
};

}  // namespace corral::proc
