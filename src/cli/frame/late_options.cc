#include "cli/frame/parser.h"

#include <fstream>
#include <string_view>

#include "base/words.h"

namespace corral::cli {
namespace {

bool has_name(const Option& option, std::string_view wanted) {
  std::string_view names = option.names;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    if (name == wanted) return true;
    names.remove_prefix(name.size() == names.size() ? names.size() : name.size() + 1);
  }
  return false;
}

const Option* find_option(const std::vector<Option>& options, std::string_view name) {
  for (const Option& option : options) {
    if (has_name(option, name)) return &option;
  }
  return nullptr;
}

Error unknown(const std::vector<Option>& options, const std::string& name) {
  std::vector<std::string> known;
  known.reserve(options.size());
  for (const Option& option : options) known.push_back(option.names.substr(option.names.rfind(',') + 1));
  const std::string close = nearest_word(name, known);
  const std::string hint = close.empty() ? "see --help" : "did you mean " + close + "?";
  return Error{"unknown option '" + name + "': " + hint};
}

}  // namespace

bool came_after_dashes(const std::vector<std::string>& args) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> line;
  for (std::string word; std::getline(file, word, '\0');) line.push_back(word);
  return line.size() > args.size() && line[line.size() - args.size() - 1] == "--";
}

bool asks_for_help(const std::vector<Option>& options, const std::vector<std::string>& args) {
  for (std::size_t i = 0; i < args.size() && args[i] != "--"; ++i) {
    if (args[i] == "--help" || args[i] == "-h") return true;
    const Option* option = find_option(options, args[i]);
    if (option != nullptr && !option->value.empty()) ++i;  // its value
  }
  return false;
}

Result<std::vector<std::string>> apply_late_options(const std::vector<Option>& options,
                                                    const std::vector<std::string>& args) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& word = args[i];
    if (word.size() < 2 || word.front() != '-') {
      rest.push_back(word);
      continue;
    }
    if (word == "--") {
      rest.insert(rest.end(), args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      break;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Option* option = find_option(options, name);
    if (option == nullptr) return unknown(options, name);
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (option->value.empty() && equals != std::string::npos) return Error{name + " does not take a value"};
    if (!option->value.empty() && equals == std::string::npos) {
      if (++i == args.size()) return Error{name + " requires a value: " + name + " " + option->value};
      value = args[i];
    }
    const Result<void> applied = option->apply(value);
    if (!applied) return Error{name + ": " + applied.error().message};
  }
  return rest;
}

}  // namespace corral::cli
