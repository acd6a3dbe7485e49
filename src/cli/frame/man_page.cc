
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <sstream>

#include "cli/frame/command_texts.h"
#include "version.h"

namespace corral::cli {
namespace {

/// Removes the first code point and returns it. The texts are our own, so invalid UTF-8 need only be
/// harmless.
std::uint32_t pop_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  std::size_t length = 1;
  std::uint32_t point = first;
  if (first >= 0xF0) {
    length = 4;
    point = first & 0x07U;
  } else if (first >= 0xE0) {
    length = 3;
    point = first & 0x0FU;
  } else if (first >= 0xC0) {
    length = 2;
    point = first & 0x1FU;
  }
  length = std::min(length, text.size());
  for (std::size_t i = 1; i < length; ++i) {
    point = (point << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  text.remove_prefix(length);
  return point;
}

/// Escapes the text so that nothing in it is a request, an escape sequence, or a hyphen that allows a line
/// break.
std::string roff(std::string_view text) {
  std::string escaped;
  if (text.starts_with('.') || text.starts_with('\'')) escaped = "\\&";
  while (!text.empty()) {
    const std::uint32_t point = pop_code_point(text);
    if (point == '\\') {
      escaped += "\\e";
    } else if (point == '-') {
      escaped += "\\-";
    } else if (point == '\'') {
      escaped += "\\(aq";
    } else if (point == '`') {
      escaped += "\\(ga";
    } else if (point == '^') {
      escaped += "\\(ha";
    } else if (point == '~') {
      escaped += "\\(ti";
    } else if (point < 0x80) {
      escaped += static_cast<char>(point);
    } else {
      char name[16];
      std::snprintf(name, sizeof name, "\\[u%04X]", point);
      escaped += name;
    }
  }
  return escaped;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }

std::string title_line(const std::string& name) {
  std::string upper;
  for (const char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return ".TH " + roff(upper) + " 1 \"" + roff(kBuildDate) + "\" \"corral " + roff(kVersion) +
         "\" \"User Commands\"\n";
}

std::string name_section(const std::string& name, std::string summary) {
  if (summary.ends_with('.')) summary.pop_back();
  return ".SH NAME\n" + roff(name) + " \\- " + roff(summary) + "\n";
}

std::string options_section(const Command& command) {
  std::string text = ".SH OPTIONS\n";
  for (const OptionShape& option : option_shapes(command)) {
    text += ".TP\n";
    if (!option.brief.empty()) text += bold(option.brief) + ", ";
    text += bold(option.name) + (option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR") + "\n" +
            roff(option.help) + "\n";
  }
  return text;
}

/// The text below the options in --help: indented lines are examples, the others are prose.
std::string notes_section(const std::string& notes) {
  std::string text;
  bool example = false;
  std::istringstream lines(notes);
  const auto end_example = [&] {
    if (example) text += ".fi\n";
    example = false;
  };
  for (std::string line; std::getline(lines, line);) {
    if (line == "Examples:") {
      end_example();
      text += ".SH EXAMPLES\n";
    } else if (line.starts_with("  ")) {
      if (!example) text += ".nf\n";
      example = true;
      text += roff(line) + "\n";
    } else if (line.empty()) {
      end_example();
      text += text.ends_with(".SH EXAMPLES\n") ? "" : ".PP\n";
    } else {
      end_example();
      if (text.empty()) text += ".SH NOTES\n";
      if (line.starts_with("Exit code:") && !text.ends_with(".PP\n")) text += ".PP\n";
      text += roff(line) + "\n";
    }
  }
  end_example();
  return text.ends_with(".PP\n") ? text.substr(0, text.size() - 4) : text;
}

}  // namespace

std::string man_file(const std::string& command) {
  return command.empty() ? "corral.1" : "corral-" + command + ".1";
}

std::string man_page(const Command& command) {
  const std::string name = "corral-" + command.name;
  return title_line(name) + name_section(name, command.summary) + ".SH SYNOPSIS\n" + bold(command.usage) +
         "\n" + options_section(command) + notes_section(command.examples) + ".SH SEE ALSO\n" +
         bold("corral") + "(1)\n";
}

std::string man_page(const std::vector<Command>& commands) {
  std::string text = title_line("corral") +
                     name_section("corral", "run MCP servers and end them with their sessions") +
                     ".SH SYNOPSIS\n" + bold("corral COMMAND [options]") + "\n.br\n" + bold("corral --help") +
                     "\n.br\n" + bold("corral --version") +
                     "\n.SH DESCRIPTION\n"
                     "corral runs MCP servers and ends all their processes when the session ends.\n"
                     ".SH COMMANDS\n";
  for (const Command& command : commands) {
    text += ".TP\n" + bold("corral-" + command.name) + "(1)\n" + roff(command.summary) + "\n";
  }
  return text + ".SH OPTIONS\n.TP\n" + bold("-h") + ", " + bold("--help") + "\nList the commands\n.TP\n" +
         bold("--version") + "\nPrint version and build date\n";
}

}  // namespace corral::cli
