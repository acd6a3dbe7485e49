// `corral remove`: a server goes from the configuration.
#include <iostream>
#include <memory>

#include "cli/commands/config_change.h"
#include "cli/frame/command.h"
#include "cli/frame/late_options.h"
#include "config/configuration.h"
#include "config/file.h"
#include "config/removal.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  corral remove files
  corral remove files --config ./corral.json

Takes the server out of the file, with the comment lines directly above it; everything else stays as it is, and the old
text is kept beside it. A running daemon takes the change over: the server's sessions end, and what it runs for them.
Exit code: 0, or 1 if nothing was changed.)";

int remove(const ConfigChange& change, const std::string& name) {
  // Looked at first, because a change makes the folder if there is none.
  const Result<config::FileText> there = config::read_text(change.config);
  if (!there) return refuse_change("remove", there.error().message);
  const auto rewrite = [&](const std::string& old) {
    return config::remove_server(old, change.config, name);
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
