// `corral doctor`: shows the MCP servers of this machine, their clients, and what has leaked.
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <numeric>
#include <set>

#include "base/keep_limit.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/reap_options.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/screen/page.h"
#include "cli/screen/server_table.h"
#include "proc/levels.h"
#include "survey/findings.h"
#include "survey/survey_json.h"

namespace corral::cli {
namespace {

using survey::Finding;
using survey::Server;
using survey::Survey;

constexpr const char* kExamples = R"(Examples:
  corral doctor
  corral doctor -v              with every server and the evidence
  corral doctor --json | jq '.findings[].title'

Findings: the client of an orphan has exited or closed its pipes; a pile-up is more than N copies of one command held by one
client (N: --keep, corral.keep, MAX_KEEP_PROCESSES or 9; only --keep may be 0); a duplicate is one command in one directory
for several clients; a stale server runs code that has changed on disk; a runaway is an orphan that uses processor time; an
unattended server is held by a background process of its client that nobody is connected to.
This command ends, starts and changes nothing.
Exit code: 0; with --exit-code 1 if there are findings; 125 if corral failed.)";

constexpr std::chrono::milliseconds kPatienceForStatus{500};  // of a daemon that may hang

struct DoctorOptions {
  bool json = false;
  bool verbose = false;
  bool exit_code = false;
  std::optional<std::size_t> keep_given;
  std::size_t keep = kDefaultKeep;
};

std::vector<std::size_t> all_of(const Survey& survey) {
  std::vector<std::size_t> indexes(survey.servers.size());
  std::iota(indexes.begin(), indexes.end(), std::size_t{0});
  return indexes;
}

void show_summary(Page& page, const Survey& survey, const std::vector<Finding>& findings) {
  const std::vector<std::size_t> all = all_of(survey);
  if (all.empty()) {
    return page.paragraph("",
                          "No MCP server is running here, and " +
                              (survey.clients.empty() ? std::string("no known client.")
                                                      : count(survey.clients.size(), "client.", "clients.")));
  }
  const std::string verdict = !findings.empty() ? count(findings.size(), "finding", "findings") + ":"
                              : all.size() == 1 ? "No problems were found."
                                                : "No problems were found.";
  page.paragraph("", count(all.size(), "MCP server is running", "MCP servers are running") + " here (" +
                         sum_of(survey, all) + "), for " +
                         count(survey.clients.size(), "running client", "running clients") + ". " + verdict);
}

void show_findings(Page& page, const Survey& survey, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    page.blank();
    page.heading(std::string(survey::name_of(finding.kind)) + ": " + shorten_homes(finding.title));
    if (!finding.servers.empty()) page.paragraph("  ", sum_of(survey, finding.servers));
    page.paragraph("  why   ", shorten_homes(finding.explanation));
    if (!finding.next.empty()) page.command("  next  ", finding.next);
  }
}

void show_clients(Page& page, const Survey& survey) {
  page.blank();
  page.heading("Running clients");
  if (survey.clients.empty()) page.paragraph("  ", "none that corral knows");
  std::vector<std::vector<std::string>> rows;
  for (const survey::RunningClient& running : survey.clients) {
    rows.push_back({std::to_string(running.client.pid), show_age(running.client.age),
                    std::to_string(running.servers.size()), running.client.name,
                    printable(shorten_home(running.client.root))});
  }
  if (!rows.empty()) {
    page.table("  ", {{"PID"}, {"AGE"}, {"SERVERS", true}, {"CLIENT"}, {"WORKS IN", false, true}}, rows);
  }
}

/// How many servers do not go through corral, and the command that changes this.
void show_not_kept(Page& page, const known::Configurations& configurations) {
  std::size_t own = 0;
  std::size_t of_projects = 0;
  for (const known::ConfiguredServer& server : configurations.servers) {
    const bool of_administrator = server.file.starts_with("/etc/");
    if (server.argv.empty() || of_administrator || known::goes_through_corral(server.argv)) continue;
    const bool in_project = !server.project.empty() && server.file.starts_with(server.project + "/");
    ++(in_project ? of_projects : own);
  }
  if (own + of_projects == 0) return;
  page.paragraph("  ", count(own + of_projects, "server does", "servers do") +
                           " not go through corral yet: " +
                           (own > 0 ? "`corral adopt`" : "`corral adopt --project` in the project") +
                           " shows the change and asks.");
}

void show_configured(Page& page, const Survey& survey) {
  page.blank();
  page.heading("Servers that clients are configured to start");
  if (survey.configurations.servers.empty()) page.paragraph("  ", "none found");
  std::vector<std::vector<std::string>> rows;
  for (const known::ConfiguredServer& server : survey.configurations.servers) {
    rows.push_back({printable(server.name), server.client, printable(shorten_home(server.file)),
                    server.argv.empty() ? "(by URL)" : show_command(server.argv)});
  }
  if (!rows.empty()) page.table("  ", {{"NAME"}, {"CLIENT"}, {"FILE"}, {"COMMAND", false, true}}, rows);
  show_not_kept(page, survey.configurations);
  for (const known::ConfigNote& note : survey.configurations.notes) {
    page.paragraph("  note  ", printable(shorten_home(note.file)) + ": " + printable(note.message));
  }
}

void show_evidence(Page& page, const Server& server) {
  page.blank();
  page.paragraph("  ", std::to_string(server.pid) + ": " + server.shown);
  for (const survey::Evidence& evidence : server.evidence) {
    page.paragraph("    " + std::string(survey::name_of(evidence.kind)) + ": ", evidence.text);
  }
}

void show_levels(Page& page, const proc::Levels& levels) {
  page.blank();
  page.heading("What `corral run` can do here");
  page.paragraph("  auto    ",
                 levels.cgroup ? "a keeper, and a cgroup for each server" : "a keeper for each server");
  if (!levels.cgroup) {
    page.paragraph("          ",
                   "For a cgroup as well, start the client in a systemd user service or scope with "
                   "Delegate=yes.");
  }
  if (!levels.controllers) {
    page.paragraph("          ",
                   "A watchdog enforces limits, because a cgroup that has processes cannot delegate "
                   "controllers, with or without Delegate=; --cpu cannot be enforced.");
  }
  page.paragraph("  strict  ", levels.strict ? "works" : "refused: " + levels.why_not_strict);
}

void show_text(const Survey& survey, const std::vector<Finding>& findings, const DoctorOptions& options) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  show_summary(page, survey, findings);
  show_findings(page, survey, findings);
  if (!survey.servers.empty()) {
    page.blank();
    page.heading("Running servers");
    show_servers(page, survey, all_of(survey), options.verbose ? Rows::All : Rows::Few);
    if (options.verbose) {
      for (const Server& server : survey.servers) show_evidence(page, server);
    }
  }
  show_clients(page, survey);
  show_configured(page, survey);
  show_levels(page, proc::probe_levels());
  if (!survey.limits_of_sight.empty()) page.blank();
  for (const std::string& sentence : survey.limits_of_sight) page.paragraph("note: ", sentence);
  if (findings.empty() || options.verbose) return;
  page.blank();
  page.paragraph("", "`corral doctor -v` shows the evidence for each server, `corral who PID` for one.");
}

/// What the daemon says about its own servers: it holds their pipes, so a survey sees only the daemon.
void add_findings_of_daemon(const Survey& survey, std::vector<Finding>& findings) {
  const KnownStatus status = status_if_running("", kPatienceForStatus);
  if (!status) return;
  for (const observe::InstanceView& instance : status->instances) {
    if (instance.unattended.empty()) continue;
    Finding finding{Finding::Kind::Unattended,
                    {},
                    "server " + instance.server + " runs for nobody",
                    instance.unattended + ".",
                    "corral ps --server " + shell_word(instance.server)};
    for (std::size_t i = 0; i < survey.servers.size(); ++i) {
      if (survey.servers[i].pid == instance.pid) finding.servers.push_back(i);
    }
    findings.push_back(std::move(finding));
  }
}

int run(const DoctorOptions& options) {
  const Result<Survey> survey = survey::look_around();
  if (!survey) return fail("doctor", survey.error().message);
  std::vector<Finding> findings = survey::find(*survey, options.keep);
  add_findings_of_daemon(*survey, findings);
  if (options.json) {
    std::cout << survey::to_json(*survey, findings, proc::probe_levels(), options.keep) << '\n';
  } else {
    show_text(*survey, findings, options);
  }
  return options.exit_code && !findings.empty() ? 1 : 0;
}

}  // namespace

Command doctor_command() {
  auto options = std::make_shared<DoctorOptions>();
  Command command;
  command.name = "doctor";
  command.summary = "Show the running MCP servers, their clients, and what has leaked.";
  command.usage = "corral doctor [options]";
  command.examples = kExamples;
  command.options = {
      {"--json", "", "Print JSON; docs/doctor-schema.json describes it", set_flag(options->json)},
      {"-v,--verbose", "", "Show every server, with the evidence", set_flag(options->verbose)},
      {"--keep", "N",
       "Report more than N copies of one command as a pile-up (corral.keep, MAX_KEEP_PROCESSES, or 9)",
       set_count(options->keep_given, "number of copies")},
      {"--exit-code", "", "Exit with code 1 if there are findings", set_flag(options->exit_code)},
  };
  command.run = [options](const std::vector<std::string>& args) {
    const Result<std::size_t> keep = keep_count(options->keep_given);
    if (!keep) return fail("doctor", keep.error().message);
    options->keep = *keep;
    const Result<void> none = expect_no_args(args);
    return none ? run(*options) : fail("doctor", none.error().message);
  };
  return command;
}

}  // namespace corral::cli
