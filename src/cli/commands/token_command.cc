// `corral token`: tokens for HTTP clients that do not run as the daemon's user on its machine.
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/screen/page.h"
#include "control/runtime_dir.h"
#include "daemon/token_file.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  TOKEN=$(corral token create laptop)
  corral token create ci --server files --server memory     for these two servers only
  curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8765/readyz
  corral token list
  corral token revoke ci

Your own programs on the daemon's machine need no token. Other users, root, and clients that connect through a reverse proxy
do. A running daemon notices a change with the next request.
`create` prints only the token on stdout. No command shows it again; it is stored in `tokens.json` in the state directory,
which only you can read. docs/http-security.md explains who has access, and why.
Exit code: 0; 1 if there is no token of that name; 125 if it failed.)";

struct Options {
  std::string runtime_dir;
  std::string state_dir;
  std::vector<std::string> servers;
  std::vector<std::string> roots;
};

/// The same file that the daemon uses; empty if there is no directory for it.
std::string file_for(const Options& options) {
  std::string directory = options.state_dir;
  if (directory.empty()) {
    directory = options.runtime_dir.empty() ? control::default_state_directory()
                                            : control::state_directory_for(options.runtime_dir);
  }
  return directory.empty() ? "" : directory + "/" + daemon::kTokensFile;
}

std::string scope_of(const std::vector<std::string>& servers, const std::vector<std::string>& roots) {
  std::string text;
  for (const std::string& server : servers) text += (text.empty() ? "" : ", ") + server;
  if (text.empty()) text = "all servers";
  for (const std::string& root : roots) text += (&root == &roots.front() ? "; roots " : ", ") + root;
  return text;
}

/// Stores the real path: the daemon compares it with the path that a client names, without using the file
/// system.
Result<void> add_root(std::vector<std::string>& roots, const std::string& folder) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(folder, error);
  if (error || !std::filesystem::is_directory(real, error))
    return Error{"'" + folder + "' is not a directory"};
  roots.push_back(real.string());
  return {};
}

int create(const Options& options, const std::string& file, const std::string& name) {
  const Result<std::string> secret = daemon::create_token(file, name, options.servers, options.roots);
  if (!secret) return fail("token", secret.error().message);
  std::cout << *secret << std::endl;
  if (!std::cout) {
    daemon::remove_token(file, name);
    return fail("token",
                "cannot write the token to stdout, so it was revoked (is the pipe closed or the disk full?)");
  }
  std::cerr << "Token '" << name << "' gives access to " << scope_of(options.servers, options.roots)
            << ". It is not shown again; it is stored in '" << file
            << "'.\nSend it as `Authorization: Bearer TOKEN`. `corral token revoke " << name
            << "` makes it invalid.\n";
  return 0;
}

int show_list(const std::string& file) {
  const Result<std::vector<daemon::KeptToken>> tokens = daemon::read_kept_tokens(file);
  if (!tokens) return fail("token", tokens.error().message);
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  if (tokens->empty()) {
    page.paragraph("", "There are no tokens. `corral token create NAME` creates one.");
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const daemon::KeptToken& kept : *tokens) {
    rows.push_back({kept.token.name, kept.created, scope_of(kept.token.servers, kept.token.roots)});
  }
  page.table("", {{"NAME"}, {"CREATED"}, {"OPENS", false, true}}, rows);
  return 0;
}

int revoke(const std::string& file, const std::string& name) {
  const Result<void> done = daemon::remove_token(file, name);
  if (!done) {
    const int code = fail("token", done.error().message);
    return done.error().kind == Error::Kind::NotFound ? 1 : code;
  }
  std::cout << "Token '" << name << "' was revoked.\n";
  return 0;
}

int run(const Options& options, const std::vector<std::string>& args) {
  const std::string what = args.empty() ? "" : args.front();
  if (what != "create" && !(options.servers.empty() && options.roots.empty())) {
    return fail("token", "only `corral token create` takes --server and --root");
  }
  const std::string file = file_for(options);
  if (file.empty()) return fail("token", "no directory for tokens: set HOME, or use --state-dir");
  if (what == "create" && args.size() == 2) return create(options, file, args[1]);
  if (what == "revoke" && args.size() == 2) return revoke(file, args[1]);
  if (what == "list" && args.size() == 1) return show_list(file);
  if (what == "create" || what == "revoke") {
    return fail("token", "give the name of one token: `corral token " + what + " NAME`");
  }
  return fail("token", "expected a subcommand: create, list or revoke; see `corral token --help`");
}

}  // namespace

Command token_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "token";
  command.summary = "Create, list and revoke tokens for HTTP clients.";
  command.usage = "corral token create NAME [--server SERVER]... [--root DIR]... | list | revoke NAME";
  command.examples = kExamples;
  command.argument = {Argument::Kind::Choice, {"create", "list", "revoke"}};
  command.options = {
      {"--server", "SERVER",
       "create: a server that the token gives access to (repeatable; default: all servers)",
       [options](const std::string& name) -> Result<void> {
         if (name.empty()) return Error{"the name is empty"};
         options->servers.push_back(name);
         return {};
       }},
      {"--root", "DIR",
       "create: a project root that it may name in ?root=, for servers with \"share\": \"root\" (repeatable; "
       "default: none)",
       [options](const std::string& folder) { return add_root(options->roots, folder); }},
      {"--state-dir", "DIR", "The daemon's state directory, if it was started with --state-dir",
       set_word(options->state_dir)},
      {"--runtime-dir", "DIR", "Directory of the daemon's socket, instead of the usual one",
       set_word(options->runtime_dir)}};
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    return rest ? run(*options, *rest) : fail("token", rest.error().message);
  };
  return command;
}

}  // namespace corral::cli
