// `corral ps`: which processes the daemon keeps, for whom, and what they use.
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <iostream>
#include <memory>

#include "cli/frame/ask_daemon.h"
#include "cli/frame/command.h"
#include "cli/frame/late_options.h"
#include "cli/frame/option_values.h"
#include "cli/screen/json_view.h"
#include "cli/screen/ps_page.h"
#include "control/channel.h"
#include "control/requests.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral ps
  corral ps --tree                  every process, and the sessions and clients that it serves
  corral ps --server files --json | jq '.instances[].usage.memory'

CPU is what was used since somebody looked last; 100% is one core. MEMORY is what is resident and swapped, of its limit
if there is one. CODE says whether the files of the server have changed since it was started. A parked session has no
process until its next call; one of a stopped or broken server is refused. docs/operations/ps-top.md explains every column.
Exit code: 0 if a daemon answers, 1 if none runs, 125 if it cannot be asked.)";

constexpr int kNoDaemon = 1;
constexpr std::size_t kWidestTable = 200;

struct PsOptions {
  std::string runtime_dir;
  std::string server;
  bool tree = false;
  bool json = false;
};

/// The two lists of the status as they are, of one server if one is asked for.
json::object selected(const json::value& status, const std::string& server) {
  json::object result;
  for (const char* const name : {"instances", "sessions"}) {
    json::array chosen;
    for (const json::value& one : list(status, name)) {
      const json::value* const found = member(one, "server");
      const bool wanted =
          server.empty() || (found != nullptr && found->is_string() && found->get_string() == server);
      if (wanted) chosen.push_back(one);
    }
    result[name] = std::move(chosen);
  }
  return result;
}

int run(const PsOptions& options) {
  Result<control::Channel> channel = control::connect_to_daemon(options.runtime_dir);
  if (!channel && channel.error().kind == Error::Kind::NotFound) {
    std::cerr << "corral ps: no daemon runs, so nothing is shared; `corral connect` starts one, and `corral "
                 "doctor` shows the servers that clients started by themselves\n";
    return kNoDaemon;
  }
  if (!channel) return fail("ps", channel.error().message);
  const Result<std::string> answer = control::ask_status(*channel, kTellPatience, control::Measure::Yes);
  if (!answer && channel->timed_out()) return fail("ps", hanging_daemon(options.runtime_dir).message);
  if (!answer) return fail("ps", answer.error().message);
  boost::system::error_code error;
  const json::value status = json::parse(*answer, error);
  if (error) return fail("ps", "the daemon's answer is no JSON: " + error.message());
  if (options.json) {
    std::cout << json::serialize(selected(status, options.server)) << '\n';
  } else {
    const Overview overview = read_overview(status, options.server);
    Page page(std::cout, look_of(STDOUT_FILENO, kWidestTable));
    options.tree ? show_process_trees(page, overview) : show_process_table(page, overview);
  }
  if (!std::cout.flush()) return fail("ps", "the output could not be written: give stdout a reader");
  return 0;
}

}  // namespace

Command ps_command() {
  auto options = std::make_shared<PsOptions>();
  Command command;
  command.name = "ps";
  command.summary = "List the processes that the daemon keeps, for whom, and what they use.";
  command.usage = "corral ps [options]";
  command.examples = kExamples;
  command.options = {
      {"--tree", "", "Every process of each tree, and the sessions below it", set_flag(options->tree)},
      {"--server", "SERVER", "Only this one", set_word(options->server)},
      {"--json", "", "As JSON: the instances and sessions of the status, with usage",
       set_flag(options->json)},
      runtime_dir_option(options->runtime_dir)};
  command.run = [options](const std::vector<std::string>& words) {
    const Result<void> none = expect_no_words(words);
    return none ? run(*options) : fail("ps", none.error().message);
  };
  return command;
}

}  // namespace corral::cli
