// Notifies a service manager of the daemon's state, as sd_notify(3) describes: datagrams to the socket named
// in the environment. If none is named, nothing is sent.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace corral::serve {

class ServiceNotify {
 public:
  /// Removes the variables from the environment, so that no child process can send notifications for the
  /// daemon.
  static ServiceNotify from_environment();

  /// Assignments such as "READY=1", separated by line ends. Never waits; if the manager does not read, the
  /// message is lost.
  void send(const std::string& message) const;

  /// The interval for WATCHDOG=1: half of the time after which the manager considers the daemon hung.
  std::optional<std::chrono::microseconds> watchdog_period() const { return watchdog_period_; }

 private:
  UniqueFd socket_;
  std::string address_;  // of the socket, as bytes of a sockaddr_un
  std::optional<std::chrono::microseconds> watchdog_period_;
};

/// The bytes of the socket's address: a path, or a name that begins with @ for an abstract socket. Empty if
/// it is neither, or too long.
std::string notify_address(std::string_view named);

/// Half of `usec`, if it is meant for the process `self`. Null = the variable is not set; without a pid it is
/// meant for every process.
std::optional<std::chrono::microseconds> watchdog_period(const char* usec, const char* pid, pid_t self);

}  // namespace corral::serve
