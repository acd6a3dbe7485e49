// `corral list`: every configured server, with its state, in one line each.
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/text.h"
#include "base/utc_time.h"
#include "cli/commands/kept_history.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/page.h"
#include "cli/screen/server_list.h"
#include "config/configuration.h"
#include "control/runtime_dir.h"
#include "registry/kept_servers.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

constexpr const char* kExamples = R"(Examples:
  corral list
  corral list --json | jq -r '.servers[] | select(.state == "failed") | .name'

Lists the servers of the configuration, and those that clients brought with them (`corral connect -- COMMAND`). TOOLS is the
number of tools that clients see, as last learned; SHARED says what was decided, or configured: `auto` is decided when
the server runs. Without a daemon the list shows what the configuration and earlier daemons say. `corral ps` shows
processes.
Exit code: 0; 1 if the configuration cannot be used.)";

struct ListOptions {
  std::string runtime_dir;
  std::string config;
  bool json = false;
};

/// What the list is made from, and where each part was found.
struct Found {
  std::optional<observe::Snapshot> status;
  std::string file;
  config::Configuration configuration;
  std::map<std::string, registry::KeptServer> kept;
  bool one_command = false;  // the daemon is `corral serve -- COMMAND`, which reads no file
};

int refuse(const ListOptions& options, const std::string& file, const std::string& why) {
  const std::string message = printable(why);
  if (options.json) {
    std::cout << json::object{{"file", printable(file)}, {"error", message}} << "\n";
  } else {
    std::cerr << "corral list: " << message << "\n";
  }
  return 1;
}

/// The status of the daemon. A daemon that does not answer is named, and the list is made without it.
std::optional<observe::Snapshot> ask_running(const std::string& runtime_dir) {
  control::DaemonAnswer answer = control::ask_daemon(runtime_dir, control::status_hello());
  if (answer.kind == control::DaemonAnswer::Kind::NoDaemon) return std::nullopt;
  const Result<JsonAnswer> parsed = read_answer(std::move(answer));
  if (parsed) return observe::read_status(parsed->value);
  std::cerr << "corral list: " << parsed.error().message << "; the list is made without it\n";
  return std::nullopt;
}

bool same_file(const std::string& one, const std::string& other) {
  std::error_code unknown;
  return one == other || std::filesystem::equivalent(one, other, unknown);
}

std::string registry_file(const ListOptions& options, const std::optional<observe::Snapshot>& status) {
  if (status && !status->daemon.registry.empty()) return status->daemon.registry;
  const std::string state = usual_state_directory(options.runtime_dir);
  return state.empty() ? "" : state + "/registry.db";
}

void read_registry(const ListOptions& options, Found& found) {
  const std::string file = registry_file(options, found.status);
  if (file.empty()) return;
  Result<std::map<std::string, registry::KeptServer>> kept = registry::read_kept_servers(file);
  if (kept) {
    found.kept = std::move(*kept);
  } else if (kept.error().kind != Error::Kind::NotFound) {
    std::cerr << "corral list: " << printable(kept.error().message) << "\n";
  }
}

void show_empty(Page& page, const Found& found) {
  std::error_code unknown;
  const std::string file = printable(shorten_home(found.file));
  page.paragraph("",
                 "No server is configured: " + file +
                     (std::filesystem::exists(found.file, unknown) ? " names none." : " does not exist."));
  page.paragraph("",
                 "Next: `corral import FILE` copies the servers of a client, as in `corral import "
                 "~/.cursor/mcp.json`; `corral add NAME -- COMMAND` adds one.");
}

void show(const Found& found, const std::vector<ListedServer>& servers) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  if (found.one_command) {
    page.paragraph("",
                   "The running daemon serves one command (`corral serve -- COMMAND`) and reads no file.");
  } else if (found.configuration.servers.empty()) {
    show_empty(page, found);
  } else {
    page.paragraph("", shown_counts(found.configuration) + (found.status ? "" : "; no daemon is running"));
  }
  if (servers.empty()) return;
  page.blank();
  show_server_list(page, servers);
}

void print_json(const Found& found, const std::vector<ListedServer>& servers) {
  json::object list{{"file", printable(found.file)},
                    {"daemon", nullptr},
                    {"servers", json::parse(servers_as_json(servers))}};
  if (found.status) list["daemon"] = found.status->daemon.pid;
  std::cout << list << "\n";
}

int run(const ListOptions& options, const std::vector<std::string>& args) {
  if (const Result<void> none = expect_no_args(args); !none) return fail("list", none.error().message);
  Found found;
  found.status = ask_running(options.runtime_dir);
  const std::string of_daemon = found.status ? found.status->daemon.config : "";
  found.file = !options.config.empty() ? options.config
               : of_daemon.empty()     ? config::default_file()
                                       : of_daemon;
  // A daemon knows nothing about the servers of another file.
  if (found.status && !of_daemon.empty() && !same_file(found.file, of_daemon)) {
    std::cerr << "corral list: the running daemon uses " << shorten_home(of_daemon)
              << ", so the list says nothing about what runs\n";
    found.status.reset();
  }
  found.one_command =
      found.status && of_daemon.empty() && !found.status->servers.empty() && options.config.empty();
  if (found.one_command) found.file.clear();
  Result<config::Configuration> configured =
      found.one_command ? config::Configuration{} : config::read(found.file);
  const bool missing = !configured && configured.error().kind == Error::Kind::NotFound;
  if (!configured && (!missing || !options.config.empty())) {
    return refuse(options, found.file, configured.error().message);
  }
  if (configured) found.configuration = std::move(*configured);
  read_registry(options, found);
  const std::vector<ListedServer> servers = list_servers(
      {found.configuration, found.status ? &*found.status : nullptr, found.kept, unix_time_ms()});
  options.json ? print_json(found, servers) : show(found, servers);
  return 0;
}

}  // namespace

Command list_command() {
  auto options = std::make_shared<ListOptions>();
  Command command;
  command.name = "list";
  command.summary = "List the configured servers: state, tools, sharing, last error.";
  command.usage = "corral list [options]";
  command.examples = kExamples;
  command.options = {{"--config", "FILE", "Use this file instead of the daemon's or the default one",
                      set_word(options->config)},
                     {"--json", "", "Print JSON", set_flag(options->json)},
                     runtime_dir_option(options->runtime_dir)};
  command.run = [options](const std::vector<std::string>& args) { return run(*options, args); };
  return command;
}

}  // namespace corral::cli
