// `corral adopt`: puts corral in front of the servers in the configuration files of this user's clients.
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iostream>
#include <memory>

#include "adopt/adoption.h"
#include "adopt/drift.h"
#include "base/text.h"
#include "cli/commands/adopt_request.h"
#include "cli/commands/next_steps.h"
#include "cli/commands/running_clients.h"
#include "cli/frame/command.h"
#include "cli/frame/confirm.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/adopt_page.h"
#include "cli/screen/json_layout.h"
#include "cli/screen/page.h"
#include "proc/own_program.h"
#include "survey/snapshot.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

using adopt::FileLook;
using adopt::FoundServer;
using adopt::Verdict;

constexpr const char* kExamples = R"(Examples:
  corral adopt                        shows the servers of all clients with the change, and asks for each client
  corral adopt codex cursor --dry-run
  corral adopt --all --yes --json     unattended; may be repeated
  corral adopt --all --run            `corral run` instead of `corral connect`: every session has its own process
  corral adopt --project              the files of the project in this directory, for everybody who uses them
  corral adopt --status               what is adopted, and what was changed since

Only the values of "command" and "args" change. `corral release` takes everything back. Without --yes and without a
terminal, nothing is written. docs/adopt.md lists the files, and says which servers are left alone.
Exit code: 0 if something was changed, or would be; 3 if there is nothing to change; 1 if a server or a file was left alone
that should have been changed, or if --status has found a difference; 125 for invalid arguments or if corral failed.)";

struct AdoptOptions {
  AdoptRequest request;
  bool run = false;
  bool project = false;
  bool status = false;
  std::string program;
};

/// One run of the command.
struct Adopted {
  const AdoptOptions& options;
  adopt::Desk desk;
  std::string program;  // to be written
  std::string doubt;    // about that path
  std::vector<FileLook> looks;
  std::vector<std::pair<std::string, adopt::FileOutcome>> outcomes = {};  // by the path of the file
  std::vector<std::string> warnings = {};
  bool wrote = false;  // and not only shown
};

adopt::Through through_of(const AdoptOptions& options) {
  return options.run ? adopt::Through::Run : adopt::Through::Connect;
}

std::vector<FileLook> look_at_files(const AdoptOptions& options) {
  std::vector<FileLook> looks;
  for (const adopt::ClientFile& file : adopt::find_files(survey::own_places(), options.request.clients)) {
    const bool wanted = (file.scope == known::ConfigScope::Project) == options.project;
    if (wanted) looks.push_back(adopt::look_at(file, through_of(options)));
  }
  return looks;
}

std::size_t count_of(const FileLook& look, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(look.servers.begin(), look.servers.end(),
                    [verdict](const FoundServer& server) { return server.judged.verdict == verdict; }));
}

/// The clients that have something to change, in the order of the files, and how many servers that is.
std::vector<std::pair<const known::KnownClient*, std::size_t>> clients_to_ask(
    const std::vector<FileLook>& looks) {
  std::vector<std::pair<const known::KnownClient*, std::size_t>> clients;
  for (const FileLook& look : looks) {
    const std::size_t count = count_of(look, Verdict::Wrap);
    if (count == 0) continue;
    const bool same = !clients.empty() && clients.back().first == look.file.client;
    if (!same) clients.emplace_back(look.file.client, 0);
    clients.back().second += count;
  }
  return clients;
}

std::vector<const known::KnownClient*> confirmed(const std::vector<FileLook>& looks) {
  std::vector<const known::KnownClient*> agreed;
  bool all = false;
  for (const auto& [client, count] : clients_to_ask(looks)) {
    const std::string question =
        "Adopt " + counted(count, "server") + " of " + std::string(client->name) + "?";
    const Consent answer = all ? Consent::Yes : ask(question, "clients");
    if (answer == Consent::Quit) break;
    all |= answer == Consent::All;
    if (answer != Consent::No) agreed.push_back(client);
  }
  return agreed;
}

void adopt_files(Adopted& adopted, const std::vector<FileLook>& looks) {
  for (const FileLook& look : looks) {
    adopt::Adopting adopting{look.file, {}, through_of(adopted.options), adopted.program};
    for (const FoundServer& server : look.servers) {
      if (server.judged.verdict != Verdict::Wrap) continue;
      adopting.servers.push_back({server.entry.keys, server.hash});
    }
    if (adopting.servers.empty()) continue;
    adopted.outcomes.emplace_back(look.file.path, adopt::adopt_file(adopting, adopted.desk));
  }
}

/// Clients that write their files from memory may undo the change a moment later.
void look_again(Adopted& adopted) {
  std::vector<adopt::ClientFile> changed;
  for (const FileLook& look : adopted.looks) {
    const auto of_file = [&look](const auto& one) {
      return one.first == look.file.path && !one.second.changed.empty();
    };
    if (std::any_of(adopted.outcomes.begin(), adopted.outcomes.end(), of_file)) changed.push_back(look.file);
  }
  const auto is_undone = [](const adopt::LedgerRow& row, adopt::Standing standing) {
    return standing != adopt::Standing::Ours && !adopt::is_settled(row, standing);
  };
  for (std::string& warning :
       warnings_about(running_writers(changed), adopted.desk.state_directory, is_undone)) {
    adopted.warnings.push_back(std::move(warning));
  }
}

int exit_code(const Adopted& adopted) {
  std::size_t changed = 0;
  bool left = false;
  for (const FileLook& look : adopted.looks) {
    left |= !look.error.empty() || count_of(look, Verdict::Refused) > 0;
    changed += adopted.wrote ? 0 : count_of(look, Verdict::Wrap);
  }
  for (const auto& [path, outcome] : adopted.outcomes) {
    left |= !outcome.error.empty() || !outcome.refused.empty();
    changed += outcome.changed.size();
  }
  if (left) return kLeftAlone;
  return changed > 0 ? kChanged : kNothingToChange;
}

AdoptSummary summary_of(const Adopted& adopted, std::size_t total) {
  AdoptSummary summary;
  summary.adopted = total;
  for (const FileLook& look : adopted.looks) {
    const bool unread = !look.error.empty();
    summary.left_alone += unread ? 1 : count_of(look, Verdict::Refused);
    for (const auto& [path, outcome] : adopted.outcomes) {
      if (path != look.file.path || outcome.changed.empty()) continue;
      const bool named = !summary.clients.empty() && summary.clients.back() == look.file.client;
      if (!named) summary.clients.push_back(look.file.client);
    }
  }
  for (const auto& [path, outcome] : adopted.outcomes)
    summary.left_alone += outcome.refused.size() + (outcome.error.empty() ? 0 : 1);
  return summary;
}

void show_end(Page& page, const Adopted& adopted) {
  std::size_t total = 0;
  for (const auto& [path, outcome] : adopted.outcomes) {
    show_outcome(page, path, outcome, "Adopted");
    total += outcome.changed.size();
  }
  for (const std::string& warning : adopted.warnings)
    page.paragraph("warning: ", printable(shorten_homes(warning)));
  std::size_t open = 0;
  for (const FileLook& look : adopted.looks) open += count_of(look, Verdict::Wrap);
  if (total > 0) {
    show_summary(page, summary_of(adopted, total));
  } else if (open == 0) {
    page.paragraph("", "Nothing to adopt.");
  } else if (!adopted.wrote) {
    page.paragraph("",
                   "Nothing was changed. `corral adopt --all --yes` adopts " +
                       (open == 1 ? std::string("this server.") : "these " + counted(open, "server") + "."));
  }
}

json::object report(const Adopted& adopted) {
  json::array files;
  json::array outcomes;
  json::array warnings;
  for (const FileLook& look : adopted.looks) files.push_back(json_of(look));
  for (const auto& [path, outcome] : adopted.outcomes) outcomes.push_back(json_of(path, outcome));
  for (const std::string& warning : adopted.warnings) warnings.emplace_back(printable(warning));
  return {{"schema", 1},
          {"program", printable(adopted.program)},
          {"written", adopted.wrote},
          {"files", std::move(files)},
          {"outcomes", std::move(outcomes)},
          {"warnings", std::move(warnings)}};
}

int run_adopt(Adopted& adopted) {
  const AdoptRequest& request = adopted.options.request;
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  for (const FileLook& look : adopted.looks) {
    if (!request.json) show_look(page, look, adopted.program);
  }
  if (!adopted.doubt.empty()) adopted.warnings.push_back(adopted.doubt);
  std::vector<FileLook> agreed = adopted.looks;
  const AdoptRequest::Mode mode = request.mode();
  if (mode == AdoptRequest::Mode::Ask) {
    if (!adopted.doubt.empty()) page.paragraph("warning: ", printable(shorten_homes(adopted.doubt)));
    const std::vector<const known::KnownClient*> clients = confirmed(adopted.looks);
    std::erase_if(agreed, [&clients](const FileLook& look) {
      return std::find(clients.begin(), clients.end(), look.file.client) == clients.end();
    });
  }
  adopted.wrote = mode != AdoptRequest::Mode::Show;
  if (adopted.wrote) {
    adopt_files(adopted, agreed);
    look_again(adopted);
  }
  if (request.json) {
    std::cout << json_for(STDOUT_FILENO, json::serialize(report(adopted))) << '\n';
  } else {
    show_end(page, adopted);
  }
  return exit_code(adopted);
}

int show_standings(const Adopted& adopted) {
  const Result<adopt::Comparison> found = find_rows(adopted.options.request, adopted.desk);
  if (!found) return fail("adopt", found.error().message);
  const auto& [open, standings] = *found;
  const bool drift = std::any_of(standings.begin(), standings.end(),
                                 [](adopt::Standing standing) { return standing != adopt::Standing::Ours; });
  if (!adopted.options.request.json) {
    Page page(std::cout, terminal_style(STDOUT_FILENO));
    show_status(page, open, standings, adopted.looks);
    return drift ? 1 : 0;
  }
  json::array entries;
  for (std::size_t i = 0; i < open.size(); ++i) entries.push_back(json_of(open[i], standings[i]));
  json::array files;
  for (const FileLook& look : adopted.looks) files.push_back(json_of(look));
  const json::object whole{{"schema", 1}, {"adopted", std::move(entries)}, {"files", std::move(files)}};
  std::cout << json_for(STDOUT_FILENO, json::serialize(whole)) << '\n';
  return drift ? 1 : 0;
}

/// What is written in front of the servers. In a file that others use, too, only the name is right.
Result<proc::OwnProgram> program_of(const AdoptOptions& options) {
  if (!options.program.empty()) return proc::OwnProgram{options.program, ""};
  if (options.project) return proc::OwnProgram{"corral", ""};
  return proc::own_program(own_variables());
}

int run(AdoptOptions& options, const std::vector<Option>& known, const std::vector<std::string>& args) {
  const Result<std::vector<std::string>> names = apply_late_options(known, args);
  if (!names) return fail("adopt", names.error().message);
  const Result<void> taken = take_clients(options.request, *names);
  if (!taken) return fail("adopt", taken.error().message);
  const Result<proc::OwnProgram> program = program_of(options);
  if (!program) return fail("adopt", program.error().message);
  const Result<adopt::Desk> desk = open_desk();
  if (!desk) return fail("adopt", desk.error().message);
  Adopted adopted{options, *desk, program->path, program->doubt, look_at_files(options)};
  return options.status ? show_standings(adopted) : run_adopt(adopted);
}

}  // namespace

Command adopt_command() {
  auto options = std::make_shared<AdoptOptions>();
  Command command;
  command.name = "adopt";
  command.summary = "Put corral in front of the servers in your clients' files.";
  command.usage = "corral adopt [options] [CLIENT...]";
  command.examples = kExamples;
  command.argument = client_argument();
  command.options = options_of(options->request);
  const std::vector<Option> own = {
      {"--run", "", "Use `corral run`, which needs no daemon and shares nothing", set_flag(options->run)},
      {"--project", "", "Change the files of the project in this directory instead of your own",
       set_flag(options->project)},
      {"--status", "", "Only show what is adopted and what was changed since", set_flag(options->status)},
      {"--program", "PATH", "Write this path of corral instead of the one that is found",
       set_word(options->program)},
  };
  command.options.insert(command.options.end(), own.begin(), own.end());
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    return run(*options, known, args);
  };
  return command;
}

}  // namespace corral::cli
