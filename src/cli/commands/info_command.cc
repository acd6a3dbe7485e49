// `corral info`: version, health and processes of the daemon; the same data as the tool `get_server_info`.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/json_view.h"
#include "cli/screen/overview.h"
#include "cli/screen/page.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral info
  corral info --json | jq -e '.health == "healthy"'

Health is degraded when a server has more processes than `corral.keep` allows, when it crashes repeatedly, when a process
could not be ended, or when the registry cannot be written. The reasons are listed.
Exit code: 0 if a daemon answers, whatever its health; 1 if none is running; 125 if it does not answer.)";

std::string clients_of(const json::value& process) {
  const json::value* const clients = member(process, "client");
  return clients != nullptr && clients->is_array() ? joined(process, "client") : text(process, "client");
}

void show_health(Page& page, const json::value& info) {
  page.heading("health: " + text(info, "health"));
  for (const json::value& reason : list(info, "health_reasons")) {
    if (reason.is_string()) page.paragraph("  - ", printable(std::string(reason.get_string())));
  }
}

void show_files(Page& page, const json::value& info) {
  if (const json::value* const file = member(info, "pid_file")) {
    std::string line = shorten_home(text(*file, "path"));
    if (!flag(*file, "exists")) {
      line += ", which is missing";
    } else {
      line += ": pid " + text(*file, "pid") + ", version " + text(*file, "version") + ", since " +
              text(*file, "started") + (flag(*file, "matches") ? "" : "; it belongs to another daemon");
    }
    page.paragraph("pid file: ", line);
  }
}

/// The fields of get_server_info are fixed and have no place for it, so it comes from the status.
void show_registry(Page& page, const observe::DaemonView& daemon) {
  if (daemon.pid == 0 && daemon.registry.empty()) return;  // an answer that says nothing of the daemon
  page.paragraph("registry: ", shorten_home(shown(daemon.registry)) +
                                   (daemon.degraded.empty() ? "" : ": " + daemon.degraded));
}

/// Those since the daemon started; an older daemon does not count them.
void show_failures(Page& page, const observe::TotalsView& totals) {
  if (totals.failed_starts + totals.refusals + totals.crashes == 0) return;
  page.paragraph("failures: ", counted(totals.failed_starts, "failed start") + ", " +
                                   counted(totals.refusals, "refusal") + ", " +
                                   counted(totals.crashes, "crash", "crashes") +
                                   " since it started; `corral events` has them");
}

void show_table(Page& page, const json::value& info) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& process : list(info, "server_processes")) {
    const bool current = flag(process, "is_current");
    rows.push_back({text(process, "pid"), current ? "the daemon" : text(process, "server"),
                    text(process, "version"), text(process, "uptime_formatted"), text(process, "status"),
                    std::to_string(list(process, "sessions").size()), clients_of(process)});
  }
  page.table("  ",
             {{"PID", true},
              {"SERVER"},
              {"VERSION"},
              {"UP", true},
              {"STATUS"},
              {"SESSIONS", true},
              {"CLIENT", false, true}},
             rows);
}

void show(const json::value& info, const DaemonOptions& options) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  page.paragraph("", "corral " + text(info, "server_version") + " (build " + text(info, "build_date") +
                         "), pid " + text(info, "current_pid") + ", up " +
                         text(info, "current_uptime_formatted"));
  show_health(page, info);
  show_files(page, info);
  const auto status = status_if_running(options.runtime_dir, control::kTellPatience);
  if (status) show_registry(page, status->daemon);
  if (status) show_failures(page, status->counters);
  page.blank();
  page.heading("Processes: " + text(info, "total_server_processes"));
  if (!list(info, "server_processes").empty()) show_table(page, info);
  if (!status) return;
  const Overview overview = overview_of(*status);
  for (const std::string& server : overview.names) show_about(page, server + ": ", overview, server);
}

}  // namespace

Command info_command() {
  return daemon_command({.name = "info",
                         .summary = "Show the daemon's version, its health with reasons, and its processes.",
                         .examples = kExamples,
                         .json_help = "Print JSON, the same as the tool get_server_info",
                         .hello = control::verb_hello(control::Verb::Info),
                         .show = show});
}

}  // namespace corral::cli
