// `corral service`: installs the daemon as a service of the user.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/commands/user_service.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "control/daemon_request.h"
#include "serve/service_units.h"

namespace corral::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples = R"(Examples:
  corral service install                   the first client starts the daemon
  corral service install --port 8765       the same, also for clients that connect by URL
  corral service install --dry-run         only show the unit files and the commands
  corral service status
  corral service uninstall

Writes corral.service and corral.socket to ~/.config/systemd/user, and enables the socket if your service manager is running;
if it is not, the commands to run later are printed. The units use the PATH of this shell to find the commands of servers
that are used by URL. Put your own changes into a drop-in (`systemctl --user edit corral`). A file that corral has not
written is never changed. `--manager launchd --dry-run` shows an agent for macOS, which is untested.
Exit code: 0, or 1 if something prevents it or the service is not installed.)";

constexpr std::array<const char*, 2> kUnits = {"corral.service", "corral.socket"};
constexpr int kNotDone = 1;

struct ServiceOptions {
  bool dry_run = false;
  bool launchd = false;
  std::optional<std::uint16_t> port;
  std::string config;
};

int refuse(const std::string& sentence) {
  fail("service", sentence);
  return kNotDone;
}

serve::UnitFacts facts_for(const ServiceOptions& options) {
  serve::UnitFacts facts;
  std::error_code unknown;
  facts.program = fs::read_symlink("/proc/self/exe", unknown).string();
  const char* const path = getenv("PATH");
  if (path != nullptr && std::string(path).find('\n') == std::string::npos) facts.path = path;
  if (!options.config.empty()) facts.config = fs::absolute(options.config).string();
  facts.port = options.port;
  return facts;
}

std::vector<UnitFile> units_for(const ServiceOptions& options) {
  const serve::UnitFacts facts = facts_for(options);
  const std::string folder = unit_folder() + "/";
  return {{folder + kUnits[0], serve::service_unit(facts)}, {folder + kUnits[1], serve::socket_unit(facts)}};
}

int show_plan(const ServiceOptions& options) {
  if (options.launchd) {
    std::cerr << "For ~/Library/LaunchAgents/dev.corral.daemon.plist, then `launchctl bootstrap gui/$UID` "
                 "with that file. corral does not run it.\n";
    std::cout << serve::launchd_agent(facts_for(options));
    return 0;
  }
  for (const UnitFile& unit : units_for(options)) std::cout << "# " << unit.path << "\n" << unit.text << "\n";
  std::cout << "# then: systemctl --user daemon-reload && systemctl --user enable --now corral.socket\n";
  return 0;
}

bool is_active(const char* unit) { return call_manager({"is-active", "--quiet", unit}).worked(); }

/// A daemon that was not started by the service manager keeps the lock and the old socket.
bool runs_by_itself() { return !is_active("corral.service") && control::look_for_daemon("").ok(); }

/// `changed`: the unit files that were written.
int enable_socket(const std::vector<std::string>& changed) {
  constexpr const char* kLater =
      "systemctl --user daemon-reload && systemctl --user enable --now corral.socket";
  if (!manager_answers()) {
    std::cout << "Your service manager does not answer, so nothing was started. When it does, run:\n  "
              << kLater << "\n";
    return 0;
  }
  const ManagerCall reload = call_manager({"daemon-reload"});
  if (!reload.worked()) return refuse("the service manager did not load the units: " + reload.said);
  if (runs_by_itself()) {
    std::cout << "A daemon is running that the service manager did not start. When its sessions can be "
                 "ended, run:\n"
                 "  corral shutdown && "
              << kLater << "\n";
    return 0;
  }
  const bool active = is_active("corral.service");
  const ManagerCall enabled = call_manager({"enable", "--now", "corral.socket"});
  if (!enabled.worked()) return refuse("cannot enable the socket: " + enabled.said);
  std::cout << "corral.socket is enabled: the first client starts the daemon.\n";
  if (active && !changed.empty()) {
    std::cout << "The running daemon is unchanged. To switch to the new units, which ends its "
                 "sessions, run:\n"
                 "  systemctl --user stop corral.service && systemctl --user restart corral.socket\n";
  }
  return 0;
}

int install(const ServiceOptions& options) {
  if (options.port == std::optional<std::uint16_t>(0)) {
    return refuse("the service manager cannot choose a free port: give a number, such as --port 8765");
  }
  if (options.dry_run) return show_plan(options);
  if (options.launchd) return refuse("launchd is only on macOS: use --dry-run to show the file");
  const Result<std::vector<std::string>> changed = write_units(units_for(options));
  if (!changed) return refuse(changed.error().message);
  for (const std::string& path : *changed) std::cout << "Written: " << path << "\n";
  if (changed->empty()) std::cout << "The units in " << unit_folder() << " are up to date.\n";
  return enable_socket(*changed);
}

/// Removes the links that `systemctl enable` made, if no service manager can be asked to do it.
void remove_links(const std::string& folder) {
  for (const auto& [wants, unit] : {std::pair("sockets.target.wants", "corral.socket"),
                                    std::pair("default.target.wants", "corral.service")}) {
    const fs::path link = fs::path(folder) / wants / unit;
    std::error_code unknown;
    if (fs::is_symlink(link, unknown)) fs::remove(link, unknown);
    if (fs::is_directory(link.parent_path(), unknown) && fs::is_empty(link.parent_path(), unknown)) {
      fs::remove(link.parent_path(), unknown);
    }
  }
}

int uninstall(const ServiceOptions& options) {
  const std::string folder = unit_folder();
  std::vector<std::string> ours;
  for (const char* unit : kUnits) {
    const std::string path = folder + "/" + unit;
    const UnitState state = state_of(path);
    if (state == UnitState::Foreign) {
      return refuse("'" + path + "' was not written by corral, so nothing was changed; remove it yourself");
    }
    if (state == UnitState::Ours) ours.push_back(path);
  }
  if (options.dry_run) {
    std::cout << "systemctl --user disable --now corral.socket corral.service\n";
    for (const std::string& path : ours) std::cout << "rm " << path << "\n";
    return 0;
  }
  const bool answers = !ours.empty() && manager_answers();
  if (answers) {
    const ManagerCall disabled = call_manager({"disable", "--now", "corral.socket", "corral.service"});
    if (!disabled.worked()) std::cerr << "corral service: " << disabled.said << "\n";
  }
  for (const std::string& path : ours) {
    const Result<bool> removed = remove_unit(path);
    if (!removed) return refuse(removed.error().message);
    std::cout << "Removed: " << path << "\n";
  }
  remove_links(folder);
  if (answers) call_manager({"daemon-reload"});
  if (ours.empty()) std::cout << "Nothing is installed in " << folder << ".\n";
  return 0;
}

int status() {
  bool complete = true;
  for (const char* unit : kUnits) {
    const std::string path = unit_folder() + "/" + unit;
    const UnitState state = state_of(path);
    complete = complete && state == UnitState::Ours;
    std::cout << path << ": "
              << (state == UnitState::Ours      ? "written by corral"
                  : state == UnitState::Foreign ? "exists, but was not written by corral"
                                                : "missing")
              << "\n";
  }
  if (!manager_answers()) {
    std::cout << "Your service manager does not answer.\n";
    return complete ? 0 : kNotDone;
  }
  for (const char* unit : kUnits) {
    std::cout << unit << ": " << call_manager({"is-enabled", unit}).said << ", "
              << call_manager({"is-active", unit}).said << "\n";
  }
  return complete ? 0 : kNotDone;
}

int run(const ServiceOptions& options, const std::vector<std::string>& args) {
  constexpr const char* kUsage = "use `corral service install`, `uninstall` or `status`";
  if (args.size() != 1) return fail("service", std::string("one subcommand expected: ") + kUsage);
  if (args.front() == "install") return install(options);
  if (args.front() == "uninstall") return uninstall(options);
  if (args.front() == "status") return status();
  return fail("service", "unknown subcommand '" + args.front() + "': " + kUsage);
}

}  // namespace

Command service_command() {
  auto options = std::make_shared<ServiceOptions>();

  Command command;
  command.name = "service";
  command.summary = "Install the daemon as a service of your user, remove it, or show its state.";
  command.usage = "corral service install|uninstall|status [options]";
  command.examples = kExamples;
  command.argument = {Argument::Kind::Choice, {"install", "uninstall", "status"}};
  command.options.push_back({"--port", "N", "Also open this TCP port on 127.0.0.1", set_port(options->port)});
  command.options.push_back({"--config", "FILE", "The daemon's configuration, if it is not the default file",
                             set_word(options->config)});
  command.options.push_back({"--dry-run", "", "Only show what would be done", set_flag(options->dry_run)});
  command.options.push_back({"--manager", "NAME", "systemd (the default) or, with --dry-run, launchd",
                             [options](const std::string& word) -> Result<void> {
                               options->launchd = word == "launchd";
                               if (options->launchd || word == "systemd") return {};
                               return Error{"unknown service manager '" + word + "': use systemd or launchd"};
                             }});
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    return rest ? run(*options, *rest) : fail("service", rest.error().message);
  };
  return command;
}

}  // namespace corral::cli
