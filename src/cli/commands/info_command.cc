// `corral info`: how the daemon is, in one look: what `get_server_info` says, for people.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <iostream>
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/json_view.h"
#include "cli/screen/page.h"
#include "survey/server_command.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral info
  corral info --json | jq -e '.health == "healthy"'

Health is degraded when one server has more processes than `corral.keep` allows or crashes again and again, when a
process could not be ended, or when the registry cannot be written; the reasons are listed.
Exit code: 0 if a daemon answers, however it is; 1 if none runs; 125 if it cannot be asked.)";

/// What clients and servers say of themselves may hold more than `text` looks for.
std::string safe(const json::value& value, std::string_view name) {
  return survey::printable(text(value, name));
}

std::string clients_of(const json::value& process) {
  const json::value* const clients = member(process, "client");
  return clients != nullptr && clients->is_array() ? survey::printable(joined(process, "client"))
                                                   : safe(process, "client");
}

void show_health(Page& page, const json::value& info) {
  page.heading("health: " + safe(info, "health"));
  for (const json::value& reason : list(info, "health_reasons")) {
    if (reason.is_string()) page.paragraph("  - ", survey::printable(std::string(reason.get_string())));
  }
}

void show_files(Page& page, const json::value& info) {
  if (const json::value* const file = member(info, "pid_file")) {
    std::string text = shorten_home(safe(*file, "path"));
    if (!flag(*file, "exists")) {
      text += ", which is not there";
    } else {
      text += ": pid " + safe(*file, "pid") + ", version " + safe(*file, "version") + ", since " +
              safe(*file, "started") + (flag(*file, "matches") ? "" : "; it is not this daemon's");
    }
    page.paragraph("pid file: ", text);
  }
}

/// The fields of the tool are fixed and have no room for it, so the status is asked, too.
void show_registry(Page& page, const std::string& runtime_dir) {
  const json::value status = status_or_null(runtime_dir, control::kTellPatience);
  const json::value* const daemon = member(status, "daemon");
  if (daemon == nullptr || member(*daemon, "registry") == nullptr) return;
  page.paragraph("registry: ", shorten_home(safe(*daemon, "registry")) +
                                   (!has(*daemon, "degraded") ? "" : ": " + safe(*daemon, "degraded")));
}

void show_table(Page& page, const json::value& info) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& process : list(info, "server_processes")) {
    const bool current = flag(process, "is_current");
    rows.push_back({safe(process, "pid"), current ? "the daemon" : safe(process, "server"),
                    safe(process, "version"), safe(process, "uptime_formatted"), safe(process, "status"),
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
  page.paragraph("", "corral " + safe(info, "server_version") + " (build " + safe(info, "build_date") +
                         "), pid " + safe(info, "current_pid") + ", up " +
                         safe(info, "current_uptime_formatted"));
  show_health(page, info);
  show_files(page, info);
  show_registry(page, options.runtime_dir);
  page.blank();
  page.heading("Processes: " + safe(info, "total_server_processes"));
  if (!list(info, "server_processes").empty()) show_table(page, info);
}

}  // namespace

Command info_command() {
  return daemon_command({.name = "info",
                         .summary = "Say how the daemon is: version, health with reasons, processes.",
                         .examples = kExamples,
                         .json_help = "As JSON: what the tool get_server_info answers",
                         .hello = control::verb_hello(control::Verb::Info),
                         .show = show});
}

}  // namespace corral::cli
