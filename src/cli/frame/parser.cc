#include "cli/frame/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json/parse.hpp>
#include <cctype>
#include <iostream>
#include <string_view>

#include "base/words.h"
#include "cli/frame/command_texts.h"
#include "cli/frame/help_page.h"

namespace corral::cli {
namespace {

/// A command line, split into the options of the command and everything from its first argument on.
struct Split {
  std::vector<std::string> options;
  std::vector<std::string> command;
  bool after_dashes = false;  // `command` followed a `--`, which is not part of it
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

/// CLI11 cannot stop at the first argument that is not an option, so it never gets the rest.
Result<Split> split(const CLI::App& app, const std::vector<std::string>& arguments) {
  Split result;
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].size() > 1 && arguments[at].front() == '-') {
    const std::string& argument = arguments[at++];
    if (argument == "--") {
      result.after_dashes = true;
      break;
    }
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

/// CLI11 2.1 writes its own usage line, which does not show what follows the options.
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
  std::reverse(parts->options.begin(), parts->options.end());  // CLI11 expects them in reverse
  try {
    app.parse(parts->options);
  } catch (const CLI::CallForHelp&) {
    std::cout << filled_help(app.help());
    return 0;
  } catch (const CLI::ParseError& error) {
    return refuse(std::string(error.what()) + "; see `corral " + command.name + " --help`");
  }
  if (command.options_anywhere && !parts->after_dashes && asks_for_help(command.options, parts->command)) {
    std::cout << filled_help(app.help());
    return 0;
  }
  return command.run(std::move(parts->command));
}

/// `--version` with options is the command.
std::string command_of(const std::string& word) { return word == "--version" ? "version" : word; }

/// NAME, PID, $ID, …: a placeholder, whose value cannot be checked.
bool is_placeholder(const std::string& word) {
  if (word.find_first_of("$<>*") != std::string::npos || word.find("…") != std::string::npos ||
      word.find("...") != std::string::npos) {
    return true;
  }
  return std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isupper(c) != 0; }) &&
         std::none_of(word.begin(), word.end(), [](unsigned char c) { return std::islower(c) != 0; });
}

constexpr const char* kSomeValue = "VALUE";

Command for_checking(Command command) {
  for (Option& option : command.options) {
    const bool names_file = option.value == "FILE" || option.value == "DIR" || option.value == "PATH";
    option.apply = [names_file, apply = std::move(option.apply)](const std::string& value) -> Result<void> {
      return names_file || is_placeholder(value) ? Result<void>() : apply(value);
    };
  }
  return command;
}

bool lacks_its_value(const Command& command, const std::vector<std::string>& args) {
  if (args.empty()) return false;
  const std::vector<OptionShape> shapes = option_shapes(command);
  return std::any_of(shapes.begin(), shapes.end(), [&args](const OptionShape& option) {
    return !option.value.empty() && (option.name == args.back() || option.brief == args.back());
  });
}

/// Checks what follows the options.
std::string objection_to_args(const Command& command, std::vector<std::string> args) {
  if (command.options_anywhere) {
    if (asks_for_help(command.options, args)) return "";
    if (lacks_its_value(command, args)) args.emplace_back(kSomeValue);
    const Result<std::vector<std::string>> rest = apply_late_options(command.options, args);
    if (!rest) return rest.error().message;
    args = *rest;
  } else if (!command.runs_program) {
    for (const std::string& word : args) {
      if (word.starts_with("--")) return "option '" + word + "' follows an argument: put it first";
    }
  }
  if (args.empty() || is_placeholder(args.front())) return "";
  if (command.argument.kind == Argument::Kind::None) return "unexpected argument '" + args.front() + "'";
  const std::vector<std::string>& known = command.argument.choices;
  if (known.empty() || std::find(known.begin(), known.end(), args.front()) != known.end()) return "";
  return "unknown argument '" + args.front() + "'";
}

std::string objection_to_line(const Command& command, const std::vector<std::string>& arguments) {
  CLI::App app(command.summary, command.name);
  for (const Option& option : command.options) add_option(app, option);
  Result<Split> parts = split(app, arguments);
  if (!parts) return parts.error().message;
  if (lacks_its_value(command, parts->options)) parts->options.emplace_back(kSomeValue);
  std::reverse(parts->options.begin(), parts->options.end());
  try {
    app.parse(parts->options);
  } catch (const CLI::CallForHelp&) {
    return "";
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return parts->after_dashes ? "" : objection_to_args(command, std::move(parts->command));
}

}  // namespace

int fail(const std::string& command, const std::string& sentence) {
  std::cerr << "corral" << (command.empty() ? "" : " " + command) << ": " << sentence << "\n";
  return kOwnFailure;
}

int fail_to_write(const std::string& command) {
  return fail(command, "cannot write to stdout (is the pipe closed or the disk full?)");
}

namespace {

int run_chosen(const std::vector<Command>& commands, std::vector<std::string> arguments) {
  if (arguments.size() == 1 && arguments.front() == kCheckLines) return check_lines();
  if (arguments.empty() || arguments.front() == "--help" || arguments.front() == "-h") {
    std::cout << help_page(commands);
    return arguments.empty() ? kOwnFailure : 0;
  }
  if (arguments.size() == 1 && arguments.front() == "--version") {
    std::cout << version_line() << '\n';
    return 0;
  }
  const std::string name = command_of(arguments.front());
  arguments.erase(arguments.begin());
  std::vector<std::string> names;
  for (const Command& command : commands) {
    if (command.name == name) return parse_command(command, arguments);
    names.push_back(command.name);
  }
  const std::string instead = instead_of(name);
  if (!instead.empty()) return fail("", "corral has no command '" + name + "': " + instead);
  return fail("", "unknown command '" + name + "': " + nearest(name, names) + "see `corral --help`");
}

}  // namespace

std::string objection_to(const std::vector<Command>& commands, const std::vector<std::string>& args) {
  if (args.empty() || is_placeholder(args.front())) return "";
  if (args.front() == "--help" || args.front() == "-h" || (args.size() == 1 && args.front() == "--version"))
    return "";
  const std::string name = command_of(args.front());
  for (const Command& command : commands) {
    if (command.name == name) return objection_to_line(for_checking(command), {args.begin() + 1, args.end()});
  }
  return "unknown command '" + name + "'";
}

int check_lines() {
  for (std::string line; std::getline(std::cin, line);) {
    boost::system::error_code error;
    const boost::json::value list = boost::json::parse(line, error);
    if (error || !list.is_array())
      return fail("", std::string(kCheckLines) + ": each line must be a JSON list of strings");
    std::vector<std::string> args;
    for (const boost::json::value& word : list.get_array()) {
      args.push_back(word.is_string() ? std::string(word.get_string()) : kSomeValue);
    }
    const std::string objection = objection_to(all_commands(), args);
    std::cout << (objection.empty() ? "ok" : objection) << '\n';
  }
  return 0;
}

int parse_and_run(const std::vector<Command>& commands, std::vector<std::string> arguments) {
  const std::string name = arguments.empty() || arguments.front().starts_with('-') ? "" : arguments.front();
  const int code = run_chosen(commands, std::move(arguments));
  // Output that was not written is a failure, even if the command succeeded. kOwnFailure was reported
  // already.
  if (code == kOwnFailure || std::cout.flush()) return code;
  return fail_to_write(name);
}

}  // namespace corral::cli
