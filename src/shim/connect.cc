#include "shim/connect.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "control/channel.h"
#include "keeper/kernel.h"
#include "shim/attachment.h"
#include "shim/autostart.h"
#include "shim/error_output.h"
#include "shim/fallback.h"
#include "shim/signals.h"
#include "shim/standard_io.h"
#include "version.h"

namespace corral::shim {
namespace {

/// The kernel's name for it, without symbolic links.
Result<void> find_directory(std::string& directory) {
  char path[PATH_MAX];
  if (getcwd(path, sizeof path) == nullptr) {
    return Error{std::string("the working directory cannot be named: ") + strerror(errno)};
  }
  // "(unreachable)" stands before a folder outside of our root.
  if (path[0] != '/') return Error{"the working directory cannot be reached from the root"};
  directory = path;
  return {};
}

Result<control::Hello> make_hello(const ConnectOptions& options) {
  control::Hello hello;
  hello.version = kVersion;
  hello.server = options.server;
  hello.argv = options.argv;
  hello.share = options.share;
  const Result<void> found = find_directory(hello.cwd);
  if (!found) return found.error();
  for (char** entry = environ; *entry != nullptr; ++entry) hello.environment.emplace_back(*entry);
  hello.client = getppid();
  return hello;
}

/// The exit code, or why it must go without the daemon.
Result<int> through_daemon(const ConnectOptions& options, Signals& signals, ErrorOutput& errors) {
  Result<control::Hello> hello = make_hello(options);
  if (!hello) return hello.error();
  Result<control::Channel> channel =
      reach_daemon({options.runtime_dir, options.config_file, options.verbose}, signals, errors);
  if (signals.leaving() != 0) return kSignalled + signals.leaving();
  if (!channel) return channel.error();
  return Attachment(std::move(*channel), signals, errors, options.verbose).run(std::move(*hello));
}

}  // namespace

int connect(const ConnectOptions& options) {
  // What a client leaked to us would be held open here: a copy of the other end of stdin, and the session
  // never ends.
  keeper::close_from(3);
  {  // Nothing of this may be left for `run_instead`: least of all the copies of 0 and 1.
    const KeptFlags flags;
    Signals signals;
    ErrorOutput errors;
    const Result<int> code = through_daemon(options, signals, errors);
    flags.restore();
    if (code) return *code;
    const std::string& why = code.error().message;
    if (options.require_daemon) {
      errors.say(why + " (--require-daemon)");
      return kNoDaemon;
    }
    errors.say(why + "; running the server here, for this session alone");
  }
  return run_instead(options);
}

}  // namespace corral::shim
