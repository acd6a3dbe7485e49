// Everything about one start of a server, in plain values. Whoever fills it in owns the descriptors.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace corral::proc {

enum class Containment {
  Auto,    // a keeper, and a cgroup where we may make one
  Strict,  // a PID namespace on top; refuses to start rather than do with less
  Basic,   // a keeper alone
};

struct Limits {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint32_t> processes;
  std::optional<std::uint32_t> cpu_thousandths;  // of one core
};

/// What is settled of a tree before anything of it exists.
struct Birth {
  std::string instance;                  // the cookie that all of it will carry
  std::string cgroup;                    // empty = none
  std::uint64_t rlimit_tag = 0;          // the other mark (keeper/launch.h); 0 = none
  std::vector<std::string> container{};  // what its removal needs to know; empty = there is none
};

struct LaunchSpec {
  std::vector<std::string> argv;         // argv[0] is looked up in the PATH of `environment`
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::string directory;                 // empty = ours
  Containment containment = Containment::Auto;
  Limits limits;

  std::chrono::milliseconds stdin_grace{2000};
  std::chrono::milliseconds term_grace{1500};
  std::chrono::milliseconds kill_grace{2000};

  /// Given to the server as they are. The session ends when `input` hangs up or nobody reads `output`.
  int input = 0;
  int output = 1;
  int error = 2;
  /// False: whoever reads `output` sees its end himself. The keeper then holds no copy of it, which would
  /// hide that a server has closed its own.
  bool watch_output = true;

  std::string on_stop;  // a shell command that runs when the tree is gone; empty = none
  int report = -1;      // the keeper appends one line of JSON here; -1 = nowhere

  /// Called before the first process of the tree is made: whoever writes down what he starts can say so while
  /// there is nothing yet that could be forgotten. Not called if it comes to nothing before that.
  std::function<void(const Birth&)> before_start{};
};

}  // namespace corral::proc
