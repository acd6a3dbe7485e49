#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>

#include "base/log.h"
#include "base/log_file.h"
#include "base/loop.h"
#include "base/units.h"
#include "base/utc_time.h"
#include "config/configuration.h"
#include "control/runtime_dir.h"
#include "daemon/built_in_server.h"
#include "daemon/hub.h"
#include "daemon/records.h"
#include "daemon/recovery.h"
#include "daemon/token_file.h"
#include "daemon/watchdog.h"
#include "events/event_log.h"
#include "keeper/inherited.h"
#include "keeper/sweep.h"
#include "proc/keeper_spawner.h"
#include "serve/activation.h"
#include "serve/config_source.h"
#include "serve/file_watch.h"
#include "serve/http_listeners.h"
#include "serve/http_socket.h"
#include "serve/listening_socket.h"
#include "serve/pid_file.h"
#include "serve/service_notify.h"
#include "serve/start.h"
#include "serve/welcome.h"
#include "transport/unix_listener.h"
#include "version.h"

namespace corral::serve {
namespace {

using std::chrono::milliseconds;

// In addition to the configured drain, for the grace periods of the last keepers. Then the daemon exits, and
// the janitor ends the remaining processes.
constexpr std::chrono::seconds kBeyondDrain{12};

/// Signals are read one at a time, on the loop: no handler, no race. SIGCHLD belongs to the hub.
UniqueFd take_signals() {
  signal(SIGPIPE, SIG_IGN);
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signo : {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&wanted, signo);
  sigprocmask(SIG_BLOCK, &wanted, nullptr);
  return UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// A session needs two descriptors or more, and the usual soft limit is 1024. The new limit is finite because
/// child processes inherit it, and some old programs loop over all descriptor numbers.
void raise_descriptor_limit() {
  constexpr rlim_t kEnough = 65536;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::string count(std::size_t number, const char* what) { return std::to_string(number) + " " + what; }

/// Empty if there is none.
std::string state_directory_of(const ServeOptions& options) {
  return options.state_dir.empty() ? control::state_directory_for(options.runtime_dir) : options.state_dir;
}

/// Empty if there is no state directory.
std::string token_file_of(const ServeOptions& options) {
  const std::string state = state_directory_of(options);
  return state.empty() ? state : state + "/tokens.json";
}

class Daemon {
 public:
  Daemon(const ServeOptions& options, UniqueFd lock, UniqueFd lifeline)
      : options_(options),
        lock_(std::move(lock)),
        lifeline_(std::move(lifeline)),
        obeys_hangup_(isatty(STDERR_FILENO) == 1),
        for_people_(obeys_hangup_ && (options.log.empty() || options.log == "auto")),
        signals_(take_signals()),
        notify_(ServiceNotify::from_environment()),
        record_{getpid(), kVersion, show_utc_seconds(time(nullptr))},
        source_(options.command.empty() ? ConfigSource(options.config) : ConfigSource::without_file()),
        pid_file_(pid_file_of(options, options.runtime_dir)),
        tokens_(token_file_of(options)) {
    source_.add(daemon::built_in_server(options.runtime_dir));
    for (const int fd : {lock_.get(), lifeline_.get()}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  }

  int run();

 private:
  void watch_file(std::optional<FileWatch>& watch, const std::string& file);
  Result<config::Configuration> read_configuration();
  Result<void> prepare(const config::Configuration& configuration);
  void open_sockets(proc::Spawner& spawner, config::Configuration configuration);
  void recover();
  void open_http();
  void watch_signals();
  void read_signals();
  void watch_lifeline();
  void feed_watchdog(std::chrono::microseconds period);
  void leave_when_idle();
  void tell(events::Kind kind, const std::string& cause, const std::string& text);
  observe::PidFileView describe_pid_file() const;
  void stop(const std::string& reason);
  void finish(const daemon::Drained& ended);

  const ServeOptions& options_;
  UniqueFd lock_;  // held until this process is gone
  UniqueFd lifeline_;
  const bool obeys_hangup_;  // at a terminal, SIGHUP means that the user has closed it
  const bool for_people_;    // the log is a text for the person at the terminal
  UniqueFd signals_;
  ServiceNotify notify_;
  const PidRecord record_;
  ConfigSource source_;
  const std::string pid_file_;
  daemon::TokenFile tokens_;
  ListeningSocket socket_;
  ListeningSocket http_socket_;
  UniqueFd tcp_socket_;

  Loop loop_;
  std::unique_ptr<daemon::Records> records_;
  std::unique_ptr<daemon::Hub> hub_;
  std::unique_ptr<daemon::Watchdog> watchdog_;
  std::unique_ptr<transport::UnixListener> listener_;
  std::unique_ptr<HttpListeners> http_;
  Watch signal_watch_{loop_, signals_.get()};
  Watch lifeline_watch_{loop_, lifeline_.get()};
  std::optional<FileWatch> file_watch_;
  std::optional<FileWatch> machine_watch_;
  Timer heartbeat_{loop_};  // for the service manager
  Timer idle_{loop_};
  Timer bound_{loop_};

  std::string reason_;  // why the daemon is shutting down; empty = it is not
  Clock::time_point began_;
  bool finished_ = false;
  bool janitor_gone_ = false;
};

int Daemon::run() {
  if (!for_people_)
    log_as_text("Server starting (PID: " + std::to_string(record_.pid) + ", Build: " + kBuildDate + ")");
  bound_standard_error(control::log_path(options_.runtime_dir));
  events::set_log_form(events::log_form_called(options_.log).value_or(events::LogForm::Auto));
  Result<proc::KeeperSpawner> spawner = proc::KeeperSpawner::create();
  // Before the files are read, so that no later change is missed.
  if (!source_.file().empty()) watch_file(file_watch_, source_.file());
  watch_file(machine_watch_, source_.machine_file());
  Result<config::Configuration> configuration = read_configuration();
  const Result<void> prepared = !spawner         ? spawner.error()
                                : !configuration ? configuration.error()
                                                 : prepare(*configuration);
  if (!prepared) {
    log_as_text("cannot start: " + prepared.error().message);
    return 1;
  }
  open_sockets(*spawner, std::move(*configuration));
  loop_.run();
  listener_.reset();
  http_.reset();
  watchdog_.reset();
  hub_.reset();
  records_->close();
  // The janitor ends the remaining processes. Without a janitor, the daemon does.
  static keeper::Inherited left;  // static: it is large
  if (janitor_gone_) left.end(spawner->helper_file());
  // Ending remnants takes seconds, and reading /proc can hang for as long as a process hangs. The next daemon
  // waits for our lock, and it looks for remnants again.
  if (records_->busy()) _exit(0);
  return 0;
}

void Daemon::watch_file(std::optional<FileWatch>& watch, const std::string& file) {
  watch.emplace(loop_, file, [this, file] {
    if (hub_) hub_->reload(file + " has changed", {});
  });
}

Result<config::Configuration> Daemon::read_configuration() {
  Result<config::Configuration> configuration = source_.read();
  if (!configuration) return configuration;
  for (const auto* texts : {&configuration->warnings, &configuration->overruled}) {
    for (const std::string& warning : *texts) log_line("warning: " + warning, LogLevel::Warn);
  }
  if (const Result<void> allowed = check_locks(options_, *configuration); !allowed) return allowed.error();
  if (source_.file().empty()) return configuration;
  if (!source_.found() && configuration->machine_file.empty() && !for_people_) {
    log_line("no configuration at '" + source_.file() +
             "': only commands that clients pass themselves are served");
  }
  if (!file_watch_->works() || !machine_watch_->works()) {
    log_line(
        "the configuration is not watched for changes (this user has no inotify instance left); "
        "after a change, run `corral reload`");
  }
  return configuration;
}

Result<void> Daemon::prepare(const config::Configuration& configuration) {
  // Large messages are allocated by mmap, so their memory is returned at once: memory inside the heap may not
  // be returned while any session is open. A reader of many large messages reuses one buffer
  // (wire/line_reader.h).
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  raise_descriptor_limit();
  umask(0077);
  if (chdir("/") != 0) return Error{std::string("cannot change to the directory /: ") + strerror(errno)};
  if (!keeper::become_subreaper())
    log_line("this kernel has no child subreaper: if a keeper is killed, its processes are not found");
  const std::string stale = describe_stale(pid_file_);
  if (!stale.empty()) log_line(stale);
  Result<PassedSockets> passed = take_passed_sockets();
  if (!passed) return passed.error();
  const Result<void> allowed =
      passed->tcp.valid() ? check_locks(passed->tcp.get(), configuration) : Result<void>();
  if (!allowed) return allowed.error();
  const Reach reach = tokens_.any() ? Reach::Anywhere : Reach::ThisMachine;
  Result<UniqueFd> tcp = open_tcp_socket(options_, configuration.options.http, std::move(passed->tcp), reach);
  if (tcp) {
    tcp_socket_ = std::move(*tcp);
  } else if (options_.automatic && !options_.port) {
    // Clients of the local sockets must not lose the daemon because of a TCP port.
    log_line("HTTP clients cannot connect by TCP: " + tcp.error().message);
  } else {
    return tcp.error();
  }
  Result<ListeningSocket> socket =
      ListeningSocket::take_or_make(std::move(passed->local), control::socket_path(options_.runtime_dir));
  if (!socket) return socket.error();
  socket_ = std::move(*socket);
  Result<ListeningSocket> by_url = ListeningSocket::make(control::http_socket_path(options_.runtime_dir));
  if (!by_url) return by_url.error();
  http_socket_ = std::move(*by_url);
  // Before the first answer, so that every client that gets an answer can also read this file.
  const Result<void> written = write_pid_file(pid_file_, record_);
  if (written) return {};
  socket_.remove();
  http_socket_.remove();
  return written.error();
}

void Daemon::open_sockets(proc::Spawner& spawner, config::Configuration configuration) {
  // After the socket was opened: creating or migrating the registry takes time, and clients that connect
  // meanwhile wait in the socket's queue.
  records_ =
      std::make_unique<daemon::Records>(loop_, state_directory_of(options_), configuration.options.history);
  Welcome welcome{getpid(), source_.file(), source_.found(), {}, {}, {}};
  for (const config::Server& server : configuration.servers) {
    if (server.name != daemon::kBuiltInServer) welcome.servers.push_back(server.name);
  }
  hub_ = std::make_unique<daemon::Hub>(
      loop_, std::move(configuration), spawner, [this] { return source_.read(); }, *records_);
  loop_.when_slow([this](const SlowTurn& turn) { records_->events().tell(events::event_of(turn)); });
  hub_->snapshots().describe_pid_file_with([this] { return describe_pid_file(); });
  hub_->when_asked_to_stop([this](const std::string& why) { stop(why); });
  hub_->when_empty([this] {
    malloc_trim(0);
    leave_when_idle();
  });
  listener_ = std::make_unique<transport::UnixListener>(loop_, socket_.take(), *hub_);
  open_http();
  if (for_people_) {
    welcome.command = options_.command.empty() ? "" : hub_->only_server();
    welcome.url = http_->url();
    write_to_standard_error(welcome_text(welcome));
  }
  watch_signals();
  watch_lifeline();
  leave_when_idle();
  tell(events::Kind::Start, "start",
       "the daemon has started: corral " + record_.version + ", pid " + std::to_string(record_.pid));
  recover();
  records_->when_whole_again([this] { recover(); });
  watchdog_ = std::make_unique<daemon::Watchdog>(loop_, *hub_);
  watchdog_->start();
  if (notify_.watchdog_period()) feed_watchdog(*notify_.watchdog_period());
  notify_.send("READY=1\nSTATUS=Serving at " + control::socket_path(options_.runtime_dir));
}

void Daemon::recover() {
  recover_remnants(*records_,
                   [this](pid_t child, daemon::ChildEnded ended) { hub_->started(child, std::move(ended)); });
}

void Daemon::open_http() {
  if (!options_.command.empty()) hub_->serve_only(options_.command, options_.cwd, options_.environment);
  http_ = std::make_unique<HttpListeners>(loop_, *hub_, hub_->options(), http_socket_.take(),
                                          std::move(tcp_socket_), tokens_);
  hub_->snapshots().reached_at(http_->url(), control::http_socket_path(options_.runtime_dir));
  if (http_->url().empty() || for_people_) return;
  log_line(options_.command.empty()
               ? "HTTP: servers are at " + http_->url() + "/mcp/NAME, and at /sse/NAME for old clients"
               : "HTTP: " + hub_->only_server() + " is at " + http_->url() +
                     "/mcp, and at /sse for old clients");
}

void Daemon::watch_signals() {
  signal_watch_.when_readable([this] {
    read_signals();
    watch_signals();
  });
}

void Daemon::read_signals() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int signo = static_cast<int>(info.ssi_signo);
    const std::string name = std::string("SIG") + sigabbrev_np(signo);
    if (signo == SIGUSR1 || signo == SIGUSR2) {
      log_line(name + ": ignored");
    } else if (signo == SIGHUP && !obeys_hangup_) {
      hub_->reload("SIGHUP", {});
    } else {
      stop(name);
    }
  }
}

/// Nothing is ever written to the lifeline; it becomes readable when the janitor has ended. Without a
/// janitor, nothing would end the processes of a killed daemon, so the daemon shuts down in order while it
/// can.
void Daemon::watch_lifeline() {
  lifeline_watch_.when_readable([this] {
    char byte = 0;
    const ssize_t got = read(lifeline_.get(), &byte, 1);
    if (got > 0) return watch_lifeline();
    janitor_gone_ = true;
    stop("the janitor was killed");
    stop("the janitor was killed");  // the second call hurries: the daemon may be killed next
  });
}

void Daemon::feed_watchdog(std::chrono::microseconds period) {
  notify_.send("WATCHDOG=1");
  heartbeat_.start(period, [this, period] { feed_watchdog(period); });
}

void Daemon::leave_when_idle() {
  if (!options_.automatic || !reason_.empty() || !http_->url().empty()) return;
  idle_.start(hub_->options().linger, [this] {
    if (hub_->empty()) stop("no session for " + show_age(hub_->options().linger));
  });
}

void Daemon::tell(events::Kind kind, const std::string& cause, const std::string& text) {
  events::Event event;
  event.kind = kind;
  event.pid = record_.pid;
  event.cause = cause;
  event.text = text;
  records_->events().tell(std::move(event));
}

observe::PidFileView Daemon::describe_pid_file() const {
  observe::PidFileView view;
  view.path = pid_file_;
  const std::optional<PidRecord> found = read_pid_file(pid_file_);
  if (!found) return view;
  view.exists = true;
  view.pid = found->pid;
  view.version = found->version;
  view.started = found->started;
  view.matches = *found == record_;
  return view;
}

/// A second call hurries.
void Daemon::stop(const std::string& reason) {
  if (reason_.empty()) {
    reason_ = reason;
    began_ = Clock::now();
    notify_.send("STOPPING=1\nSTATUS=Ending " + count(hub_->sessions(), "sessions, ") +
                 count(hub_->instances(), "instances"));
    socket_.remove();
    http_socket_.remove();
    listener_->close();
    http_->close();
    const daemon::Drained open{hub_->sessions(), hub_->instances()};
    const milliseconds bound = hub_->options().drain + kBeyondDrain;
    bound_.start(bound, [this, open, bound] {
      log_line("not everything ended within " + show_age(bound) +
               "; the janitor ends the remaining processes");
      finish(open);
    });
  }
  hub_->drain([this](const daemon::Drained& ended) { finish(ended); });
}

void Daemon::finish(const daemon::Drained& ended) {
  if (std::exchange(finished_, true)) return;
  const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - began_);
  tell(events::Kind::Shutdown, "shutdown", "the daemon is shutting down: " + reason_);
  if (!for_people_)
    log_as_text("Shutting down (" + reason_ + ", " + count(ended.sessions, "sessions, ") +
                count(ended.instances, "instances, ") + std::to_string(took.count()) + " ms)");
  remove_pid_file(pid_file_, record_);
  loop_.post([this] { loop_.stop(); });  // after every waiting client has been answered
}

}  // namespace

int run_daemon(const ServeOptions& options, UniqueFd lock, UniqueFd lifeline) {
  return Daemon(options, std::move(lock), std::move(lifeline)).run();
}

}  // namespace corral::serve
