// `corral events`: prints what happened to servers, and with -f follows what happens.
#include <poll.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <deque>
#include <iostream>
#include <memory>
#include <optional>

#include "base/units.h"
#include "cli/commands/kept_history.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/interrupts.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/event_lines.h"
#include "cli/screen/json_view.h"
#include "cli/screen/page.h"
#include "version.h"

namespace corral::cli {
namespace {

namespace json = boost::json;
using control::DaemonAnswer;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kExamples = R"(Examples:
  corral events --since 1h
  corral events -f
  corral events -f --server files --kind crash --kind restart
  corral events --json | jq 'select(.kind == "ready") | {server, took_ms}'

Prints all events that the daemon has kept (`corral.history`), also if none is running: then from its registry, and stderr
says so. With -f: the last 10 events, then each new event until Ctrl+C, even if the daemon is restarted.
Exit code: 0; 1 with -f if no daemon is running, or none was restarted in time; 1 if no daemon has kept anything; 125 if the
daemon does not answer, or what it kept cannot be read.
docs/operations/observing.md describes the events.)";

constexpr std::size_t kShownBeforeFollowing = 10;
constexpr milliseconds kWait = std::chrono::seconds(20);      // how long the daemon waits for the next event
constexpr milliseconds kPatience = std::chrono::seconds(30);  // how much longer we wait for its answer
constexpr milliseconds kPause{300};                           // between two attempts to reach a daemon
constexpr std::chrono::minutes kLongestAbsence{5};

struct Options {
  std::string runtime_dir;
  EventChoice choice;
  std::optional<std::size_t> most;
  bool since_given = false;
  bool follow = false;
  bool json = false;
};

bool is_gone(const DaemonAnswer& answer) {
  return answer.kind == DaemonAnswer::Kind::NoDaemon || answer.kind == DaemonAnswer::Kind::HungUp;
}

class EventPrinter {
 public:
  explicit EventPrinter(const Options& options) : options_(options), style_(terminal_style(STDOUT_FILENO)) {
    if (options.follow) interrupts_.emplace();
  }

  int run();

 private:
  /// Without a daemon: what the registry has. There is nothing to follow then.
  int show_kept();

  /// Nothing if a signal arrived first, or the reader of stdout has gone.
  std::optional<DaemonAnswer> ask(milliseconds wait);
  /// Handles the events of an answer and returns their number.
  Result<std::size_t> take(const DaemonAnswer& answer);
  void sort(const json::value& event);
  void show(const json::value& event);
  void show_last();
  int follow();
  std::optional<int> wait_for_daemon();
  bool interrupted(milliseconds pause);
  int leave() const;

  const Options& options_;
  const TerminalStyle style_;
  std::optional<Interrupts> interrupts_;
  std::uint64_t after_ = 0;
  bool catching_up_ = true;
  std::deque<json::value> last_;  // while catching up, if only the last ones are wanted
  steady_clock::time_point absent_since_{};
  bool absent_ = false;
};

std::optional<DaemonAnswer> EventPrinter::ask(milliseconds wait) {
  control::Hello hello = control::verb_hello(control::Verb::Events);
  hello.after = after_;
  hello.limit = control::kMostEvents;
  hello.wait = wait;
  control::DaemonRequest request(options_.runtime_dir, std::move(hello), wait + kPatience);
  for (;;) {
    if (std::optional<DaemonAnswer> answer = request.poll()) return answer;
    const auto left = std::chrono::ceil<milliseconds>(request.deadline() - steady_clock::now());
    // The reader of stdout may exit while nothing happens: `corral events -f | head`.
    pollfd ready[3] = {{request.fd(), POLLIN, 0},
                       {interrupts_ ? interrupts_->fd() : -1, POLLIN, 0},
                       {interrupts_ ? STDOUT_FILENO : -1, 0, 0}};
    poll(ready, 3, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready[1].revents != 0 || (ready[2].revents & POLLERR) != 0) return std::nullopt;
  }
}

Result<std::size_t> EventPrinter::take(const DaemonAnswer& answer) {
  const Result<JsonAnswer> parsed = read_answer(answer);
  if (!parsed) return parsed.error();
  const json::array& events = list(parsed->value, "events");
  for (const json::value& event : events) sort(event);
  const json::value* const next = member(parsed->value, "next");
  boost::system::error_code error;
  // Also if it is lower: a daemon that could not read the history starts to count at 1 again.
  if (next != nullptr && next->is_number()) after_ = next->to_number<std::uint64_t>(error);
  return error ? std::size_t{0} : events.size();
}

/// Shows it, or keeps it for later, if it is wanted at all.
void EventPrinter::sort(const json::value& event) {
  if (!is_chosen(event, options_.choice)) return;
  const bool few = catching_up_ && (options_.most || (options_.follow && !options_.since_given));
  if (!few) return show(event);
  last_.push_back(event);
  if (last_.size() > options_.most.value_or(kShownBeforeFollowing)) last_.pop_front();
}

void EventPrinter::show_last() {
  for (const json::value& event : last_) show(event);
  last_.clear();
  catching_up_ = false;
}

int EventPrinter::show_kept() {
  const std::string nobody = control::no_daemon_is_running(control::Purpose::Recall);
  const Result<std::string> file = registry_file(options_.runtime_dir, {});
  Result<void> read = file ? each_kept_event(*file, [this](const json::value& event) { sort(event); })
                           : Result<void>(file.error());
  if (!read) {
    const int code = fail("events", nobody + "; " + read.error().message);
    return read.error().kind == Error::Kind::NotFound ? kNoDaemonRuns : code;
  }
  show_last();
  if (options_.follow) return fail_for("events", {DaemonAnswer::Kind::NoDaemon, nobody});
  std::cout.flush();
  std::cerr << "corral events: no daemon is running; these events are from " << shorten_home(*file) << '\n';
  return 0;
}

void EventPrinter::show(const json::value& event) {
  std::cout << (options_.json ? json::serialize(event) : event_line(event, style_)) << '\n';
}

int EventPrinter::run() {
  for (;;) {
    const std::optional<DaemonAnswer> answer = ask(milliseconds(0));
    if (!answer) return leave();
    // A daemon that closes the connection here is ending, so none is running.
    if (is_gone(*answer)) return show_kept();
    const Result<std::size_t> taken = take(*answer);
    if (!taken) return fail("events", taken.error().message);
    if (*taken == 0) break;
  }
  show_last();
  return options_.follow ? follow() : 0;
}

int EventPrinter::follow() {
  for (;;) {
    if (!std::cout.flush()) return 0;  // the reader has gone
    const auto asked = steady_clock::now();
    const std::optional<DaemonAnswer> answer = ask(kWait);
    if (!answer) return leave();
    if (is_gone(*answer)) {
      if (const std::optional<int> code = wait_for_daemon()) return *code;
      continue;
    }
    if (answer->kind == DaemonAnswer::Kind::Busy) {
      if (interrupted(kPause)) return leave();
      continue;
    }
    if (answer->ok() && std::exchange(absent_, false))
      std::cerr << "corral events: a daemon is running again\n";
    const Result<std::size_t> taken = take(*answer);
    if (!taken) return fail("events", taken.error().message);
    // A daemon with too many waiting requests answers at once; do not ask again immediately.
    if (*taken == 0 && steady_clock::now() - asked < kPause && interrupted(kPause)) return leave();
  }
}

/// Returns an exit code if it should not wait any longer.
std::optional<int> EventPrinter::wait_for_daemon() {
  if (!std::exchange(absent_, true)) {
    absent_since_ = steady_clock::now();
    std::cerr << "corral events: the daemon has exited; waiting for a new one\n";
  }
  if (steady_clock::now() - absent_since_ > kLongestAbsence) {
    std::cerr << "corral events: no daemon was started within " << show_age(kLongestAbsence)
              << "; `corral serve` starts one\n";
    return 1;
  }
  if (interrupted(kPause)) return leave();
  return std::nullopt;
}

bool EventPrinter::interrupted(milliseconds pause) {
  pollfd ready{interrupts_->fd(), POLLIN, 0};
  return poll(&ready, 1, static_cast<int>(pause.count())) > 0;
}

/// Ctrl+C is the normal way to end it, not a failure.
int EventPrinter::leave() const {
  std::cout.flush();
  return 0;
}

int run(Options& options, const std::vector<Option>& late, const std::vector<std::string>& args) {
  const Result<std::vector<std::string>> rest = apply_late_options(late, args);
  if (!rest) return fail("events", rest.error().message);
  const Result<void> nothing_more = expect_no_args(*rest);
  if (!nothing_more) return fail("events", nothing_more.error().message);
  options.since_given = options.choice.since_ms != 0;
  return EventPrinter(options).run();
}

}  // namespace

Command events_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "events";
  command.summary = "Show what happened to servers, or follow it live.";
  command.usage = "corral events [options]";
  command.examples = kExamples;
  command.options = {
      {"-f,--follow", "", "Keep printing new events as they happen", set_flag(options->follow)},
      {"--since", "TIME", "Only events since this time: 10m, 2d or 2026-11-16T03:40:00Z",
       set_since(options->choice.since_ms)},
      {"--kind", "KIND", "Only events of this kind: spawn, crash, stop, extinct, … (repeatable)",
       [options](const std::string& kind) -> Result<void> {
         options->choice.kinds.push_back(kind);
         return check_kind(kind);
       }},
      {"--server", "SERVER", "Only events of this server (repeatable)",
       [options](const std::string& name) -> Result<void> {
         options->choice.servers.push_back(name);
         return {};
       }},
      {"-n,--lines", "N", "Only the last N events (10 with -f)", set_count(options->most, "number of lines")},
      {"--json", "", "Print one JSON object per line", set_flag(options->json)},
      runtime_dir_option(options->runtime_dir),
  };
  command.options_anywhere = true;
  command.run = [options, late = command.options](const std::vector<std::string>& args) {
    return run(*options, late, args);
  };
  return command;
}

}  // namespace corral::cli
