#include "shim/connect.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <utility>

#include "control/confinement.h"
#include "control/control_socket.h"
#include "keeper/kernel.h"
#include "shim/autostart.h"
#include "shim/daemon_connection.h"
#include "shim/error_output.h"
#include "shim/fallback.h"
#include "shim/refusal.h"
#include "shim/signals.h"
#include "shim/standard_io.h"
#include "version.h"

namespace corral::shim {
namespace {

// Time to reach the daemon, and again for it to answer: a daemon that hangs must not cost the client its
// server.
constexpr std::chrono::seconds kPatience{10};

/// The kernel's path of the directory, without symbolic links.
Result<void> find_directory(std::string& directory) {
  char path[PATH_MAX];
  if (getcwd(path, sizeof path) == nullptr) {
    return Error{std::string("cannot determine the working directory: ") + strerror(errno)};
  }
  // The kernel puts "(unreachable)" in front of a directory outside our root.
  if (path[0] != '/') return Error{"the working directory is not below the root directory"};
  directory = path;
  return {};
}

Result<control::Hello> make_hello(const ConnectOptions& options) {
  Result<control::Hello> hello = hello_from_here(control::Verb::Connect);
  if (!hello) return hello;
  hello->server = options.server;
  hello->argv = options.argv;
  hello->name = options.name;
  hello->share = options.share;
  hello->ignore = options.ignore;
  hello->session = options.session;
  hello->root = options.root;
  hello->quiet = options.quiet;
  hello->client = getppid();
  return hello;
}

Result<control::ControlSocket> find_fitting_daemon(const ConnectOptions& options,
                                                   DaemonConnection::Time until, ShimSignals& signals,
                                                   StderrWriter& errors) {
  Result<control::ControlSocket> socket =
      reach_daemon({options.runtime_dir, options.config_file, options.verbose}, until, signals, errors);
  if (!socket) return socket;
  const std::string by =
      control::held_tighter(control::surroundings_of_peer(socket->fd()), control::surroundings_of(0));
  if (by.empty()) return socket;
  return Error{"the daemon is more confined than this process (" + by +
               "): `corral serve --replace` starts a new one"};
}

/// The exit code, or why the session must do without the daemon. A daemon that is leaving is not tried again,
/// but its successor is, in the remaining time.
Result<int> through_daemon(const ConnectOptions& options, ShimSignals& signals, StderrWriter& errors) {
  const Result<control::Hello> hello = make_hello(options);
  if (!hello) return hello.error();
  using Notes = DaemonConnection::Notes;
  const Notes notes = options.verbose ? Notes::OnStderr : Notes::Off;
  DaemonConnection::Time until = std::chrono::steady_clock::now() + kPatience;
  for (bool again = false;; again = true) {
    Result<control::ControlSocket> socket = find_fitting_daemon(options, until, signals, errors);
    if (signals.leaving() != 0) return kSignalled + signals.leaving();
    if (!socket) return socket.error();
    if (!again)
      until = std::chrono::steady_clock::now() + kPatience;  // from here on the new daemon has its own time
    Result<int> code = DaemonConnection(std::move(*socket), signals, errors, notes).run(*hello, until);
    if (code || again || code.error().kind != Error::Kind::NotFound) return code;
    if (options.verbose) errors.say(code.error().message + "; trying again");
  }
}

}  // namespace

Result<control::Hello> hello_from_here(control::Verb verb) {
  control::Hello hello;
  hello.verb = verb;
  hello.version = kVersion;
  const Result<void> found = find_directory(hello.cwd);
  if (!found) return found.error();
  for (char** entry = environ; *entry != nullptr; ++entry) hello.environment.emplace_back(*entry);
  return hello;
}

int connect(const ConnectOptions& options) {
  // Descriptors that the client leaked to us must be closed: if one is the other end of stdin, the session
  // would never end.
  keeper::close_from(3);
  Instead instead;
  {  // Everything in this block must be destroyed before `run_instead`, above all the copies of 0 and 1.
    const KeptFlags flags;
    ShimSignals signals;
    StderrWriter errors;
    const Result<int> code = through_daemon(options, signals, errors);
    flags.restore();
    if (code) return *code;
    const std::string& why = code.error().message;
    if (options.require_daemon) {
      errors.say(why + " (--require-daemon)");
      return kNoDaemon;
    }
    instead = find_instead(options);
    if (!instead.spec) {
      errors.say(why + "; " + instead.refusal);
      answer_refused({STDIN_FILENO, STDOUT_FILENO, signals.fd()}, instead.refusal);
      return instead.exit_code;
    }
    errors.say(why + "; running the server here, for this session only");
  }
  return run_instead(*instead.spec, {.verbose = options.verbose});
}

}  // namespace corral::shim
