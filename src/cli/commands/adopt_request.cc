#include "cli/commands/adopt_request.h"

#include <algorithm>

#include "base/text.h"
#include "base/utc_time.h"
#include "base/words.h"
#include "cli/commands/registration.h"
#include "cli/frame/confirm.h"
#include "cli/frame/option_values.h"
#include "control/runtime_dir.h"
#include "known/known_programs.h"

namespace corral::cli {
namespace {

std::vector<std::string> adoptable_clients() {
  std::vector<std::string> ids;
  for (const known::KnownClient& client : known::known_clients()) {
    if (!client.configs.empty()) ids.emplace_back(client.id);
  }
  return ids;
}

/// "claude-code" for "claude", as `corral url --client` understands it.
std::string id_of(const std::string& name) {
  const std::optional<RegisteredClient> registered = client_by_name(name);
  for (const ClientTitle& title : client_titles()) {
    if (registered && title.client == *registered) return std::string(title.id);
  }
  return name;
}

}  // namespace

AdoptRequest::Mode AdoptRequest::mode() const {
  if (dry_run) return Mode::Show;
  if (yes) return Mode::Write;
  return !json && can_ask() ? Mode::Ask : Mode::Show;
}

std::vector<Option> options_of(AdoptRequest& request) {
  return {
      {"--all", "", "All clients of this user", set_flag(request.all)},
      {"-y,--yes", "", "Change the files without asking; requires CLIENT or --all", set_flag(request.yes)},
      {"--dry-run", "", "Only show what would be changed", set_flag(request.dry_run)},
      {"--json", "", "Print JSON, and never ask; docs/adopt.md describes it", set_flag(request.json)}};
}

Result<void> take_clients(AdoptRequest& request, const std::vector<std::string>& names) {
  const std::vector<std::string> known = adoptable_clients();
  for (const std::string& name : names) {
    const std::string id = contains(known, name) ? name : id_of(name);
    if (!contains(known, id)) {
      const std::string close = nearest_word(name, known);
      std::string list;
      for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
      return Error{"no client whose configuration corral can change is called '" + printable(name) + "'. " +
                   (close.empty() ? "There are: " + list : "Did you mean '" + close + "'?")};
    }
    request.clients.push_back(id);
  }
  if (request.all && !names.empty()) return Error{"--all means every client: omit it, or omit the names"};
  if (request.yes && !request.all && names.empty()) {
    return Error{"--yes requires a selection: name the clients, or add --all"};
  }
  return {};
}

Argument client_argument() { return {Argument::Kind::Choice, adoptable_clients()}; }

Result<adopt::Desk> open_desk() {
  const std::string directory = control::default_state_directory();
  if (directory.empty()) {
    return Error{"you have no home directory, so there is no place to write down what is changed"};
  }
  return adopt::Desk{directory, unix_time_ms(), {}};
}

Result<adopt::Comparison> find_rows(const AdoptRequest& request, const adopt::Desk& desk) {
  Result<std::vector<adopt::LedgerRow>> rows = adopt::read_ledger(desk.state_directory);
  if (!rows) return rows.error();
  std::erase_if(*rows, [&request](const adopt::LedgerRow& row) {
    return !request.clients.empty() && !contains(request.clients, row.client);
  });
  return adopt::compare_open_rows(*rows);
}

}  // namespace corral::cli
