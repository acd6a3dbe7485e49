// `corral man`: the manual pages, made from the same data as --help.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "base/words.h"
#include "cli/frame/command.h"
#include "cli/frame/command_texts.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral man ps | man -l -
  corral man --directory /usr/local/share/man/man1     all pages, as files

Without a command: the page of corral itself. `make install` installs all pages.)";

int write_all(const std::vector<Command>& commands, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const auto write = [&directory](const std::string& file, const std::string& page) {
    std::ofstream out(std::filesystem::path(directory) / file);
    return static_cast<bool>(out << page << std::flush);
  };
  bool written = write(man_file(""), man_page(commands));
  for (const Command& command : commands)
    written = written && write(man_file(command.name), man_page(command));
  if (!written)
    return fail("man", "cannot write the pages to " + directory + ": name a directory that you may write to");
  return 0;
}

int run(const std::vector<Command>& commands, const std::string& directory,
        const std::vector<std::string>& args) {
  if (!directory.empty() && args.empty()) return write_all(commands, directory);
  if (args.size() > 1 || !directory.empty()) return fail("man", "give one command, or only --directory DIR");
  std::vector<std::string> names;
  for (const Command& command : commands) {
    names.push_back(command.name);
    if (!args.empty() && command.name == args.front()) {
      std::cout << man_page(command);
      return 0;
    }
  }
  if (!args.empty()) {
    const std::string close = nearest_word(args.front(), names);
    return fail("man", "unknown command '" + args.front() + "'" +
                           (close.empty() ? "" : ": did you mean " + close + "?") + "; see `corral --help`");
  }
  std::cout << man_page(commands);
  return 0;
}

}  // namespace

Command man_command() {
  auto directory = std::make_shared<std::string>();
  Command command;
  command.name = "man";
  command.summary = "Print the manual page of a command, for man(1).";
  command.usage = "corral man [options] [COMMAND]";
  command.examples = kExamples;
  command.options = {
      {"--directory", "DIR", "Write all pages to this directory instead", set_word(*directory)}};
  command.options_anywhere = true;
  command.run = [directory, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    return rest ? run(all_commands(), *directory, *rest) : fail("man", rest.error().message);
  };
  return command;
}

}  // namespace corral::cli
