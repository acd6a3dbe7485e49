
#include "cli/frame/command_texts.h"

namespace corral::cli {
namespace {

using ArgumentKind = Argument::Kind;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

bool is_completed(const Argument& argument) {
  return argument.kind != ArgumentKind::None && argument.kind != ArgumentKind::Other;
}

// ---- bash

constexpr const char* kBashHead = R"(# Completions of corral for bash, written by `corral completions bash`.
_corral() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local words='' kind='' options='' i name
  COMPREPLY=()
)";

constexpr const char* kBashTail = R"(  if [[ $current == -* ]]; then words=$options kind=''; fi
  for name in $words; do
    if [[ $name == "$current"* ]]; then COMPREPLY+=("$name"); fi
  done
  case $kind in
    server)
      while IFS= read -r name; do
        if [[ $name == "$current"* ]]; then COMPREPLY+=("$name"); fi
      done < <("${COMP_WORDS[0]}" completions servers 2>/dev/null)
      ;;
    file) compopt -o default 2>/dev/null ;;
    directory) compopt -o dirnames 2>/dev/null ;;
    program) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
  esac
}
complete -F _corral corral
)";

std::string bash_kind(const Argument& argument) {
  switch (argument.kind) {
    case ArgumentKind::Server: return "kind=server";
    case ArgumentKind::File: return "kind=file";
    case ArgumentKind::Directory: return "kind=directory";
    case ArgumentKind::Program: return "kind=program";
    case ArgumentKind::Choice: return "words='" + joined(argument.choices) + "'";
    case ArgumentKind::Other:
    case ArgumentKind::None: break;
  }
  return ":";
}

std::string bash_command(const Command& command) {
  std::vector<std::string> names;
  std::string values;
  for (const OptionShape& option : option_shapes(command)) {
    for (const std::string& name : {option.brief, option.name}) {
      if (!name.empty()) names.push_back(name);
    }
    if (option.value.empty()) continue;
    const std::string pattern = option.brief.empty() ? option.name : option.brief + " | " + option.name;
    values += "        " + pattern + ") " + bash_kind(option.argument) + "; options='' ;;\n";
  }
  return "    " + command.name + ")\n      options='" + joined(names) + "'\n      case $previous in\n" +
         values + "        *) " + bash_kind(command.argument) + " ;;\n      esac\n      ;;\n";
}

}  // namespace

std::string bash_completions(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  std::string cases;
  for (const Command& command : commands) {
    names.push_back(command.name);
    cases += bash_command(command);
  }
  // What follows `--` is the command line of another program.
  return std::string(kBashHead) +
         "  for ((i = 2; i < COMP_CWORD; ++i)); do\n"
         "    if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
         "      mapfile -t COMPREPLY < <(compgen -c -- \"$current\")\n"
         "      return\n"
         "    fi\n"
         "  done\n"
         "  if ((COMP_CWORD < 2)); then\n"
         "    words='" +
         joined(names) + "'\n    options='--help --version'\n  else\n    case ${COMP_WORDS[1]} in\n" + cases +
         "    esac\n  fi\n" + kBashTail;
}

// ---- zsh

namespace {

/// For single quotes in _arguments and _describe.
std::string zsh_text(std::string text) {
  for (const char* const special : {"\\", "[", "]", ":"}) {
    text = replaced(std::move(text), special, std::string("\\") + special);
  }
  return replaced(std::move(text), "'", "'\\''");
}

std::string zsh_action(const Argument& argument) {
  switch (argument.kind) {
    case ArgumentKind::Server: return "_corral_servers";
    case ArgumentKind::File: return "_files";
    case ArgumentKind::Directory: return "_files -/";
    case ArgumentKind::Program: return "_command_names -e";
    case ArgumentKind::Choice: return "(" + joined(argument.choices) + ")";
    case ArgumentKind::Other:
    case ArgumentKind::None: break;
  }
  return " ";
}

std::string zsh_option(const OptionShape& option, const std::string& name) {
  std::string text = "'*" + name + (option.value.empty() ? "" : "=") + "[" + zsh_text(option.help) + "]";
  if (!option.value.empty()) text += ":" + zsh_text(option.value) + ":" + zsh_action(option.argument);
  return text + "'";
}

std::string zsh_command(const Command& command) {
  std::string text = "    " + command.name + ")\n      _arguments -S \\\n";
  for (const OptionShape& option : option_shapes(command)) {
    for (const std::string& name : {option.name, option.brief}) {
      if (!name.empty()) text += "        " + zsh_option(option, name) + " \\\n";
    }
  }
  text += "        '1: :" + zsh_action(command.argument) +
          "' \\\n        '*: :" + (command.runs_program ? "_normal" : "_default") + "'\n      ;;\n";
  return text;
}

}  // namespace

std::string zsh_completions(const std::vector<Command>& commands) {
  std::string names;
  std::string cases;
  for (const Command& command : commands) {
    names += "    '" + command.name + ":" + zsh_text(command.summary) + "'\n";
    cases += zsh_command(command);
  }
  return "#compdef corral\n# Completions of corral for zsh, written by `corral completions zsh`.\n"
         "_corral_servers() {\n"
         "  local -a servers\n"
         "  servers=(${(f)\"$(_call_program servers corral completions servers 2>/dev/null)\"})\n"
         "  compadd -a servers\n"
         "}\n"
         "_corral() {\n  local -a commands\n  commands=(\n" +
         names +
         "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    return\n  fi\n"
         "  local name=$words[2]\n  shift words\n  ((CURRENT--))\n  case $name in\n" +
         cases +
         "  esac\n}\nif [[ $funcstack[1] == _corral ]]; then _corral \"$@\"; else compdef _corral corral; "
         "fi\n";
}

// ---- fish

namespace {

std::string fish_text(std::string text) {
  return replaced(replaced(std::move(text), "\\", "\\\\"), "'", "\\'");
}

std::string fish_words(const Argument& argument) {
  switch (argument.kind) {
    case ArgumentKind::Server: return " -xa '(corral completions servers 2>/dev/null)'";
    case ArgumentKind::File: return " -rF";
    case ArgumentKind::Directory: return " -xa '(__fish_complete_directories)'";
    case ArgumentKind::Program: return " -xa '(__fish_complete_command)'";
    case ArgumentKind::Choice: return " -xa '" + joined(argument.choices) + "'";
    case ArgumentKind::Other:
    case ArgumentKind::None: break;
  }
  return " -x";
}

}  // namespace

std::string fish_completions(const std::vector<Command>& commands) {
  std::string text =
      "# Completions of corral for fish, written by `corral completions fish`.\n"
      "complete -c corral -f\n"
      "complete -c corral -n __fish_use_subcommand -l version -d 'Print version and build date'\n"
      "complete -c corral -n __fish_use_subcommand -s h -l help -d 'List the commands'\n";
  for (const Command& command : commands) {
    text += "complete -c corral -n __fish_use_subcommand -a " + command.name + " -d '" +
            fish_text(command.summary) + "'\n";
    const std::string here = "complete -c corral -n '__fish_seen_subcommand_from " + command.name + "'";
    if (is_completed(command.argument)) text += here + fish_words(command.argument) + "\n";
    for (const OptionShape& option : option_shapes(command)) {
      text += here + (option.brief.empty() ? "" : " -s " + option.brief.substr(1)) + " -l " +
              option.name.substr(std::min<std::size_t>(2, option.name.size())) +
              (option.value.empty() ? "" : fish_words(option.argument)) + " -d '" + fish_text(option.help) +
              "'\n";
    }
  }
  return text;
}

}  // namespace corral::cli
