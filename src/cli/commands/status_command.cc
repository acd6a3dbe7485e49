// `corral status`: what the daemon runs, for whom, and why a server is shared or not.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <iostream>
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/answer_tables.h"
#include "cli/screen/json_view.h"
#include "cli/screen/page.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral status
  corral status --json | jq '.instances[] | {server, share, reason}'

Exit code: 0 if a daemon answers, 1 if none runs, 125 if one cannot be asked. docs/operations/daemon.md describes the JSON.)";

std::string client(const json::value& session) {
  const json::value* const who = member(session, "client");
  if (who == nullptr) return "-";
  std::string shown = text(*who, "name");
  if (has(*who, "version")) shown += " " + text(*who, "version");
  const std::string pid = text(*who, "pid");
  if (pid == "0") return shown + " (by URL)";  // no process is known that it would end with
  return has(*who, "pid") ? shown + " (pid " + pid + ")" : shown;
}

std::string state_of(const json::value& instance) {
  return text(instance, "state") + (!has(instance, "stale") ? "" : ", stale");
}

void show_instances(Page& page, const json::array& instances) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& instance : instances) {
    rows.push_back({text(instance, "server"), text(instance, "id").substr(0, 8), text(instance, "pid"),
                    state_of(instance), text(instance, "level"), age(instance, "uptime_ms"),
                    text(instance, "calls"), std::to_string(list(instance, "sessions").size())});
  }
  page.table("  ",
             {{"SERVER"},
              {"INSTANCE"},
              {"PID", true},
              {"STATE"},
              {"LEVEL"},
              {"UP", true},
              {"CALLS", true},
              {"SESSIONS", true}},
             rows);
  for (const json::value& instance : instances) {
    const std::string name = text(instance, "server") + " " + text(instance, "id").substr(0, 8);
    page.paragraph("  ",
                   name + " is " + text(instance, "reason") +
                       (!has(instance, "root") ? "" : "; project " + shorten_home(text(instance, "root"))));
    if (!has(instance, "stale")) continue;
    page.paragraph("  ", name + " runs old code: " + shorten_home(text(instance, "stale")) +
                             (flag(instance, "rolls")
                                  ? "; new sessions get the new code"
                                  : "; `corral restart " + text(instance, "server") + "` runs the new code"));
  }
}

void show_sessions(Page& page, const json::array& sessions) {
  std::vector<std::vector<std::string>> rows;
  for (const json::value& session : sessions) {
    rows.push_back({text(session, "id"), text(session, "server"), text(session, "instance").substr(0, 8),
                    text(session, "state"), age(session, "age_ms"), text(session, "calls"), client(session)});
  }
  page.table("  ",
             {{"SESSION"},
              {"SERVER"},
              {"INSTANCE"},
              {"STATE"},
              {"AGE", true},
              {"CALLS", true},
              {"CLIENT", false, true}},
             rows);
}

void show(const json::value& status, const DaemonOptions&) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  static const json::value nobody;
  const json::value* const found = member(status, "daemon");
  const json::value& daemon = found == nullptr ? nobody : *found;
  page.paragraph(
      "", "corral " + text(daemon, "version") + " (build " + text(daemon, "build") + "), pid " +
              text(daemon, "pid") + ", up " + age(daemon, "uptime_ms") +
              (has(daemon, "config") ? ", configured by " + shorten_home(text(daemon, "config")) : ""));
  if (const json::value* const http = member(status, "http"); http != nullptr && has(*http, "url")) {
    page.paragraph("  ", "by URL: " + text(*http, "url"));
  }
  if (has(daemon, "config_error")) {
    page.paragraph("  ", "The file has changed, but cannot be used; what was read before is in force: " +
                             text(daemon, "config_error"));
  }
  for (const json::value& server : list(status, "servers")) {
    if (!flag(server, "stopped")) continue;
    page.paragraph("  ", text(server, "name") + " is stopped; `corral start " + text(server, "name") +
                             "` allows it to run");
  }
  page.blank();
  const json::array& instances = list(status, "instances");
  page.heading("Instances: " + std::to_string(instances.size()));
  if (!instances.empty()) show_instances(page, instances);
  page.blank();
  const json::array& sessions = list(status, "sessions");
  page.heading("Sessions: " + std::to_string(sessions.size()));
  if (!sessions.empty()) show_sessions(page, sessions);
  const json::array& objects = list(status, "objects");
  if (objects.empty()) return;
  page.blank();
  page.heading("Session objects: " + std::to_string(objects.size()));
  show_session_objects(page, objects);
}

}  // namespace

Command status_command() {
  return daemon_command({.name = "status",
                         .summary = "Show what the daemon runs, for whom, and why it is shared or not.",
                         .examples = kExamples,
                         .json_help = "As JSON, all of it",
                         .hello = control::status_hello(),
                         .show = show});
}

}  // namespace corral::cli
