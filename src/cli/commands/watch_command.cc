// `corral watch`: applies the rules of doctor and reap at regular intervals.
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <csignal>
#include <iostream>
#include <memory>

#include "base/unique_fd.h"
#include "base/units.h"
#include "cli/commands/reap_options.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/server_table.h"
#include "reap/end_trees.h"
#include "reap/watch.h"
#include "survey/survey_json.h"
#include "wire/json_writer.h"

namespace corral::cli {
namespace {

using survey::Server;
using survey::Survey;

constexpr const char* kExamples = R"(Examples:
  corral watch                                    prints each finding once
  corral watch --foreign end --interval 10s       also ends orphans, and copies beyond the newest 9
  corral watch --json >> ~/mcp-findings.jsonl

The rules are those of `corral reap`. An orphan is ended only when it is seen twice, so that a server that is about to exit
can do so. Servers below a running `corral run` are never touched. Ends on SIGINT and SIGTERM.)";

struct WatchOptions {
  reap::Selectors selectors;
  std::optional<std::size_t> keep;  // the value of --keep
  std::chrono::milliseconds interval{60'000};
  bool end = false;
  bool json = false;
};

Result<void> set_foreign(bool& end, const std::string& text) {
  if (text != "report" && text != "end") return Error{"invalid value '" + text + "': use report or end"};
  end = text == "end";
  return {};
}

std::string time_now() {
  const time_t now = time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

class Watching {
 public:
  explicit Watching(const WatchOptions& options)
      : options_(options), watch_(options.selectors, reap::who_asks()) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigprocmask(SIG_BLOCK, &wanted, nullptr);
    signals_ = UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC));
  }

  int run() {
    for (;;) {
      const Result<Survey> survey = survey::look_around();
      if (!survey) return fail("watch", survey.error().message);
      const reap::LeakWatch::Step step = watch_.look(*survey);
      for (const survey::Finding& finding : step.news) tell(*survey, finding);
      if (options_.end) end(*survey, step.selection);
      if (!std::cout.flush()) return fail_to_write("watch");
      pollfd wake{signals_.get(), POLLIN, 0};
      if (poll(&wake, 1, static_cast<int>(options_.interval.count())) > 0) return 0;
    }
  }

 private:
  void tell(const Survey& survey, const survey::Finding& finding) {
    if (options_.json) {
      line("finding", "finding", survey::to_json(survey, finding));
    } else {
      std::cout << time_now() << ' ' << survey::name_of(finding.kind) << ": " << finding.title << " ("
                << sum_of(survey, finding.servers) << ')'
                << (finding.next.empty() || options_.end ? "" : "; next: " + finding.next) << '\n';
    }
  }

  void end(const Survey& survey, const reap::Selection& selection) {
    for (const reap::Group& group : selection.groups) {
      std::vector<const Server*> servers;
      servers.reserve(group.end.size());
      for (const std::size_t index : group.end) servers.push_back(&survey.servers[index]);
      const std::vector<reap::EndedTree> ended = reap::end_trees(servers, {});
      for (std::size_t i = 0; i < ended.size(); ++i) tell_end(*servers[i], ended[i]);
    }
  }

  void tell_end(const Server& server, const reap::EndedTree& tree) {
    boost::json::array processes;
    std::string failures;
    for (const reap::Outcome& outcome : tree.outcomes) {
      processes.push_back({{"pid", outcome.pid}, {"outcome", reap::name_of(outcome.kind)}});
      if (!outcome.gone()) failures += "; " + std::to_string(outcome.pid) + ": " + explain(outcome);
    }
    if (options_.json) {
      line("ended", "end",
           boost::json::serialize(boost::json::object{
               {"pid", server.pid}, {"gone", tree.gone()}, {"processes", std::move(processes)}}));
      return;
    }
    std::cout << time_now() << (tree.gone() ? " ended: " : " not ended: ") << name_of(server) << " (pid "
              << server.pid << ", " << count(tree.outcomes.size(), "process", "processes") << ", "
              << show_age(server.age) << " old, " << client_of(server) << ')' << failures << '\n';
  }

  static void line(const char* event, const char* key, const std::string& json) {
    std::cout << wire::JsonObject().text("time", time_now()).text("event", event).raw(key, json).json()
              << '\n';
  }

  const WatchOptions& options_;
  reap::LeakWatch watch_;
  UniqueFd signals_;
};

int run(const WatchOptions& options) {
  if (options.interval < std::chrono::milliseconds(100) || options.interval > std::chrono::hours(24)) {
    return fail("watch", "the interval must be between 100ms and 24h");
  }
  if (options.end && options.selectors.keep == 0) {
    return fail("watch", "N is 0, which would end all servers in use: set --keep to 1 or more");
  }
  signal(SIGPIPE, SIG_IGN);  // a closed stdout is reported as an error, instead of ending the process
  return Watching(options).run();
}

}  // namespace

Command watch_command() {
  auto options = std::make_shared<WatchOptions>();
  Command command;
  command.name = "watch";
  command.summary = "Look for leaked MCP servers continuously; report or end them.";
  command.usage = "corral watch [options]";
  command.examples = kExamples;
  command.options = {
      {"--interval", "TIME", "Time between checks (1m)", set_duration(options->interval)},
      {"--foreign", "report|end", "What to do with servers that corral did not start (report)",
       [options](const std::string& text) { return set_foreign(options->end, text); }},
      {"--json", "", "Print findings and ended servers as JSON, one object per line",
       set_flag(options->json)},
  };
  const std::vector<Option> selectors = selector_options(options->selectors, options->keep);
  command.options.insert(command.options.end(), selectors.begin(), selectors.end());
  command.run = [options](const std::vector<std::string>& args) {
    const Result<std::size_t> keep = keep_count(options->keep);
    if (!keep) return fail("watch", keep.error().message);
    options->selectors.keep = *keep;
    const Result<void> none = expect_no_args(args);
    return none ? run(*options) : fail("watch", none.error().message);
  };
  return command;
}

}  // namespace corral::cli
