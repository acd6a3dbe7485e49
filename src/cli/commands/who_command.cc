// `corral who PID`: explains one process: its server, its client, and the evidence.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "base/secrets.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/reap_options.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/page.h"
#include "cli/screen/server_table.h"
#include "survey/findings.h"
#include "survey/survey_json.h"

namespace corral::cli {
namespace {

using survey::Process;
using survey::Server;
using survey::Snapshot;
using survey::Survey;

constexpr const char* kExamples = R"(Examples:
  corral who 4711
  corral who --json 4711

Shows what the process is, which client it serves, and the evidence. For a process that is not an MCP server: its ancestors,
and the processes at the other end of its pipes. This command changes nothing.)";

struct Story {
  const Snapshot& snapshot;
  const Survey& survey;
  std::size_t keep;
};

const Server* server_with(const Survey& survey, pid_t pid) {
  for (const Server& server : survey.servers) {
    if (std::find(server.tree.begin(), server.tree.end(), pid) != server.tree.end()) return &server;
  }
  return nullptr;
}

std::string naming(const Snapshot& snapshot, pid_t pid) {
  const Process* process = snapshot.processes.find(pid);
  return process == nullptr ? std::to_string(pid) : std::to_string(pid) + " " + printable(process->comm);
}

void show_tree(Page& page, const Snapshot& snapshot, const Server& server) {
  for (const pid_t pid : server.tree) {
    const Process* process = snapshot.processes.find(pid);
    std::size_t depth = 0;
    for (const pid_t above : snapshot.processes.ancestors(pid)) {
      if (pid == server.pid) break;
      ++depth;
      if (above == server.pid) break;
    }
    const std::string label = pid == server.tree.front() ? "  tree    " : "          ";
    const std::string line =
        label + std::string(2 * depth, ' ') + std::to_string(pid) + " " + show_command(process->argv);
    page.command("", fit(line, page.style().width, page.style()));
  }
}

void show_server(Page& page, const Story& story, const Server& server) {
  const bool possible = server.certainty == Server::Certainty::Possible;
  page.paragraph("  what    ", (possible ? "possibly the MCP server " : "the MCP server ") + name_of(server) +
                                   ", " + survey::name_of(server.state) + ", " + show_age(server.age) +
                                   " old");
  page.paragraph("  client  ", client_of(server));
  if (server.client.alive()) {
    page.paragraph("          ", fit(server.client.command, page.style().width * 2, page.style()) + ", " +
                                     show_age(server.client.age) + " old, in " +
                                     printable(shorten_home(server.client.root)));
  }
  page.paragraph("  root    ", server.root.empty() ? "unknown" : printable(shorten_home(server.root)));
  page.paragraph("  memory  ", show_size(server.memory.footprint()) + " (resident " +
                                   show_size(server.memory.resident) + ", swapped " +
                                   show_size(server.memory.swapped) + ")");
  show_tree(page, story.snapshot, server);
  for (const survey::Evidence& evidence : server.evidence) {
    page.paragraph("  because ", evidence.text + " [" + survey::name_of(evidence.kind) + "]");
  }
  for (const survey::Finding& finding : survey::find(story.survey, story.keep)) {
    const bool about_it = std::any_of(finding.servers.begin(), finding.servers.end(), [&](std::size_t index) {
      return story.survey.servers[index].pid == server.pid;
    });
    if (!about_it) continue;
    page.paragraph("  finding ",
                   std::string(survey::name_of(finding.kind)) + ": " + shorten_homes(finding.title));
    page.paragraph("  why     ", shorten_homes(finding.explanation));
    if (!finding.next.empty()) page.command("  next    ", finding.next);
  }
}

std::string stream_name(survey::Stream::Kind kind) {
  switch (kind) {
    case survey::Stream::Kind::Unknown: return "unknown (no permission to look)";
    case survey::Stream::Kind::Closed: return "closed";
    case survey::Stream::Kind::Null: return "/dev/null";
    case survey::Stream::Kind::Terminal: return "a terminal";
    case survey::Stream::Kind::File: return "a file";
    case survey::Stream::Kind::Pipe: return "a pipe";
    case survey::Stream::Kind::Socket: return "a socket";
  }
  return "?";
}

std::string far_end_text(const Snapshot& snapshot, const survey::FarEnd& end) {
  if (end.state == survey::FarEnd::State::Closed) return ", whose other end is closed";
  if (end.holders.empty()) return "";
  std::string text = ", whose other end is held by ";
  for (std::size_t i = 0; i < end.holders.size() && i < 4; ++i) {
    text += (i == 0 ? "" : ", ") + naming(snapshot, end.holders[i]);
  }
  return text + (end.holders.size() > 4 ? " and others" : "");
}

void show_held(Page& page, const Survey& survey, pid_t client) {
  std::vector<std::size_t> servers;
  for (std::size_t i = 0; i < survey.servers.size(); ++i) {
    if (survey.servers[i].client.pid == client) servers.push_back(i);
  }
  page.paragraph("  holds   ",
                 servers.empty() ? "no MCP server" : count(servers.size(), "MCP server", "MCP servers"));
  if (!servers.empty()) show_servers(page, survey, servers, Rows::Few);
}

void show_other(Page& page, const Story& story, const Process& process) {
  const Snapshot& snapshot = story.snapshot;
  const auto& clients = story.survey.clients;
  const auto running = std::find_if(
      clients.begin(), clients.end(),
      [&process](const survey::RunningClient& other) { return other.client.pid == process.pid; });
  const std::string what =
      running == clients.end() ? "not a known MCP server" : "the client " + running->client.name;
  page.paragraph("  what    ", what + ", " + show_age(snapshot.processes.age(process)) + " old, uid " +
                                   std::to_string(process.uid));
  std::string line;
  for (const pid_t above : snapshot.processes.ancestors(process.pid)) {
    line += (line.empty() ? "" : " < ") + naming(snapshot, above);
  }
  page.paragraph("  below   ", line.empty() ? "no visible process" : line);
  if (!process.directory.empty()) page.paragraph("  in      ", printable(shorten_home(process.directory)));
  const auto ends = snapshot.far_ends.find(process.pid);
  const bool known = ends != snapshot.far_ends.end();
  page.paragraph("  stdin   ", stream_name(process.streams[0].kind) +
                                   (known ? far_end_text(snapshot, ends->second.in) : ""));
  page.paragraph("  stdout  ", stream_name(process.streams[1].kind) +
                                   (known ? far_end_text(snapshot, ends->second.out) : ""));
  if (running != clients.end()) show_held(page, story.survey, process.pid);
}

int tell_json(const Server* server, pid_t pid) {
  if (server == nullptr) {
    return fail("who", "process " + std::to_string(pid) + " is not a known MCP server");
  }
  std::cout << survey::to_json(*server) << '\n';
  return 0;
}

struct Options {
  bool json = false;
};

int tell(pid_t pid, const Options& options, std::size_t keep) {
  const Result<Snapshot> snapshot = survey::take_snapshot(survey::own_places());
  if (!snapshot) return fail("who", snapshot.error().message);
  const Process* process = snapshot->processes.find(pid);
  if (process == nullptr) {
    return fail("who", "there is no visible process " + std::to_string(pid) +
                           ": it has ended, or /proc hides it; `corral doctor` lists the running servers");
  }
  Survey survey = survey::judge(*snapshot);
  survey::examine(survey, *snapshot);
  const Server* server = server_with(survey, pid);
  if (options.json) return tell_json(server, pid);
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  page.paragraph("", std::to_string(pid) + ": " + fit(show_command(process->argv), 400, page.style()));
  const Story story{*snapshot, survey, keep};
  if (server != nullptr) {
    show_server(page, story, *server);
  } else {
    show_other(page, story, *process);
  }
  return 0;
}

}  // namespace

Command who_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "who";
  command.summary = "Show which client a process serves, and the evidence.";
  command.usage = "corral who [options] PID";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Other;
  command.options = {{"--json", "", "Print one server as JSON; docs/doctor-schema.json describes it",
                      set_flag(options->json)}};
  command.run = [options](const std::vector<std::string>& args) {
    const Result<std::size_t> keep = keep_count(std::nullopt);
    if (!keep) return fail("who", keep.error().message);
    if (args.size() != 1) return fail("who", "give one pid, as in `corral who 4711`");
    const Result<pid_t> pid = parse_pid(args.front());
    if (!pid) return fail("who", pid.error().message);
    const int code = tell(*pid, *options, *keep);
    return code;
  };
  return command;
}

}  // namespace corral::cli
