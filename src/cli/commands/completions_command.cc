// `corral completions`: what a shell has to know to complete our command lines.
#include <iostream>
#include <set>

#include "cli/frame/command.h"
#include "cli/frame/completions.h"
#include "cli/frame/daemon_command.h"
#include "config/configuration.h"
#include "daemon/built_in_server.h"
#include "observe/snapshot.h"

#include <boost/json/parse.hpp>

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  source <(corral completions bash)                                   for this shell; in ~/.bashrc for all
  corral completions zsh > "${fpath[1]}/_corral"
  corral completions fish > ~/.config/fish/completions/corral.fish
  corral completions servers                                          the names that are completed

`make install` puts them where the shells look. Names come from the configuration and from the daemon, if one runs, and
corral's own is there always; one that a shell would have to quote is left out.)";

constexpr std::chrono::milliseconds kPatience{1000};  // somebody has pressed Tab

std::set<std::string> server_names() {
  std::set<std::string> names = {daemon::kBuiltInServer};  // which no file and no list of the daemon names
  if (const Result<config::Configuration> configuration = config::read(config::default_file())) {
    for (const config::Server& server : configuration->servers) {
      if (is_plain_word(server.name)) names.insert(server.name);
    }
  }
  for (const observe::ServerView& server : observe::read_status(status_or_null("", kPatience)).servers) {
    if (is_plain_word(server.name)) names.insert(server.name);
  }
  return names;
}

int run(const std::vector<Command>& commands, const std::vector<std::string>& args) {
  if (args.size() != 1) return fail("completions", "name one shell: bash, zsh or fish");
  std::vector<CommandShape> shapes;
  shapes.reserve(commands.size());
  for (const Command& command : commands) shapes.push_back(shape_of(command));
  if (args.front() == "bash") {
    std::cout << bash_completions(shapes);
  } else if (args.front() == "zsh") {
    std::cout << zsh_completions(shapes);
  } else if (args.front() == "fish") {
    std::cout << fish_completions(shapes);
  } else if (args.front() == "servers") {
    for (const std::string& name : server_names()) std::cout << name << '\n';
  } else {
    return fail("completions", "'" + args.front() + "' is not known: write bash, zsh or fish");
  }
  return 0;
}

}  // namespace

Command completions_command() {
  Command command;
  command.name = "completions";
  command.summary = "Print what bash, zsh or fish need to complete corral's commands.";
  command.usage = "corral completions bash|zsh|fish|servers";
  command.examples = kExamples;
  command.run = [](const std::vector<std::string>& args) { return run(all_commands(), args); };
  return command;
}

}  // namespace corral::cli
