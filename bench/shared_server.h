// The two ways to share one echo_server among many clients that are compared: corral's daemon, and the ideal
// forwarder. Each starts what it needs and ends it when it is destroyed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "child.h"
#include "load.h"
#include "load_http.h"
#include "session.h"

namespace corral::bench {

/// What the entry of the server says about itself: members of its "corral" object.
inline constexpr const char* kSharedServer = R"("share":"shared")";

/// `corral serve` in its own runtime directory, with one server.
class Daemon {
 public:
  /// Returns when it has said that it is ready. Throws std::runtime_error if it does not. With a port it
  /// listens there for HTTP clients.
  explicit Daemon(const Bench& bench, const std::string& policy = kSharedServer,
                  const std::vector<std::string>& server_args = {}, int port = 0);
  /// SIGTERM, and waits until everything is gone.
  ~Daemon();
  Daemon(const Daemon&) = delete;

  /// The daemon itself, not the janitor above it.
  pid_t pid() const { return pid_; }
  /// The echo_servers below it.
  std::vector<pid_t> servers() const;
  /// From the spawn of `corral serve` to READY=1.
  double ready_ms() const { return ready_ms_; }

  /// A session of `corral connect`: not opened yet.
  Link attach(const std::string& name) const;
  /// A client of its HTTP listener, connected and not opened yet.
  HttpClient attach_http(const std::string& name, bool modern = false) const;
  int port() const { return port_; }

 private:
  void write_config(const Bench& bench, const std::string& policy,
                    const std::vector<std::string>& server_args) const;
  void wait_until_ready(int notify_fd);

  std::string corral_;
  std::string folder_;
  std::string said_;  // file with its stderr
  std::optional<Child> process_;
  pid_t pid_ = -1;
  int port_ = 0;
  double ready_ms_ = 0;
};

class Ideal {
 public:
  enum class Sessions {
    Own,
    Same
  };  // whether it and its server have sessions of their own, as corral's have
  /// With a port it takes POSTs there, too.
  Ideal(const Bench& bench, Sessions sessions, int port = 0);

  pid_t pid() const { return process_->pid(); }
  int port() const { return port_; }

  Link attach_socket(const std::string& name) const;
  /// Pipes whose far ends are handed over, as `corral connect` does.
  Link attach_pipes(const std::string& name) const;
  HttpClient attach_http(const std::string& name) const;

 private:
  std::string socket_;
  int port_ = 0;
  std::optional<Child> process_;
};

/// echo_server itself.
Link attach_raw(const Bench& bench, const std::string& name, bool own_session = false,
                const std::vector<std::string>& server_args = {});

/// Whatever listens at that path.
Link attach_unix(const std::string& name, const std::string& path);

/// CPU time of a process so far, in milliseconds.
double cpu_ms(pid_t pid);

}  // namespace corral::bench
