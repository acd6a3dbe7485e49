// `corral remove`: removes a server from the configuration.
#include <iostream>
#include <memory>

#include "cli/commands/config_change.h"
#include "cli/frame/command.h"
#include "cli/frame/parser.h"
#include "config/configuration.h"
#include "config/file.h"
#include "config/locks.h"
#include "config/removal.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral remove files
  corral remove files --config ./corral.json

Removes the server from the file, with the comment lines directly above it. The rest of the file does not change, and the
old version is kept next to it. A running daemon applies the change: it ends the server's sessions and instances.
Exit code: 0, or 1 if nothing was changed.)";

/// A server that is not in the user's file may be in the administrator's, which this command does not change.
Error or_of_machine(const std::string& name, const Error& error) {
  const Result<config::Configuration> machine = config::read_machine();
  const config::Server* const there = machine ? machine->find(name) : nullptr;
  if (there == nullptr || error.kind != Error::Kind::NotFound) return error;
  const bool locked = machine->lock_of(config::key_of_server(name)) != nullptr;
  return Error{"the server '" + name + "' is in " + config::FilePlace{there->file, there->line}.text() +
               ", for every user of this machine; ask its administrator to remove it" +
               (locked ? "." : ", or replace it for yourself with `corral add " + name + " -- COMMAND`.")};
}

int remove(const ConfigChange& change, const std::string& name) {
  // Checked first, because change_configuration creates the directory if there is none.
  const Result<config::FileText> there = config::read_text(change.config);
  if (!there) return refuse_change("remove", or_of_machine(name, there.error()).message);
  const auto rewrite = [&](const std::string& old) {
    Result<std::string> text = config::remove_server(old, change.config, name);
    return text ? std::move(text) : or_of_machine(name, text.error());
  };
  return change_configuration(change, rewrite, [&] { return "Removed " + name + " from"; });
}

}  // namespace

Command remove_command() {
  auto change = std::make_shared<ConfigChange>(ConfigChange{"remove", "", ""});
  Command command;
  command.name = "remove";
  command.summary = "Remove a server from corral's configuration.";
  command.usage = "corral remove [options] NAME";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Server;
  command.options = options_of(*change);
  command.options_anywhere = true;
  command.run = [change, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    if (!rest) return fail("remove", rest.error().message);
    if (rest->size() != 1) return fail("remove", "name one server, as in `corral remove files`");
    if (change->config.empty()) change->config = config::default_file();
    const int code = remove(*change, rest->front());
    return code;
  };
  return command;
}

}  // namespace corral::cli
