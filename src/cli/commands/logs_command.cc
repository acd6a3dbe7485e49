// `corral logs NAME`: prints what a server wrote to stderr.
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "base/text.h"
#include "base/utc_time.h"
#include "base/words.h"
#include "cli/commands/kept_history.h"
#include "cli/commands/kept_log.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/interrupts.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/page.h"
#include "control/runtime_dir.h"
#include "instance/error_lines.h"
#include "wire/json_writer.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral logs files
  corral logs files -f
  corral logs files --since 5m -n 100
  corral logs files --json | jq -r .text

Prints how the server failed last, if it did, and then what all its instances wrote to stderr: time, instance and text. The
daemon keeps this (3 files of 5 MiB for each server), so it does not have to be running. With -f: the last 10 lines, then
each new line, until Ctrl+C.
Exit code: 0; 1 if there is no log of such a server; 125 for any other failure.)";

constexpr std::size_t kShownBeforeFollowing = 10;
constexpr int kLookAgainMs = 1000;  // without inotify

struct Options {
  std::string runtime_dir;
  std::int64_t since_ms = 0;
  std::optional<std::size_t> most;
  bool follow = false;
  bool json = false;
};

/// The directory with the logs, and the servers that have one.
struct KnownLogs {
  std::string folder;
  std::vector<std::string> names;
  KnownStatus status;
};

std::string usual_folder(const std::string& runtime_dir) {
  const std::string state = usual_state_directory(runtime_dir);
  return state.empty() ? state : state + "/logs";
}

void add_name(KnownLogs& logs, const std::string& name) {
  if (std::find(logs.names.begin(), logs.names.end(), name) == logs.names.end()) {
    logs.names.push_back(name);
  }
}

/// What the daemon says.
void add_known(KnownLogs& logs, const observe::Snapshot& status) {
  for (const observe::ServerView& server : status.servers) {
    add_name(logs, server.name);
    const std::string& file = server.log_file;
    if (file.starts_with('/')) logs.folder = file.substr(0, file.rfind('/'));
  }
  for (const observe::InstanceView& instance : status.instances) add_name(logs, instance.server);
  for (const observe::FailureView& failure : status.failures) add_name(logs, failure.server);
}

KnownLogs find_logs(const std::string& runtime_dir) {
  KnownLogs logs;
  // The files can be read without a daemon.
  logs.status = status_if_running(runtime_dir, control::kTellPatience);
  if (logs.status) add_known(logs, *logs.status);
  if (logs.folder.empty()) logs.folder = usual_folder(runtime_dir);
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(logs.folder, missing)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".log")) add_name(logs, printable(name.substr(0, name.size() - 4)));
  }
  std::sort(logs.names.begin(), logs.names.end());
  return logs;
}

std::string no_such_server(const std::string& name, const KnownLogs& logs) {
  std::string sentence = "there is no log of a server '" + printable(name) + "'";
  const std::string near = any_of(meant_words(name, logs.names));
  if (!near.empty()) sentence += "; did you mean " + near + "?";
  if (logs.names.empty()) return sentence + ": " + logs.folder + " has no logs";
  std::string listed;
  for (const std::string& known : logs.names) listed += (listed.empty() ? "" : ", ") + known;
  return sentence + (near.empty() ? "; known servers: " : " Known servers: ") + listed;
}

class LogPrinter {
 public:
  LogPrinter(std::string server, const Options& options)
      : server_(std::move(server)), options_(options), style_(terminal_style(STDOUT_FILENO)) {
    if (options.most) keep_ = *options.most;
    if (options.follow && !options.most && options.since_ms == 0) keep_ = kShownBeforeFollowing;
  }

  void take(std::string_view line) {
    std::optional<KeptLine> parsed = parse_kept_line(line);
    // Not one of the daemon's lines. Show it rather than lose it.
    if (!parsed) parsed = KeptLine{0, "", printable(std::string(line))};
    if (parsed->time_ms < options_.since_ms) return;
    if (!keep_) return print(*parsed);
    last_.push_back(std::move(*parsed));
    if (last_.size() > *keep_) last_.pop_front();
  }

  /// The last failure comes before all lines, because it is usually what is looked for.
  void begin_with(const LastFailure& failure) {
    if (failure.time_ms < options_.since_ms) return;
    if (!options_.json) {
      // What the server wrote last is among the lines that follow.
      std::cout << toned("last failure: " + failure_line(failure), Tone::Bad, style_) << '\n';
      return;
    }
    std::cout << wire::JsonObject()
                     .text("time", show_utc(failure.time_ms))
                     .text("server", server_)
                     .raw("instance", "null")
                     .text("failure", failure.kind)
                     .text("text", failure.text)
                     .raw("stderr", wire::array_of_texts(failure.error_lines))
                     .json()
              << '\n';
  }

  /// Prints each line at once from now on.
  void caught_up() {
    for (const KeptLine& line : last_) print(line);
    last_.clear();
    keep_.reset();
  }

 private:
  void print(const KeptLine& line) {
    if (options_.json) {
      std::cout << wire::JsonObject()
                       .text_or_null("time", line.time_ms == 0 ? "" : show_utc(line.time_ms))
                       .text("server", server_)
                       .text_or_null("instance", line.instance)
                       .text("text", line.text)
                       .json()
                << '\n';
      return;
    }
    if (line.instance.empty()) {
      std::cout << line.text << '\n';
    } else if (style_.bold) {
      std::cout << "\x1b[2m" << show_utc(line.time_ms) << ' ' << line.instance << "\x1b[0m " << line.text
                << '\n';
    } else {
      std::cout << show_utc(line.time_ms) << ' ' << line.instance << ' ' << line.text << '\n';
    }
  }

  const std::string server_;
  const Options& options_;
  const TerminalStyle style_;
  std::optional<std::size_t> keep_;
  std::deque<KeptLine> last_;
};

/// Returns on Ctrl+C, or when the reader of stdout has gone. Without inotify the files are polled.
int follow(KeptLog& log, const KeptLog::Sink& sink, const std::string& folder) {
  Interrupts interrupts;
  const UniqueFd changes(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  int watched = -1;
  for (;;) {
    if (watched < 0 && changes.valid()) {
      watched = inotify_add_watch(changes.get(), folder.c_str(), IN_MODIFY | IN_CREATE | IN_MOVED_TO);
    }
    log.read(sink);
    if (!std::cout.flush()) return 0;
    pollfd ready[3] = {{interrupts.fd(), POLLIN, 0}, {changes.get(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}};
    poll(ready, 3, kLookAgainMs);
    if (ready[0].revents != 0 || (ready[2].revents & POLLERR) != 0) return 0;
    std::array<char, 4096> news;
    while (changes.valid() && read(changes.get(), news.data(), news.size()) > 0) continue;
  }
}

int show_log(const std::string& name, const Options& options) {
  const KnownLogs logs = find_logs(options.runtime_dir);
  if (logs.folder.empty()) {
    return fail("logs", "no log directory: set HOME or XDG_STATE_HOME");
  }
  KeptLog log(logs.folder + "/" + instance::log_file_name(name));
  const bool known = std::find(logs.names.begin(), logs.names.end(), name) != logs.names.end();
  const std::optional<LastFailure> failure = last_failure_of(name, options.runtime_dir, logs.status);
  if (!log.exists() && !known && !failure) {
    std::cerr << "corral logs: " << no_such_server(name, logs) << '\n';
    return 1;
  }
  LogPrinter printer(name, options);
  if (failure) printer.begin_with(*failure);
  if (!log.exists()) std::cerr << "corral logs: " << name << " has written nothing to stderr yet\n";
  const KeptLog::Sink sink = [&printer](std::string_view line) { printer.take(line); };
  log.read(sink);
  printer.caught_up();
  return options.follow ? follow(log, sink, logs.folder) : 0;
}

int run(const Options& options, const std::vector<Option>& late, const std::vector<std::string>& args) {
  const Result<std::vector<std::string>> rest = apply_late_options(late, args);
  if (!rest) return fail("logs", rest.error().message);
  if (rest->size() != 1 || rest->front().empty()) {
    return fail("logs", "give the name of one server; `corral list` lists them");
  }
  return show_log(rest->front(), options);
}

}  // namespace

Command logs_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "logs";
  command.summary = "Show what a server wrote to stderr.";
  command.usage = "corral logs [options] NAME";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Server;
  command.options = {
      {"-f,--follow", "", "Keep printing new lines as they are written", set_flag(options->follow)},
      {"--since", "TIME", "Only lines since this time: 5m, 2d or 2026-11-16T03:40:00Z",
       set_since(options->since_ms)},
      {"-n,--lines", "N", "Only the last N lines (10 with -f)", set_count(options->most, "number of lines")},
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
