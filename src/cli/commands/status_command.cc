// `corral status`: shows the instances and sessions of the daemon, and why a server is shared or not.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <iostream>
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/answer_tables.h"
#include "cli/screen/overview.h"
#include "cli/screen/page.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral status
  corral status --json | jq '.instances[] | {server, share, reason}'

Exit code: 0 if a daemon answers, 1 if none is running, 125 if it does not answer. docs/operations/daemon.md describes the JSON.)";

void show_daemon(Page& page, const observe::Snapshot& status) {
  const observe::DaemonView& daemon = status.daemon;
  page.paragraph("", "corral " + shown(daemon.version) + " (build " + shown(daemon.build) + "), pid " +
                         shown_pid(daemon.pid) + ", up " + shown_age(daemon.uptime) +
                         (daemon.config.empty() ? "" : ", configured by " + shorten_home(daemon.config)));
  if (!status.http.url.empty()) page.paragraph("  ", "by URL: " + status.http.url);
  if (!daemon.config_error.empty()) {
    page.paragraph("  ", "The file has changed but cannot be used; the previous configuration is in force: " +
                             daemon.config_error);
  }
  for (const observe::ServerView& server : status.servers) {
    if (server.stopped) page.paragraph("  ", shown_halt(server));
  }
}

void show_instances(Page& page, const std::vector<observe::InstanceView>& instances) {
  std::vector<std::vector<std::string>> rows;
  for (const observe::InstanceView& one : instances) {
    rows.push_back({shown(one.server), shown_id(one.id), shown_pid(one.pid),
                    shown(one.state) + (one.stale.empty() ? "" : ", stale"), shown(one.level),
                    shown_age(one.uptime), shown_number(one.calls), std::to_string(one.sessions.size())});
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
  for (const observe::InstanceView& one : instances) {
    const std::string name = shown(one.server) + " " + shown_id(one.id);
    page.paragraph("  ", name + " is " + shown(one.reason) +
                             (one.root.empty() ? "" : "; project " + shorten_home(one.root)));
    if (one.stale.empty()) continue;
    page.paragraph("  ", name + " runs old code: " + shorten_home(one.stale) +
                             (one.rolls ? "; new sessions get the new code"
                                        : "; `corral restart " + one.server + "` runs the new code"));
  }
}

void show_sessions(Page& page, const std::vector<observe::SessionView>& sessions) {
  std::vector<std::vector<std::string>> rows;
  for (const observe::SessionView& session : sessions) {
    rows.push_back({shown_session(session), shown(session.server), shown_id(session.instance),
                    shown(session.state), shown_age(session.age), shown_number(session.calls),
                    shown_client(session)});
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

void show(const json::value& answer, const DaemonOptions&) {
  const observe::Snapshot status = observe::read_status(answer);
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  show_daemon(page, status);
  page.blank();
  page.heading("Instances: " + std::to_string(status.instances.size()));
  if (!status.instances.empty()) show_instances(page, status.instances);
  page.blank();
  page.heading("Sessions: " + std::to_string(status.sessions.size()));
  if (!status.sessions.empty()) show_sessions(page, status.sessions);
  if (status.objects.empty()) return;
  page.blank();
  page.heading("Session objects: " + std::to_string(status.objects.size()));
  show_session_objects(page, status.objects);
}

}  // namespace

Command status_command() {
  return daemon_command(
      {.name = "status",
       .summary = "Show the daemon's instances and sessions, and why they are shared or not.",
       .examples = kExamples,
       .json_help = "Print JSON with all details",
       .hello = control::status_hello(),
       .show = show});
}

}  // namespace corral::cli
