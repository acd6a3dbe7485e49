// `corral config`: checks and shows the daemon's configuration, or prints where it is.
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/ip_address.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/answer_tables.h"
#include "cli/screen/page.h"
#include "config/configuration.h"
#include "config/show.h"

namespace corral::cli {
namespace {

using config::Configuration;
using config::Server;

constexpr const char* kExamples = R"(Examples:
  corral config check                   the configured servers, and what is wrong
  corral config check --json .mcp.json  another file, as JSON
  corral config path                    the path of the configuration file

`check` shows the settings in force, with secrets hidden, and warns about settings without effect. It starts and changes
nothing. Exit code: 0 if the file can be used, 1 if not. docs/configuration.md explains every key.)";

struct ConfigOptions {
  std::string file;
  bool json = false;
};

constexpr std::size_t kLabelWidth = 11;

void show_server(Page& page, const Server& server) {
  page.blank();
  page.heading(server.name + (server.disabled ? " (disabled)" : ""));
  for (const config::ShownLine& line : config::lines_of(server)) {
    std::string label = "  " + std::string(line.label);
    label.resize(kLabelWidth, ' ');
    line.verbatim ? page.command(label, line.text) : page.paragraph(label, line.text);
  }
}

std::string http_text(const config::Http& http) {
  if (!http.port) return "a local socket only; \"corral\": {\"http\": {\"port\": 8765}} opens a TCP port";
  const std::optional<IpAddress> address = parse_ip_address(http.bind);
  std::string text = address ? address->host() : http.bind;
  text += *http.port == 0 ? ", any free port" : ":" + std::to_string(*http.port);
  if (address && !address->is_loopback()) text += ", which requires a token (`corral token create NAME`)";
  for (const std::string& host : http.hosts) text += ", also as " + host;
  for (const std::string& origin : http.origins) text += ", for web pages from " + origin;
  return text + "; sessions end after " + config::show_duration(http.idle) + " without use";
}

std::string watch_text(const config::Options& options) {
  const config::WatchRules& watch = options.watch;
  std::string text = watch.interval.count() == 0 ? "never" : "every " + config::show_duration(watch.interval);
  text += std::string("; servers that corral did not start: ") + config::name_of(watch.foreign);
  const auto days = std::chrono::duration_cast<std::chrono::hours>(options.history).count() / 24;
  text += "; events and ended sessions are kept for " + counted(static_cast<std::size_t>(days), "day");
  if (!options.min_version.empty())
    text += "; only clients of corral " + options.min_version + " or later are served";
  return text;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  // The daemon sets this variable for every client, to the project root.
  std::error_code unknown;
  environment.push_back("CORRAL_ROOT=" + std::filesystem::current_path(unknown).string());
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

/// Variables that are missing in this shell, so that a server would not start from it. A client's environment
/// may differ.
std::vector<std::string> missing_variables(const Configuration& configuration) {
  std::vector<std::string> missing;
  const std::vector<std::string> environment = own_environment();
  for (const Server& server : configuration.servers) {
    const Result<Server> expanded = config::expand(server, environment);
    if (!expanded && !server.disabled) missing.push_back("in this shell: " + expanded.error().message);
  }
  return missing;
}

void show(const Configuration& configuration) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  const std::size_t servers = configuration.servers.size();
  page.paragraph("", printable(shorten_home(configuration.file)) + ": " + counted(servers, "server"));
  for (const Server& server : configuration.servers) show_server(page, server);
  page.blank();
  const config::Options& options = configuration.options;
  page.paragraph("daemon: ", "messages up to " + show_size(options.line_cap) + ", drains for " +
                                 config::show_duration(options.drain) + ", stays for " +
                                 config::show_duration(options.linger) + " without sessions, runs up to " +
                                 std::to_string(options.max_instances) + " instances, keeps " +
                                 std::to_string(options.keep) + " idle ones per server");
  page.paragraph("http: ", http_text(options.http));
  page.paragraph("watch: ", watch_text(options));
  for (const std::string& warning : configuration.warnings) {
    page.paragraph("warning: ", printable(warning));
  }
}

int check(const ConfigOptions& options) {
  Result<Configuration> configuration = config::read(options.file);
  if (!configuration) {
    const std::string message = printable(configuration.error().message);
    if (options.json) {
      std::cout << boost::json::object{{"file", printable(options.file)}, {"error", message}} << "\n";
    } else {
      std::cerr << "corral config: " << message << "\n";
    }
    return 1;
  }
  for (std::string& text : missing_variables(*configuration)) {
    configuration->warnings.push_back(std::move(text));
  }
  if (options.json) {
    std::cout << config::to_json(*configuration) << "\n";
  } else {
    show(*configuration);
  }
  return 0;
}

int run(ConfigOptions& options, const std::vector<std::string>& args) {
  constexpr const char* kUsage = "use `corral config check [FILE]` or `corral config path`";
  const bool default_file = options.file.empty();
  if (default_file) options.file = config::default_file();
  if (args.empty()) return fail("config", std::string("subcommand missing: ") + kUsage);
  int code = 0;
  if (args.front() == "path" && args.size() == 1) {
    std::cout << options.file << "\n";
  } else if (args.front() == "check" && args.size() <= 2) {
    if (args.size() == 2 && !default_file) return fail("config", "two files given: omit --config or FILE");
    if (args.size() == 2) options.file = args[1];
    code = check(options);
  } else {
    return fail("config", "unexpected argument '" + args.back() + "': " + kUsage);
  }
  return code;
}

}  // namespace

Command config_command() {
  auto options = std::make_shared<ConfigOptions>();
  Command command;
  command.name = "config";
  command.summary = "Check the daemon's configuration, or print where it is.";
  command.usage = "corral config check [options] [FILE] | corral config path";
  command.examples = kExamples;
  command.argument = {Argument::Kind::Choice, {"check", "path"}};
  command.options = {
      {"--config", "FILE", "Use this file instead of the default one", set_word(options->file)},
      {"--json", "", "Print JSON", set_flag(options->json)}};
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    return rest ? run(*options, *rest) : fail("config", rest.error().message);
  };
  return command;
}

}  // namespace corral::cli
