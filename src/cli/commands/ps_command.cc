// `corral ps`: lists the daemon's processes, their sessions, and the resources that they use.
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/commands/kept_history.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/answer_tables.h"
#include "cli/screen/json_view.h"
#include "cli/screen/ps_page.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral ps
  corral ps -v                      each process: why it is shared or private
  corral ps --tree                  every process, with its sessions and clients
  corral ps --server files --json | jq '.instances[].usage.memory'
  corral ps --last                  what ran last and how it ended, also without a daemon

One line for each server: several processes are counted in PID and summed up. CPU is the usage since the last measurement;
100% is one core. MEMORY is PSS and swap, so a page that several processes share counts once, and its limit if there is one.
A wide terminal has more columns: CODE shows whether the server's files have changed since it was started. A parked session
has no process until its next call; calls to a stopped or broken server are refused. docs/operations/ps-top.md explains
every column.
Exit code: 0 if a daemon answers, 1 if none is running, 125 if it does not answer. With --last: 0; 1 if no daemon has kept
anything; 125 if what was kept cannot be read.)";

constexpr std::size_t kWidestTable = 200;

struct PsOptions {
  std::string server;
  bool tree = false;
  bool last = false;
  bool verbose = false;
};

/// The two lists of the status, unchanged; only those of one server if --server names one.
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

void show(const json::value& status, const PsOptions& options) {
  const Overview overview = read_overview(status, options.server);
  Page page(std::cout, terminal_style(STDOUT_FILENO, kWidestTable));
  if (options.verbose) {
    show_daemon(page, overview);
    page.blank();
  }
  if (options.tree) {
    show_process_trees(page, overview);
  } else {
    show_process_table(page, overview, {options.verbose, isatty(STDOUT_FILENO) == 1});
  }
  if (!options.verbose || overview.objects.empty()) return;
  page.blank();
  page.heading("Session objects: " + std::to_string(overview.objects.size()));
  show_session_objects(page, overview.objects);
}

}  // namespace

Command ps_command() {
  auto options = std::make_shared<PsOptions>();
  return daemon_command(
      {.name = "ps",
       .summary = "List the servers that run, their sessions, and what they use.",
       .examples = kExamples,
       .json_help = "Print JSON: the instances and sessions of the status, with usage",
       .options = {{"-v,--verbose", "",
                    "Also show the daemon, and of each process why it is shared or private, what would share "
                    "it, and "
                    "for which clients",
                    set_flag(options->verbose)},
                   {"--tree", "", "Show every process of each tree, and its sessions",
                    set_flag(options->tree)},
                   {"--server", "SERVER", "Only this server", set_word(options->server)},
                   {"--last", "", "Show what ran last and how each server ended or failed",
                    set_flag(options->last)}},
       .hello = control::status_hello(control::Measure::Yes),
       .instead = [options](const DaemonOptions& given) -> std::optional<int> {
         if (!options->last) return std::nullopt;
         return show_last({given.runtime_dir, options->server, given.json});
       },
       .show = [options](const json::value& status, const DaemonOptions&) { show(status, *options); },
       .as_json =
           [options](const json::value& status) {
             return json::serialize(selected(status, options->server));
           }});
}

}  // namespace corral::cli
