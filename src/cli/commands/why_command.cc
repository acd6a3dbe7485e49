// `corral why NAME|PID`: why the processes of a server are shared or not.
#include <unistd.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <iostream>
#include <map>
#include <memory>

#include "base/text.h"
#include "base/words.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/failure_lines.h"
#include "cli/screen/json_view.h"
#include "cli/screen/overview.h"
#include "cli/screen/page.h"
#include "cli/screen/sharing_text.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral why memory
  corral why 4711
  corral why --json memory | jq -r '.instances[] | .separate'

Says for each process of a server why it is shared or private, for which clients, which other process it is separate from and
what differs (names, never values), and what to write to share it; and how it failed within the last 10 minutes. PID is the server's pid, its keeper's, or that of any
process below. docs/sharing.md has the rules.
Exit code: 0 if the server or process is known, 125 if it is not or the daemon does not answer, 1 if none is running.)";

struct WhyOptions {
  DaemonOptions daemon;
};

/// 0 if the word is not a number, and so a name.
pid_t pid_in(const std::string& word) {
  pid_t pid = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
  return error == std::errc{} && rest == word.data() + word.size() ? pid : 0;
}

bool has_process(const observe::InstanceView& one, pid_t pid) {
  if (one.pid == pid || one.keeper == pid) return true;
  if (!one.usage) return false;
  return std::any_of(one.usage->processes.begin(), one.usage->processes.end(),
                     [pid](const observe::ProcessView& process) { return process.pid == pid; });
}

/// What was asked for; a server may be called by a number.
struct Asked {
  std::string word;
  pid_t pid = 0;  // 0 = `word` is a name

  bool means(const observe::InstanceView& one) const {
    return pid == 0 ? one.server == word : has_process(one, pid);
  }
};

Asked understand(const std::string& word, const Overview& overview) {
  return {word, contains(overview.names, word) ? 0 : pid_in(word)};
}

/// "memory, process 4711: ready, up 4m 10s".
std::string heading_of(const InstanceRow& one) {
  const std::string process = one.pid == 0 ? "not started yet" : "process " + std::to_string(one.pid);
  return shown(one.server) + ", " + process + ": " + shown_state(one) + ", up " + shown_age(one.uptime);
}

void explain(Page& page, const InstanceRow& one) {
  page.heading(heading_of(one), tone_of_state(one.state));
  for (const std::string& line : sharing_lines(one)) page.paragraph("  ", line);
  page.paragraph("  for ", one.served.empty() ? "no session now" : shown_each_client(one.served));
}

/// The sessions in one state together: what is said of them is the same.
void explain_waiting(Page& page, const Overview& overview, const Asked& asked) {
  std::map<std::string, std::vector<observe::SessionView>> waiting;
  for (const observe::SessionView& session : overview.waiting) {
    if (asked.pid == 0 && session.server == asked.word) waiting[session.state].push_back(session);
  }
  for (const auto& [state, sessions] : waiting) {
    const std::string which = sessions.size() == 1 ? "session " + shown_session(sessions.front())
                                                   : counted(sessions.size(), "session");
    page.paragraph("", shown(asked.word) + ", " + which + " of " + shown_each_client(sessions) + ": " +
                           shown(state) + "; " + waiting_reason(overview, asked.word, state));
  }
}

std::string nothing_to_explain(const Overview& overview, const Asked& asked) {
  if (asked.pid != 0) {
    return "process " + asked.word +
           " belongs to no server of the daemon: `corral ps` lists those that do, " + "`corral who " +
           asked.word + "` explains any process";
  }
  return unknown_server(printable(asked.word), overview.names);
}

json::object selected(const json::value& status, const Overview& overview, const Asked& asked) {
  json::object result;
  json::array& chosen = result["instances"].emplace_array();
  const json::array& all = list(status, "instances");
  // The overview of all servers has the instances in the same order.
  for (std::size_t i = 0; i < std::min(all.size(), overview.instances.size()); ++i) {
    if (asked.means(overview.instances[i])) chosen.push_back(all[i]);
  }
  json::array& failed = result["failures"].emplace_array();
  for (const json::value& failure : list(status, "failures")) {
    if (asked.pid == 0 && text(failure, "server") == asked.word) failed.push_back(failure);
  }
  return result;
}

void show(const Overview& overview, const Asked& asked) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  bool any = false;
  for (const InstanceRow& one : overview.instances) {
    if (!asked.means(one)) continue;
    if (std::exchange(any, true)) page.blank();
    explain(page, one);
  }
  explain_waiting(page, overview, asked);
  const bool waits = std::any_of(overview.waiting.begin(), overview.waiting.end(),
                                 [&](const auto& session) { return session.server == asked.word; });
  const bool failed =
      asked.pid == 0 && std::any_of(overview.failures.begin(), overview.failures.end(),
                                    [&](const auto& one) { return one.server == asked.word; });
  if (!any && !waits) {
    page.paragraph(
        "",
        asked.word + " has no process and no session now" +
            (failed ? "" : "; the next call of a client starts it, and then there is something to explain"));
  }
  if (const auto place = overview.places.find(asked.word); place != overview.places.end()) {
    page.paragraph("", asked.word + " is configured in " + shorten_home(place->second));
  }
  for (const observe::FailureView& failure : overview.failures) {
    if (asked.pid == 0 && failure.server == asked.word) show_failure(page, failure);
  }
}

int run(const DaemonOptions& options) {
  const AnswerOrExit answer =
      ask_daemon("why", options.runtime_dir, control::status_hello(control::Measure::Yes));
  if (!answer.answer) return answer.exit_code;
  const json::value& status = answer.answer->value;
  const Overview overview = read_overview(status);
  const Asked asked = understand(options.server, overview);
  const bool known = asked.pid == 0
                         ? contains(overview.names, asked.word)
                         : std::any_of(overview.instances.begin(), overview.instances.end(),
                                       [&asked](const InstanceRow& one) { return asked.means(one); });
  if (!known) return fail("why", nothing_to_explain(overview, asked));
  if (options.json) {
    std::cout << json::serialize(selected(status, overview, asked)) << '\n';
  } else {
    show(overview, asked);
  }
  return 0;
}

}  // namespace

Command why_command() {
  auto options = std::make_shared<DaemonOptions>();
  Command command;
  command.name = "why";
  command.summary = "Explain why the processes of a server are shared or not.";
  command.usage = "corral why [options] NAME|PID";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Server;
  command.options = {
      {"--json", "", "Print JSON: those instances and failures of the status", set_flag(options->json)},
      runtime_dir_option(options->runtime_dir)};
  command.options_anywhere = true;
  command.run = [options, late = command.options](std::vector<std::string> args) {
    const Result<std::vector<std::string>> rest = apply_late_options(late, args);
    if (!rest) return fail("why", rest.error().message);
    if (rest->size() != 1 || rest->front().empty()) {
      return fail("why", "give one server or pid, as in `corral why memory`");
    }
    options->server = rest->front();
    return run(*options);
  };
  return command;
}

}  // namespace corral::cli
