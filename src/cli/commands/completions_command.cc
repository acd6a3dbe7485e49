// `corral completions`: prints the script with which a shell completes corral's command lines.
#include <iostream>
#include <set>

#include "cli/frame/command.h"
#include "cli/frame/command_texts.h"
#include "cli/frame/daemon_command.h"
#include "config/configuration.h"
#include "daemon/built_in_server.h"
#include "observe/snapshot.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  source <(corral completions bash)                                   for this shell; add it to ~/.bashrc for all
  corral completions zsh > "${fpath[1]}/_corral"
  corral completions fish > ~/.config/fish/completions/corral.fish
  corral completions servers                                          the server names that are completed

`make install` installs the scripts where the shells find them. Server names come from the configuration and from the running
daemon, plus the built-in server `corral`. Names that a shell would have to quote are left out.)";

constexpr std::chrono::milliseconds kPatience{1000};  // a person has pressed Tab and waits

std::set<std::string> server_names() {
  std::set<std::string> names = {daemon::kBuiltInServer};  // built in, so not configured
  if (const Result<config::Configuration> configuration = config::read(config::default_file())) {
    for (const config::Server& server : configuration->servers) {
      if (is_plain_word(server.name)) names.insert(server.name);
    }
  }
  if (const KnownStatus status = status_if_running("", kPatience)) {
    for (const observe::ServerView& server : status->servers) {
      if (is_plain_word(server.name)) names.insert(server.name);
    }
  }
  return names;
}

int run(const std::vector<Command>& commands, const std::vector<std::string>& args) {
  if (args.size() != 1) return fail("completions", "name one shell: bash, zsh or fish");
  if (args.front() == "bash") {
    std::cout << bash_completions(commands);
  } else if (args.front() == "zsh") {
    std::cout << zsh_completions(commands);
  } else if (args.front() == "fish") {
    std::cout << fish_completions(commands);
  } else if (args.front() == "servers") {
    for (const std::string& name : server_names()) std::cout << name << '\n';
  } else {
    return fail("completions", "'" + args.front() + "' is not a supported shell: use bash, zsh or fish");
  }
  return 0;
}

}  // namespace

Command completions_command() {
  Command command;
  command.name = "completions";
  command.summary = "Print the completion script for bash, zsh or fish.";
  command.usage = "corral completions bash|zsh|fish|servers";
  command.examples = kExamples;
  command.argument = {Argument::Kind::Choice, {"bash", "zsh", "fish", "servers"}};
  command.run = [](const std::vector<std::string>& args) { return run(all_commands(), args); };
  return command;
}

}  // namespace corral::cli
