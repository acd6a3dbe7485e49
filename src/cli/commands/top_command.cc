// `corral top`: shows the daemon's processes live, with keys to sort, restart and stop.
#include <poll.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>

#include "base/units.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/interrupts.h"
#include "cli/frame/option_values.h"
#include "cli/screen/json_view.h"
#include "cli/screen/top_model.h"
#include "cli/screen/top_screen.h"
#include "cli/screen/top_terminal.h"

namespace corral::cli {
namespace {

namespace json = boost::json;
using Clock = control::DaemonRequest::Clock;
using control::DaemonAnswer;
using control::DaemonRequest;
using std::chrono::milliseconds;

constexpr const char* kExamples = R"(Examples:
  corral top
  corral top --sort cpu --interval 500ms
  corral top --batch 3 | tee /tmp/top.txt     three times as plain text
  corral top --batch 1 --json | jq '.instances | length'

Keys: arrows or j and k select; m, c, u, s, n sort by memory, cpu, uptime, sessions, name; t shows the processes and sessions
of each instance; r restarts and x stops the selected server, after a question; ? shows the keys; q or Ctrl+C quits.
Exit code: 0 after q; 1 if no daemon is running; 125 without a suitable terminal; 128+n after signal n.)";

constexpr std::size_t kWidestTable = 200;
constexpr milliseconds kFirstPatience{500};  // a daemon that is busy costs a first frame without servers
constexpr int kHungUp = 128 + SIGHUP;

struct TopOptions {
  std::string runtime_dir;
  milliseconds interval{2000};
  TopOrder order = TopOrder::Memory;
  std::size_t batch = 0;
  bool json = false;
};

control::Hello status_question() { return control::status_hello(control::Measure::Yes); }

/// The text of the message line when a restart or a stop is done.
std::string outcome_of(const TopAction& action, const DaemonAnswer& answer) {
  const bool stop = action.kind == TopAction::Kind::Stop;
  if (!answer.ok()) return action.server + ": " + answer.text;
  const Result<JsonAnswer> parsed = read_answer(answer);
  const json::value result = parsed ? parsed->value : json::value();
  for (const json::value& gone : list(result, "ended")) {
    if (!flag(gone, "proved"))
      return action.server + ": a process is not proved gone; see `corral ps --tree`";
  }
  return action.server + (stop ? " is stopped; `corral start " + action.server + "` allows it to start again"
                               : " has been restarted");
}

class TopRun {
 public:
  /// `first` is a status without measurements, which the first frame shows, if it is known.
  TopRun(const TopOptions& options, std::unique_ptr<TopTerminal> terminal, const KnownStatus& first)
      : options_(options),
        terminal_(std::move(terminal)),
        model_(options.order),
        style_(terminal_style(STDOUT_FILENO)) {
    if (first) model_.take(overview_of(*first));
  }

  int run() {
    while (!code_) {
      refresh();
      draw();
      wait();
      handle_signals();
      if (!code_) handle_keys();
      if (!code_) handle_answers();
    }
    return *code_;
  }

 private:
  void refresh() {
    if (status_ || Clock::now() < next_look_) return;
    next_look_ = Clock::now() + options_.interval;
    status_.emplace(options_.runtime_dir, status_question(), control::kTellPatience);
  }

  void lost(const DaemonAnswer& answer) {
    const bool gone =
        answer.kind == DaemonAnswer::Kind::NoDaemon || answer.kind == DaemonAnswer::Kind::HungUp;
    if (gone) model_.take({});
    model_.set_trouble(gone ? "the daemon has exited; waiting for a new one" : answer.text);
  }

  void draw() {
    if (!dirty_) return;
    const TopTerminal::Size size = terminal_->size();
    style_.width = size.columns;
    model_.set_page(rows_of_top(size.rows));
    dirty_ = !terminal_->draw(draw_top(model_, size.rows, style_), style_);
  }

  void wait() {
    waits_[0] = {terminal_->fd(), static_cast<short>(POLLIN | (terminal_->has_more() ? POLLOUT : 0)), 0};
    waits_[1] = {terminal_->signals(), POLLIN, 0};
    waits_[2] = {status_ ? status_->fd() : -1, POLLIN, 0};
    waits_[3] = {acting_ ? acting_->fd() : -1, POLLIN, 0};
    Clock::time_point until = status_ ? status_->deadline() : next_look_;
    if (acting_) until = std::min(until, acting_->deadline());
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    poll(waits_, 4, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
  }

  void handle_signals() {
    while (const int signo = terminal_->next_signal()) {
      dirty_ = true;
      if (signo == SIGTSTP) {
        terminal_->stop();
      } else if (signo == SIGCONT) {
        terminal_->resume();
      } else if (signo != SIGWINCH) {
        code_ = 128 + signo;
      }
    }
  }

  void handle_keys() {
    if (!terminal_->write_more()) code_ = kHungUp;
    if ((waits_[0].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) == 0) return;
    const std::optional<std::string> typed = terminal_->read();
    if (!typed) {
      code_ = kHungUp;
      return;
    }
    for (const TopKey& key : read_keys(*typed)) {
      act(model_.press(key));
      dirty_ = true;
      if (code_) return;
    }
  }

  void act(const TopAction& action) {
    if (action.kind == TopAction::Kind::None) return;
    if (action.kind == TopAction::Kind::Quit) {
      code_ = 0;
      return;
    }
    if (acting_) {
      model_.tell("please wait: the instances of " + action_.server + " are still being ended");
      return;
    }
    const auto verb = action.kind == TopAction::Kind::Stop ? control::Verb::Stop : control::Verb::Restart;
    action_ = action;
    acting_.emplace(options_.runtime_dir, control::verb_hello(verb, action.server), control::kWorkPatience);
    model_.tell(action.server + ": its instances are being ended");
  }

  void handle_answers() {
    if (acting_) {
      if (const std::optional<DaemonAnswer> answer = acting_->poll()) {
        acting_.reset();
        model_.tell(outcome_of(action_, *answer));
        next_look_ = Clock::now();
        dirty_ = true;
      }
    }
    if (!status_) return;
    const std::optional<DaemonAnswer> answer = status_->poll();
    if (!answer) return;
    status_.reset();
    dirty_ = true;
    if (!answer->ok()) return lost(*answer);
    const Result<JsonAnswer> parsed = read_answer(*answer);
    model_.set_trouble(parsed ? "" : parsed.error().message);
    if (parsed) model_.take(read_overview(parsed->value));
  }

  const TopOptions& options_;
  std::unique_ptr<TopTerminal> terminal_;
  TopModel model_;
  TerminalStyle style_;
  std::optional<DaemonRequest> status_;
  std::optional<DaemonRequest> acting_;
  TopAction action_;
  Clock::time_point next_look_{};
  bool dirty_ = true;
  std::optional<int> code_;
  pollfd waits_[4] = {};
};

/// Prints one measurement as plain text, or as JSON.
void print_look(const TopOptions& options, const json::value& status, TopModel& model) {
  if (options.json) {
    std::cout << json::serialize(json::object{{"instances", list(status, "instances")},
                                              {"sessions", list(status, "sessions")}})
              << '\n';
    return;
  }
  model.take(read_overview(status));
  for (const TopLine& line : list_top(model, terminal_style(STDOUT_FILENO, kWidestTable))) {
    std::cout << line.text.substr(0, line.text.find_last_not_of(' ') + 1) << '\n';
  }
}

/// Nothing if a signal arrived first.
std::optional<DaemonAnswer> wait_for(DaemonRequest& request, Interrupts& interrupts) {
  for (;;) {
    if (std::optional<DaemonAnswer> answer = request.poll()) return answer;
    pollfd waits[2] = {{request.fd(), POLLIN, 0}, {interrupts.fd(), POLLIN, 0}};
    const auto left = std::chrono::ceil<milliseconds>(request.deadline() - Clock::now());
    poll(waits, 2, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (interrupts.signal() != 0) return std::nullopt;
  }
}

int run_batch(const TopOptions& options) {
  Interrupts interrupts;
  TopModel model(options.order);
  for (std::size_t i = 0; i < options.batch; ++i) {
    if (i > 0) {
      pollfd wake{interrupts.fd(), POLLIN, 0};
      poll(&wake, 1, static_cast<int>(options.interval.count()));
      if (interrupts.signal() != 0) return 128 + interrupts.signal();
      if (!options.json) std::cout << '\n';
    }
    DaemonRequest request(options.runtime_dir, status_question(), control::kTellPatience);
    const std::optional<DaemonAnswer> answer = wait_for(request, interrupts);
    if (!answer) return 128 + interrupts.signal();
    if (!answer->ok()) return fail_for("top", *answer);
    const Result<JsonAnswer> parsed = read_answer(*answer);
    if (!parsed) return fail("top", parsed.error().message);
    print_look(options, parsed->value, model);
    if (!std::cout.flush()) return fail_to_write("top");
  }
  return 0;
}

int run(const TopOptions& options) {
  if (options.interval < milliseconds(100) || options.interval > std::chrono::hours(1)) {
    return fail("top", "the interval must be between 100ms and 1h");
  }
  if (options.json && options.batch == 0) {
    return fail("top", "--json requires --batch N; or use `corral ps --json`");
  }
  const DaemonAnswer there = control::look_for_daemon(options.runtime_dir);
  if (!there.ok()) return fail_for("top", there);
  if (options.batch > 0) return run_batch(options);
  const KnownStatus first = status_if_running(options.runtime_dir, kFirstPatience);
  Result<std::unique_ptr<TopTerminal>> terminal = TopTerminal::open();
  if (!terminal) return fail("top", terminal.error().message);
  return TopRun(options, std::move(*terminal), first).run();
}

Result<void> set_order(TopOrder& order, const std::string& word) {
  for (const TopOrder one :
       {TopOrder::Memory, TopOrder::Cpu, TopOrder::Uptime, TopOrder::Sessions, TopOrder::Name}) {
    if (word != name_of(one)) continue;
    order = one;
    return {};
  }
  return Error{"invalid order '" + word + "': use memory, cpu, uptime, sessions or name"};
}

}  // namespace

Command top_command() {
  auto options = std::make_shared<TopOptions>();
  Command command;
  command.name = "top";
  command.summary = "Watch the daemon's processes live; sort, restart and stop by key.";
  command.usage = "corral top [options]";
  command.examples = kExamples;
  command.options = {{"-b,--batch", "N", "Print N times as plain text, then exit",
                      set_count(options->batch, "number of times")},
                     {"--interval", "TIME", "Time between updates (2s)", set_duration(options->interval)},
                     {"--sort", "memory|cpu|uptime|sessions|name", "Initial order (memory)",
                      [options](const std::string& word) { return set_order(options->order, word); }},
                     {"--json", "", "With --batch: one line of JSON per update, as `corral ps --json`",
                      set_flag(options->json)},
                     runtime_dir_option(options->runtime_dir)};
  command.run = [options](const std::vector<std::string>& args) {
    const Result<void> none = expect_no_args(args);
    return none ? run(*options) : fail("top", none.error().message);
  };
  return command;
}

}  // namespace corral::cli
