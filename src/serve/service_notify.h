// Tells a service manager about the daemon, as sd_notify(3) describes: datagrams to the socket that it named.
// If none is named, nothing is sent.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace corral::serve {

class ServiceNotify {
 public:
  /// Removes the variables from the environment, so that no process below us can speak for us.
  static ServiceNotify from_environment();

  /// "READY=1" and the like, separated by line ends. Never waits; a manager that does not read misses it.
  void send(const std::string& message) const;

  /// How often WATCHDOG=1 is to be sent: twice as often as the manager looks.
  std::optional<std::chrono::microseconds> watchdog_period() const { return watchdog_period_; }

 private:
  UniqueFd socket_;
  std::string address_;  // of the socket, as bytes of a sockaddr_un
  std::optional<std::chrono::microseconds> watchdog_period_;
};

/// The bytes of the socket's address: a path, or a name with @ in front for an abstract one. Empty if it is
/// neither, or too long.
std::string notify_address(std::string_view named);

/// Half of the time in microseconds, if it is meant for the process `self` (null = not set; a missing pid
/// means everybody).
std::optional<std::chrono::microseconds> watchdog_period(const char* usec, const char* pid, pid_t self);

}  // namespace corral::serve
