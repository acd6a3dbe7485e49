#include "cli/frame/command_texts.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/screen/event_lines.h"

namespace corral::cli {
namespace {

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

bool is_choice(const std::string& value) {
  return value.find('|') != std::string::npos && std::all_of(value.begin(), value.end(), [](unsigned char c) {
           return c == '|' || c == '-' || std::islower(c) != 0;
         });
}

Argument argument_of_value(const std::string& value) {
  if (is_choice(value)) return {Argument::Kind::Choice, parts_of(value, '|')};
  if (value == "FILE" || value == "PATH") return {Argument::Kind::File};
  if (value == "DIR") return {Argument::Kind::Directory};
  if (value == "SERVER") return {Argument::Kind::Server};
  if (value == "KIND") return {Argument::Kind::Choice, event_kinds()};  // too many for the help
  return {};
}

OptionShape option_shape(const Option& option) {
  OptionShape shape;
  for (const std::string& name : parts_of(option.names, ',')) {
    (name.starts_with("--") ? shape.name : shape.brief) = name;
  }
  shape.value = option.value;
  shape.help = option.help;
  shape.argument = argument_of_value(option.value);
  return shape;
}

}  // namespace

std::vector<OptionShape> option_shapes(const Command& command) {
  std::vector<OptionShape> shapes;
  for (const Option& option : command.options) shapes.push_back(option_shape(option));
  shapes.push_back({"-h", "--help", "", "Print this help message and exit", {}});
  return shapes;
}

bool is_plain_word(std::string_view word) {
  return !word.empty() && word.front() != '-' && word.size() <= 100 &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '@' || c == '/' ||
                  c == '+';
         });
}

}  // namespace corral::cli
