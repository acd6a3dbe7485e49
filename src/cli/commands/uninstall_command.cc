// `corral uninstall`: takes corral out of the clients' files, and ends what it has running. It does what the
// commands `release`, `service uninstall` and `shutdown` do, in the order in which nothing starts again.
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "adopt/drift.h"
#include "base/text.h"
#include "cli/commands/adopt_request.h"
#include "cli/commands/user_service.h"
#include "cli/frame/command.h"
#include "cli/frame/confirm.h"
#include "cli/frame/option_values.h"
#include "cli/screen/page.h"
#include "config/configuration.h"
#include "control/runtime_dir.h"
#include "proc/own_program.h"
#include "survey/snapshot.h"

namespace corral::cli {

Command release_command();
Command service_command();
Command shutdown_command();

namespace {

constexpr const char* kExamples = R"(Examples:
  corral uninstall                 shows what would be done, and asks
  corral uninstall --yes --purge   also removes events, manifests, logs, tokens and copies of files

Releases every server that `corral adopt` has changed, removes the service, ends the daemon, and names what is left. If a server
cannot be released, it stops there, because that server still needs corral.
Exit code: 0; 1 if something was left that still starts corral; 125 for invalid options or if corral failed.)";

struct UninstallOptions {
  bool yes = false;
  bool purge = false;
  std::string runtime_dir;
};

/// `corral shutdown`, of the daemon that was named.
int end_daemon(const UninstallOptions& options) {
  const Command shutdown = shutdown_command();
  for (const Option& option : shutdown.options) {
    const bool named = option.names == "--runtime-dir" && !options.runtime_dir.empty();
    if (named && !option.apply(options.runtime_dir)) return kOwnFailure;
  }
  return shutdown.run({});
}

/// `corral release --all --yes`. True if nothing is adopted afterwards.
bool release_all() {
  const int code = release_command().run({"--all", "--yes"});
  return code == kChanged || code == kNothingToChange;
}

bool has_service() {
  return state_of(unit_folder() + "/corral.service") == UnitState::Ours ||
         state_of(unit_folder() + "/corral.socket") == UnitState::Ours;
}

bool exists(const std::string& path) {
  std::error_code unknown;
  return !path.empty() && std::filesystem::exists(path, unknown);
}

void show_plan(Page& page, const UninstallOptions& options, std::size_t adopted, const std::string& state) {
  page.heading("Would be done");
  if (adopted > 0)
    page.paragraph("  ", "release " + counted(adopted, "server") + " (`corral release --all`)");
  if (has_service()) page.paragraph("  ", "remove the service (`corral service uninstall`)");
  page.paragraph("  ", "end the daemon, if one is running (`corral shutdown`)");
  if (options.purge && exists(state)) page.paragraph("  ", "remove " + printable(shorten_home(state)));
}

void show_left(Page& page, const std::string& state) {
  page.heading("Left");
  if (exists(state)) {
    page.paragraph("  ",
                   printable(shorten_home(state)) +
                       ": events, manifests, logs, tokens and copies of clients' files; --purge removes it");
  }
  const std::string config = config::default_file();
  if (exists(config)) page.paragraph("  ", printable(shorten_home(config)) + ": your configuration");
  const Result<proc::OwnProgram> own = proc::own_program(survey::own_places().environment);
  if (own) page.paragraph("  ", printable(shorten_home(own->path)) + ": the program");
}

int purge(const std::string& state) {
  std::error_code failed;
  std::filesystem::remove_all(state, failed);
  if (!failed) return 0;
  return fail("uninstall", "'" + state + "' could not be removed: " + failed.message());
}

int uninstall(const UninstallOptions& options) {
  const std::string state = control::default_state_directory();
  const Result<std::vector<adopt::LedgerRow>> rows = adopt::read_ledger(state);
  if (!rows) return fail("uninstall", rows.error().message);
  const std::size_t adopted = adopt::compare_open_rows(*rows).rows.size();
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  if (!options.yes) {
    show_plan(page, options, adopted, state);
    const Consent answer = can_ask() ? ask("Do this?", "of it") : Consent::No;
    if (answer != Consent::Yes && answer != Consent::All) {
      page.paragraph("", "Nothing was changed. `corral uninstall --yes` does it.");
      return 0;
    }
  }
  if (adopted > 0 && !release_all()) {
    fail("uninstall", "a server could not be released and still starts corral: correct it, then repeat this");
    return kLeftAlone;
  }
  if (has_service() && service_command().run({"uninstall"}) != 0) return kLeftAlone;
  if (const int code = end_daemon(options); code != 0) return code;
  if (options.purge && exists(state)) {
    if (const int code = purge(state); code != 0) return code;
  }
  show_left(page, state);
  return 0;
}

}  // namespace

Command uninstall_command() {
  auto options = std::make_shared<UninstallOptions>();
  Command command;
  command.name = "uninstall";
  command.summary = "Release all servers, end the daemon and its service, and say what is left.";
  command.usage = "corral uninstall [options]";
  command.examples = kExamples;
  command.options = {{"-y,--yes", "", "Do it without asking", set_flag(options->yes)},
                     {"--purge", "", "Also remove what corral has stored", set_flag(options->purge)},
                     runtime_dir_option(options->runtime_dir)};
  command.run = [options](const std::vector<std::string>& args) {
    const Result<void> none = expect_no_args(args);
    return none ? uninstall(*options) : fail("uninstall", none.error().message);
  };
  return command;
}

}  // namespace corral::cli
