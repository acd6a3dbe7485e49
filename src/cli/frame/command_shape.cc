#include "cli/frame/command_shape.h"

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

Takes takes_of_value(const std::string& value) {
  if (is_choice(value)) return {Takes::Kind::Word, parts_of(value, '|')};
  if (value == "FILE" || value == "PATH") return {Takes::Kind::File};
  if (value == "DIR") return {Takes::Kind::Directory};
  if (value == "SERVER") return {Takes::Kind::Server};
  if (value == "KIND") return {Takes::Kind::Word, event_kinds()};  // too many for the help
  return {};
}

OptionShape option_shape(const Option& option) {
  OptionShape shape;
  for (const std::string& name : parts_of(option.names, ',')) {
    (name.starts_with("--") ? shape.name : shape.brief) = name;
  }
  shape.value = option.value;
  shape.help = option.help;
  shape.takes = takes_of_value(option.value);
  return shape;
}

bool is_sub_command(const std::string& word) {
  return std::all_of(word.begin(), word.end(),
                     [](unsigned char c) { return c == '|' || c == '-' || std::islower(c) != 0; }) &&
         !word.starts_with('-');
}

/// One way of the usage, without the words that name the program and the command: what comes first in it.
void read_way(const std::vector<std::string>& words, CommandShape& shape) {
  for (const std::string& word : words) {
    if (word == "[options]" || word == "[--]") continue;
    if (is_sub_command(word)) {
      shape.first.kind = Takes::Kind::Word;
      for (const std::string& one : parts_of(word, '|')) shape.first.words.push_back(one);
    } else if (shape.first.kind != Takes::Kind::Nothing) {
      // an earlier way has said it
    } else if (word == "NAME" && shape.name != "add") {  // whose name is a new one
      shape.first.kind = Takes::Kind::Server;
    } else if (word == "FILE" || word == "[FILE]") {
      shape.first.kind = Takes::Kind::File;
    } else if (word == "COMMAND" || word == "CLIENT") {
      shape.first.kind = Takes::Kind::Program;
    }
    return;
  }
}

}  // namespace

CommandShape shape_of(const Command& command) {
  CommandShape shape;
  shape.name = command.name;
  shape.summary = command.summary;
  for (const Option& option : command.options) shape.options.push_back(option_shape(option));
  shape.options.push_back({"-h", "--help", "", "Print this help message and exit", {}});
  shape.runs_program = command.usage.find("-- COMMAND") != std::string::npos ||
                       command.usage.find("[--]") != std::string::npos;
  std::string usage = command.usage;
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t end = usage.find(" | ", at);
    std::vector<std::string> words = parts_of(usage.substr(at, end - at), ' ');
    if (words.size() >= 2 && words[0] == "corral" && words[1] == command.name) {
      words.erase(words.begin(), words.begin() + 2);
    }
    read_way(words, shape);
    at = end == std::string::npos ? end : end + 3;
  }
  return shape;
}

bool is_plain_word(std::string_view word) {
  return !word.empty() && word.front() != '-' && word.size() <= 100 &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '@' || c == '/' ||
                  c == '+';
         });
}

}  // namespace corral::cli
