// `corral release`: takes corral away from the servers that `corral adopt` has put it in front of.
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iostream>
#include <memory>
#include <set>

#include "adopt/adoption.h"
#include "adopt/drift.h"
#include "base/text.h"
#include "base/words.h"
#include "cli/commands/adopt_request.h"
#include "cli/commands/running_clients.h"
#include "cli/frame/command.h"
#include "cli/frame/confirm.h"
#include "cli/frame/parser.h"
#include "cli/screen/adopt_page.h"
#include "cli/screen/json_layout.h"
#include "cli/screen/page.h"
#include "known/known_programs.h"
#include "survey/snapshot.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

using adopt::LedgerRow;

constexpr const char* kExamples = R"(Examples:
  corral release --all                takes back everything that `corral adopt` has changed, after a question per client
  corral release codex --dry-run
  corral release --all --yes --json

Works by entry, so it also works if the client has written the file in another layout or if other entries were changed.
Entries that somebody has changed since are left as they are, and named.
Exit code: 0 if something was released, or would be; 3 if there is nothing to release; 1 if an entry or a file was left
alone; 125 for invalid arguments or if corral failed.)";

std::string title_of(const std::string& client) {
  const known::KnownClient* const known = known::find_client(client);
  return known == nullptr ? printable(client) : std::string(known->name);
}

std::vector<std::string> clients_of(const std::vector<LedgerRow>& rows) {
  std::vector<std::string> clients;
  for (const LedgerRow& row : rows) {
    if (!contains(clients, row.client)) clients.push_back(row.client);
  }
  return clients;
}

std::vector<std::string> confirmed(const std::vector<LedgerRow>& rows) {
  std::vector<std::string> agreed;
  bool all = false;
  for (const std::string& client : clients_of(rows)) {
    const auto count = static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&client](const LedgerRow& row) { return row.client == client; }));
    const std::string question = "Release " + counted(count, "server") + " of " + title_of(client) + "?";
    const Consent answer = all ? Consent::Yes : ask(question, "clients");
    if (answer == Consent::Quit) break;
    all |= answer == Consent::All;
    if (answer != Consent::No) agreed.push_back(client);
  }
  return agreed;
}

using Outcomes = std::vector<std::pair<std::string, adopt::FileOutcome>>;

/// Clients that write these files from memory, and may put corral back.
std::vector<RunningWriter> writers_of(const std::set<std::string>& paths,
                                      const std::vector<std::string>& clients) {
  std::vector<adopt::ClientFile> files = adopt::find_files(survey::own_places(), clients);
  std::erase_if(files, [&paths](const adopt::ClientFile& file) { return !paths.contains(file.path); });
  return running_writers(files);
}

/// One run of the command that writes.
struct ReleasedFiles {
  Outcomes outcomes;
  std::vector<std::string> warnings;
};

ReleasedFiles release_files(const std::vector<LedgerRow>& rows, const std::vector<std::string>& clients,
                            const adopt::Desk& desk) {
  std::set<std::string> files;
  for (const LedgerRow& row : rows) {
    if (contains(clients, row.client)) files.insert(row.file);
  }
  if (files.empty()) return {};
  const std::vector<RunningWriter> writers = writers_of(files, clients);
  Outcomes outcomes;
  for (const std::string& file : files) {
    const bool is_written = std::any_of(writers.begin(), writers.end(),
                                        [&file](const RunningWriter& writer) { return writer.file == file; });
    const adopt::Released released = is_written ? adopt::Released::Remembered : adopt::Released::Forgotten;
    outcomes.emplace_back(file, adopt::release_file(file, clients, desk, released));
  }
  const auto is_undone = [](const LedgerRow& row, adopt::Standing standing) {
    return row.state == LedgerRow::State::Pending && standing == adopt::Standing::Ours;
  };
  return {std::move(outcomes), warnings_about(writers, desk.state_directory, is_undone)};
}

/// What a dry run would do, and what it would leave.
struct Prospect {
  std::size_t changed = 0;
  std::size_t left = 0;
};

int exit_code(const Outcomes& outcomes, const Prospect& prospect) {
  std::size_t changed = prospect.changed;
  bool left = prospect.left > 0;
  for (const auto& [path, outcome] : outcomes) {
    left |= !outcome.error.empty() || !outcome.refused.empty();
    changed += outcome.changed.size();
  }
  if (left) return kLeftAlone;
  return changed > 0 ? kChanged : kNothingToChange;
}

int run_release(const AdoptRequest& request, const adopt::Comparison& found, const adopt::Desk& desk) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  const AdoptRequest::Mode mode = request.mode();
  if (!request.json && !found.rows.empty()) show_status(page, found.rows, found.standings, {});
  std::vector<std::string> clients = clients_of(found.rows);
  if (mode == AdoptRequest::Mode::Ask) clients = confirmed(found.rows);
  const bool wrote = mode != AdoptRequest::Mode::Show;
  const auto [outcomes, warnings] = wrote ? release_files(found.rows, clients, desk) : ReleasedFiles{};
  Prospect prospect;
  for (const adopt::Standing standing : found.standings) {
    if (wrote) break;
    prospect.changed += standing == adopt::Standing::Ours ? 1 : 0;
    prospect.left += standing == adopt::Standing::Changed || standing == adopt::Standing::Unknown ? 1 : 0;
  }
  if (request.json) {
    json::array entries;
    json::array done;
    json::array warned;
    for (std::size_t i = 0; i < found.rows.size(); ++i)
      entries.push_back(json_of(found.rows[i], found.standings[i]));
    for (const auto& [path, outcome] : outcomes) done.push_back(json_of(path, outcome));
    for (const std::string& warning : warnings) warned.emplace_back(printable(warning));
    const json::object whole{{"schema", 1},
                             {"written", wrote},
                             {"adopted", std::move(entries)},
                             {"outcomes", std::move(done)},
                             {"warnings", std::move(warned)}};
    std::cout << json_for(STDOUT_FILENO, json::serialize(whole)) << '\n';
  } else if (found.rows.empty()) {
    page.paragraph("", "Nothing to release: nothing is adopted.");
  } else if (!wrote) {
    page.paragraph("", "Nothing was changed. `corral release --all --yes` releases " +
                           (prospect.changed == 1 ? std::string("one server.")
                                                  : counted(prospect.changed, "server") + "."));
  } else {
    for (const auto& [path, outcome] : outcomes) show_outcome(page, path, outcome, "Released");
    for (const std::string& warning : warnings)
      page.paragraph("warning: ", printable(shorten_homes(warning)));
  }
  return exit_code(outcomes, prospect);
}

int run(AdoptRequest& request, const std::vector<Option>& known, const std::vector<std::string>& args) {
  const Result<std::vector<std::string>> names = apply_late_options(known, args);
  if (!names) return fail("release", names.error().message);
  const Result<void> taken = take_clients(request, *names);
  if (!taken) return fail("release", taken.error().message);
  const Result<adopt::Desk> desk = open_desk();
  if (!desk) return fail("release", desk.error().message);
  const Result<adopt::Comparison> found = find_rows(request, *desk);
  if (!found) return fail("release", found.error().message);
  return run_release(request, *found, *desk);
}

}  // namespace

Command release_command() {
  auto request = std::make_shared<AdoptRequest>();
  Command command;
  command.name = "release";
  command.summary = "Take corral away from the servers that `corral adopt` has changed.";
  command.usage = "corral release [options] [CLIENT...]";
  command.examples = kExamples;
  command.argument = client_argument();
  command.options = options_of(*request);
  command.options_anywhere = true;
  command.run = [request, known = command.options](const std::vector<std::string>& args) {
    return run(*request, known, args);
  };
  return command;
}

}  // namespace corral::cli
