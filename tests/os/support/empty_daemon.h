// A daemon with a real control socket (the socket, the hello, the line back) and no server: what it does with
// an arrival is chosen by the name of the server that is asked for.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace corral::os_tests {

/// Servers:
///   echo       accepts, sends every byte back, ends with 0 at the end of input or when the shim leaves
///   describe   accepts, writes one line about the arrival, ends with 0
///   noisy      echo, after 8 MiB on stderr
///   exit-N     accepts and ends with N at once
///   refuse     refuses with 7
///   leaving    tells the first who asks to run it, because of a shutdown; accepts later ones and ends with 0
///   any command is told to run itself
class EmptyDaemon {
 public:
  enum class Manner {
    Usual,
    Confined,      // no_new_privs
    HangsUpFirst,  // on the first who connects, without a word
  };

  /// Listens in `runtime_dir`, which it makes, as this user (nothing = as ourselves).
  EmptyDaemon(const std::string& runtime_dir, std::optional<uid_t> uid, Manner manner = Manner::Usual);
  ~EmptyDaemon();  // kills it
  EmptyDaemon(const EmptyDaemon&) = delete;
  EmptyDaemon& operator=(const EmptyDaemon&) = delete;

  pid_t pid() const { return pid_; }
  void kill();
  std::size_t open_descriptors() const;

 private:
  pid_t pid_ = -1;
};

}  // namespace corral::os_tests
