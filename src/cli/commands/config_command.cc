// `corral config`: checks and shows the daemon's configuration, or prints where it is.
#include <unistd.h>

#include <boost/json.hpp>
#include <iostream>
#include <memory>

#include "base/ip_address.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/entry_check.h"
#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/answer_tables.h"
#include "cli/screen/page.h"
#include "cli/screen/server_list.h"
#include "config/configuration.h"
#include "config/show.h"

namespace corral::cli {
namespace {

using config::Configuration;
using config::Server;

constexpr const char* kExamples = R"(Examples:
  corral config check                   the configured servers, and what is wrong
  corral config check --all             the same with every default
  corral config check --json .mcp.json  another file, as JSON
  corral config path                    the path of the configuration file

`check` shows what differs from the defaults, with secrets hidden, and warns about settings without effect. It starts and
changes nothing. The administrator's file, /etc/corral/config.json, applies below yours and may lock keys.
Exit code: 0 if the file can be used; 1 if not, or if it sets a locked key. docs/configuration.md explains every key.)";

struct ConfigOptions {
  std::string file;
  bool json = false;
  bool all = false;
};

constexpr std::size_t kLabelWidth = 11;

/// Entries of the machine's file say so, unless it is the only file.
std::string title_of(const Server& server, const Configuration& configuration) {
  const bool elsewhere = server.file != configuration.file;
  return printable(server.name) + (server.disabled ? " (disabled)" : "") +
         (elsewhere ? " (" + printable(server.file) + ":" + std::to_string(server.line) + ")" : "");
}

/// As it is if it fits, else wrapped; under the label where a long label leaves too little room beside it.
void show_line(Page& page, const std::string& label, const std::string& text) {
  constexpr std::size_t kLeastRoom = 40;
  if (width_of(label) + width_of(text) <= page.style().width) return page.command(label, text);
  if (width_of(label) + kLeastRoom <= page.style().width) return page.paragraph(label, text);
  page.paragraph("", label);
  page.paragraph("    ", text);
}

void show_lines(Page& page, const std::string& title, const std::vector<config::ShownLine>& lines) {
  page.blank();
  page.heading(title);
  for (const config::ShownLine& line : lines) {
    std::string label = "  " + std::string(line.label);
    label.resize(kLabelWidth, ' ');
    show_line(page, label, line.text);
  }
}

/// A server with nothing but a command has one line; such lines stand together.
void show_servers(Page& page, const Configuration& configuration, config::Lines which) {
  bool after_line = false;
  for (const Server& server : configuration.servers) {
    const std::vector<config::ShownLine> lines = config::lines_of(server, which);
    const bool one_line = which == config::Lines::Changed && lines.size() == 1;
    if (one_line && !after_line) page.blank();
    const std::string title = title_of(server, configuration);
    if (one_line) show_line(page, title + ": ", lines.front().text);
    if (!one_line) show_lines(page, title, lines);
    after_line = one_line;
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

/// One setting of the daemon: what it is now, and whether that differs from the default.
struct Setting {
  std::string text;
  bool changed = false;
};

std::string joined(const std::vector<Setting>& settings, const char* joiner, config::Lines which) {
  std::string text;
  for (const Setting& setting : settings) {
    const bool shown = which == config::Lines::All ? !setting.text.empty() : setting.changed;
    if (!shown) continue;
    text += (text.empty() ? "" : joiner) + setting.text;
  }
  return text;
}

std::string daemon_text(const config::Options& options, config::Lines which) {
  const config::Options usual;
  return joined(
      {{"messages up to " + show_size(options.line_cap), options.line_cap != usual.line_cap},
       {"drains for " + config::show_duration(options.drain), options.drain != usual.drain},
       {"stays for " + config::show_duration(options.linger) + " without sessions",
        options.linger != usual.linger},
       {"runs up to " + std::to_string(options.max_instances) + " instances",
        options.max_instances != usual.max_instances},
       {"keeps " + std::to_string(options.keep) + " idle ones per server", options.keep != usual.keep}},
      ", ", which);
}

std::string watch_text(const config::Options& options, config::Lines which) {
  const config::Options usual;
  const config::WatchRules& watch = options.watch;
  const auto days = std::chrono::duration_cast<std::chrono::hours>(options.history).count() / 24;
  return joined({{watch.interval.count() == 0 ? "never" : "every " + config::show_duration(watch.interval),
                  watch.interval != usual.watch.interval},
                 {std::string("servers that corral did not start: ") + config::name_of(watch.foreign),
                  watch.foreign != usual.watch.foreign},
                 {"events and ended sessions are kept for " + counted(static_cast<std::size_t>(days), "day"),
                  options.history != usual.history},
                 {options.min_version.empty()
                      ? ""
                      : "only clients of corral " + options.min_version + " or later are served",
                  !options.min_version.empty()}},
                "; ", which);
}

void show_daemon(Page& page, const config::Options& options, config::Lines which) {
  const std::string daemon = daemon_text(options, which);
  const std::string watch = watch_text(options, which);
  const bool http = which == config::Lines::All || options.http != config::Http{};
  if (!daemon.empty() || !watch.empty() || http) page.blank();
  if (!daemon.empty()) page.paragraph("daemon: ", daemon);
  if (http) page.paragraph("http: ", http_text(options.http));
  if (!watch.empty()) page.paragraph("watch: ", watch);
}

/// What `corral add` says about an entry, too: a command or variables that this shell cannot resolve (a
/// client's environment may differ), and credentials in plain text.
std::vector<std::string> doubts_about_all(const Configuration& configuration) {
  std::vector<std::string> doubts;
  const std::vector<std::string> environment = client_environment();
  for (const Server& server : configuration.servers) {
    const std::string file = shorten_home(server.file);
    if (server.disabled || server.built_in) continue;
    for (std::string& doubt : doubts_about(server, environment)) doubts.push_back(std::move(doubt));
    for (std::string& warning : credential_warnings(server, file)) doubts.push_back(std::move(warning));
  }
  return doubts;
}

/// What the administrator has set, and what nobody else can change.
void show_machine(Page& page, const Configuration& configuration) {
  if (configuration.machine_file.empty()) return;
  const std::string file = printable(configuration.machine_file);
  std::string set;
  for (const auto& [key, place] : configuration.option_places) {
    if (place.file != configuration.machine_file) continue;
    set += (set.empty() ? "" : ", ") + key + " (line " + std::to_string(place.line) + ")";
  }
  std::string locked;
  for (const auto& [key, place] : configuration.locks) {
    locked += (locked.empty() ? "" : ", ") + printable(key) + " (line " + std::to_string(place.line) + ")";
  }
  if (!set.empty() || !locked.empty()) page.blank();
  if (!set.empty()) page.paragraph("", file + " sets " + set);
  if (!locked.empty()) page.paragraph("", file + " locks " + locked);
}

void show(const Configuration& configuration, config::Lines which) {
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  page.paragraph("", shown_counts(configuration));
  show_servers(page, configuration, which);
  show_daemon(page, configuration.options, which);
  show_machine(page, configuration);
  if (!configuration.warnings.empty() || !configuration.overruled.empty()) page.blank();
  for (const std::string& error : configuration.overruled) page.paragraph("error: ", printable(error));
  for (const std::string& warning : configuration.warnings) {
    page.paragraph("warning: ", printable(warning));
  }
  if (which == config::Lines::All) return;
  page.blank();
  page.paragraph("", "Everything else has its default; `corral config check --all` shows that, too.");
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
  for (std::string& text : doubts_about_all(*configuration)) {
    configuration->warnings.push_back(std::move(text));
  }
  if (options.json) {
    std::cout << config::to_json(*configuration) << "\n";
  } else {
    show(*configuration, options.all ? config::Lines::All : config::Lines::Changed);
  }
  return configuration->overruled.empty() ? 0 : 1;
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
      {"--all", "", "Show every setting in force, also those that have their default",
       set_flag(options->all)},
      {"--json", "", "Print JSON: always every setting", set_flag(options->json)}};
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    return rest ? run(*options, *rest) : fail("config", rest.error().message);
  };
  return command;
}

}  // namespace corral::cli
