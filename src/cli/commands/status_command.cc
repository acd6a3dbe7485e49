// `corral status`: what the daemon runs, for whom, and why a server is shared or not.
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <chrono>
#include <iostream>
#include <memory>

#include "cli/frame/ask_daemon.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/json_view.h"
#include "cli/screen/page.h"
#include "cli/screen/session_table.h"
#include "control/channel.h"
#include "control/requests.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral status
  corral status --json | jq '.instances[] | {server, share, reason}'

Exit code: 0 if a daemon answers, 1 if none runs, 125 if one cannot be asked. docs/operations/daemon.md describes the JSON.)";

constexpr int kNoDaemon = 1;

struct Options {
  std::string runtime_dir;
  bool json = false;
};

std::string client(const json::value& session) {
  const json::value* const who = member(session, "client");
  if (who == nullptr) return "-";
  std::string shown = text(*who, "name");
  if (text(*who, "version") != "-") shown += " " + text(*who, "version");
  const std::string pid = text(*who, "pid");
  if (pid == "0") return shown + " (by URL)";  // no process is known that it would end with
  return pid == "-" ? shown : shown + " (pid " + pid + ")";
}

std::string state_of(const json::value& instance) {
  return text(instance, "state") + (text(instance, "stale") == "-" ? "" : ", stale");
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
    page.paragraph(
        "  ", name + " is " + text(instance, "reason") +
                  (text(instance, "root") == "-" ? "" : "; project " + shorten_home(text(instance, "root"))));
    if (text(instance, "stale") == "-") continue;
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

void show(const json::value& status) {
  Page page(std::cout, look_of(STDOUT_FILENO));
  static const json::value nobody;
  const json::value* const found = member(status, "daemon");
  const json::value& daemon = found == nullptr ? nobody : *found;
  const std::string configured = text(daemon, "config");
  page.paragraph("", "corral " + text(daemon, "version") + " (build " + text(daemon, "build") + "), pid " +
                         text(daemon, "pid") + ", up " + age(daemon, "uptime_ms") +
                         (configured.size() > 1 ? ", configured by " + shorten_home(configured) : ""));
  if (const json::value* const http = member(status, "http"); http != nullptr && text(*http, "url") != "-") {
    page.paragraph("  ", "by URL: " + text(*http, "url"));
  }
  if (text(daemon, "config_error") != "-") {
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

int run(const Options& options, const std::vector<std::string>& words) {
  const Result<void> nothing_more = expect_no_words(words);
  if (!nothing_more) return fail("status", nothing_more.error().message);
  Result<control::Channel> channel = control::connect_to_daemon(options.runtime_dir);
  if (!channel && channel.error().kind == Error::Kind::NotFound) {
    std::cerr << "corral status: no daemon is running; `corral connect` starts one, or `corral serve`\n";
    return kNoDaemon;
  }
  if (!channel) return fail("status", channel.error().message);
  const Result<std::string> answer = control::ask_status(*channel, kTellPatience);
  if (!answer && channel->timed_out()) return fail("status", hanging_daemon(options.runtime_dir).message);
  if (!answer) return fail("status", answer.error().message);
  boost::system::error_code error;
  const json::value status = json::parse(*answer, error);
  if (error) return fail("status", "the daemon's answer is no JSON: " + error.message());
  if (options.json) {
    std::cout << *answer << '\n';
  } else {
    show(status);
  }
  return 0;
}

}  // namespace

Command status_command() {
  auto options = std::make_shared<Options>();

  Command command;
  command.name = "status";
  command.summary = "Show what the daemon runs, for whom, and why it is shared or not.";
  command.usage = "corral status [options]";
  command.examples = kExamples;
  command.options.push_back({"--json", "", "As JSON, all of it", set_flag(options->json)});
  command.options.push_back(runtime_dir_option(options->runtime_dir));
  command.run = [options](const std::vector<std::string>& words) { return run(*options, words); };
  return command;
}

}  // namespace corral::cli
