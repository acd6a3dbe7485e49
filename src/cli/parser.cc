#include "cli/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string_view>

#include "base/nearest.h"
#include "version.h"

namespace corral::cli {
namespace {

/// What stands before the server's command, and the command.
struct Split {
  std::vector<std::string> options;
  std::vector<std::string> command;
};

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string best = nearest_word(word, candidates);
  return best.empty() ? "" : "did you mean " + best + "? ";
}

std::string unknown_option(const CLI::App& app, const std::string& option) {
  std::vector<std::string> known;
  for (const CLI::Option* candidate : app.get_options()) {
    for (const std::string& name : candidate->get_lnames()) known.push_back("--" + name);
  }
  return "unknown option '" + option + "': " + nearest(option, known) + "see `corral " + app.get_name() +
         " --help`";
}

/// CLI11 cannot stop at the first word that is no option and leave the rest alone, so the rest never reaches
/// it.
Result<Split> split(const CLI::App& app, const std::vector<std::string>& arguments) {
  Split result;
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].size() > 1 && arguments[at].front() == '-') {
    const std::string& argument = arguments[at++];
    if (argument == "--") break;
    const std::size_t equals = argument.find('=');
    const CLI::Option* option = app.get_option_no_throw(argument.substr(0, equals));
    if (option == nullptr) return Error{unknown_option(app, argument.substr(0, equals))};
    result.options.push_back(argument);
    const bool value_follows = option->get_items_expected_max() > 0 && equals == std::string::npos;
    if (value_follows && at < arguments.size()) result.options.push_back(arguments[at++]);
  }
  result.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  return result;
}

void add_option(CLI::App& app, const Option& option) {
  const std::string name = option.names.substr(option.names.rfind(',') + 1);
  const auto apply = [&option, name](const std::string& value) {
    const Result<void> applied = option.apply(value);
    if (!applied) throw CLI::ValidationError(name, applied.error().message);
  };
  if (option.value.empty()) {
    app.add_flag_callback(
        option.names, [apply] { apply(""); }, option.help);
    return;
  }
  const auto apply_all = [apply](const std::vector<std::string>& values) {
    for (const std::string& value : values) apply(value);
    return true;
  };
  app.add_option(option.names, CLI::callback_t(apply_all), option.help)
      ->type_name(option.value)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// CLI11 2.1 writes its own usage line, which knows nothing of the command behind the options.
class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) { column_width(28); }
  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: " + usage_ + "\n\n"; }

 private:
  std::string usage_;
};

int parse_command(const Command& command, const std::vector<std::string>& arguments) {
  CLI::App app(command.summary, command.name);
  app.footer(command.examples);
  app.formatter(std::make_shared<HelpFormatter>(command.usage));
  for (const Option& option : command.options) add_option(app, option);
  Result<Split> parts = split(app, arguments);
  const auto refuse = [&command](const std::string& sentence) {
    fail(command.name, sentence);
    return command.usage_code;
  };
  if (!parts) return refuse(parts.error().message);
  std::reverse(parts->options.begin(), parts->options.end());  // the order that CLI11 wants
  try {
    app.parse(parts->options);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return 0;
  } catch (const CLI::ParseError& error) {
    return refuse(std::string(error.what()) + "; see `corral " + command.name + " --help`");
  }
  return command.run(std::move(parts->command));
}

void print_help(const std::vector<Command>& commands) {
  std::cout << "corral keeps the processes of MCP servers: none outlives the session that owns it.\n\n"
               "Usage: corral COMMAND [options]\n\nCommands:\n";
  std::size_t widest = 0;
  for (const Command& command : commands) widest = std::max(widest, command.name.size());
  for (const Command& command : commands) {
    std::cout << "  " << command.name << std::string(widest + 2 - command.name.size(), ' ') << command.summary
              << "\n";
  }
  std::cout << "\nOptions:\n  -h, --help    this text\n  --version     version and build date\n\n"
               "`corral COMMAND --help` says more, with examples.\n";
}

}  // namespace

int fail(const std::string& command, const std::string& sentence) {
  std::cerr << "corral" << (command.empty() ? "" : " " + command) << ": " << sentence << "\n";
  return kOwnFailure;
}

int parse_and_run(const std::vector<Command>& commands, std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h" ||
      arguments.front() == "help") {
    print_help(commands);
    return arguments.empty() ? kOwnFailure : 0;
  }
  if (arguments.front() == "--version") {
    std::cout << "corral " << kVersion << " (build " << kBuildDate << ")\n";
    return 0;
  }
  const std::string name = arguments.front();
  arguments.erase(arguments.begin());
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.name == name) return parse_command(command, arguments);
    names.push_back(command.name);
  }
  return fail("", "unknown command '" + name + "': " + nearest(name, names) + "see `corral --help`");
}

}  // namespace corral::cli
