// `corral token`: for those who come by HTTP and are not the daemon's own user.
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/late_options.h"
#include "cli/frame/option_values.h"
#include "cli/screen/page.h"
#include "control/runtime_dir.h"
#include "daemon/token_file.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  TOKEN=$(corral token create laptop)
  corral token create ci --server files --server memory     opens these two and nothing else
  curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8765/readyz
  corral token list
  corral token revoke ci

Programs of your own user on the daemon's machine need no token. Everybody else does: other users, root, and whoever
comes through a reverse proxy. A running daemon sees a change at its next request.
`create` prints the token alone on stdout. No command shows it again; it is in `tokens.json` in the state folder, which
nobody but you may read. docs/http-security.md says who may come in, and why.
Exit code: 0 if it was done; 1 if there is no token of that name; 125 if it could not be done.)";

struct Options {
  std::string runtime_dir;
  std::string state_dir;
  std::vector<std::string> servers;
  std::vector<std::string> roots;
};

/// As the daemon finds it; empty if there is no place for it.
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

/// The real path: it is compared with what a client names before anybody looks at the file system.
Result<void> add_root(std::vector<std::string>& roots, const std::string& folder) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(folder, error);
  if (error || !std::filesystem::is_directory(real, error)) return Error{"'" + folder + "' is not a folder"};
  roots.push_back(real.string());
  return {};
}

int create(const Options& options, const std::string& file, const std::string& name) {
  const Result<std::string> secret = daemon::create_token(file, name, options.servers, options.roots);
  if (!secret) return fail("token", secret.error().message);
  std::cout << *secret << std::endl;
  if (!std::cout) {
    daemon::remove_token(file, name);
    return fail("token", "the token could not be written, so it was revoked: give stdout more room");
  }
  std::cerr << "Token '" << name << "' opens " << scope_of(options.servers, options.roots)
            << ". It is not shown again; it is kept in '" << file
            << "'.\nSend it as `Authorization: Bearer TOKEN`. `corral token revoke " << name
            << "` ends it.\n";
  return 0;
}

int show_list(const std::string& file) {
  const Result<std::vector<daemon::KeptToken>> tokens = daemon::read_kept_tokens(file);
  if (!tokens) return fail("token", tokens.error().message);
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  if (tokens->empty()) {
    page.paragraph("", "There are no tokens. `corral token create NAME` makes one.");
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
  std::cout << "Token '" << name << "' is revoked.\n";
  return 0;
}

int run(const Options& options, const std::vector<std::string>& args) {
  const std::string what = args.empty() ? "" : args.front();
  if (what != "create" && !(options.servers.empty() && options.roots.empty())) {
    return fail("token", "--server and --root are for `corral token create`");
  }
  const std::string file = file_for(options);
  if (file.empty())
    return fail("token", "HOME is not set, so there is no folder for tokens: use --state-dir");
  if (what == "create" && args.size() == 2) return create(options, file, args[1]);
  if (what == "revoke" && args.size() == 2) return revoke(file, args[1]);
  if (what == "list" && args.size() == 1) return show_list(file);
  if (what == "create" || what == "revoke") {
    return fail("token", "write the name of one token: `corral token " + what + " NAME`");
  }
  return fail("token", "write create, list or revoke behind it; see `corral token --help`");
}

}  // namespace

Command token_command() {
  auto options = std::make_shared<Options>();
  Command command;
  command.name = "token";
  command.summary = "Create, list and revoke tokens for clients that come by HTTP.";
  command.usage = "corral token create NAME [--server SERVER]... [--root DIR]... | list | revoke NAME";
  command.examples = kExamples;
  command.options = {
      {"--server", "SERVER", "create: a server that it opens; may be given several times (all of them)",
       [options](const std::string& name) -> Result<void> {
         if (name.empty()) return Error{"the name is empty"};
         options->servers.push_back(name);
         return {};
       }},
      {"--root", "DIR",
       "create: a project that it may name in ?root=, for servers with \"share\": \"root\"; may be given "
       "several times (none)",
       [options](const std::string& folder) { return add_root(options->roots, folder); }},
      {"--state-dir", "DIR", "The daemon's folder of what it keeps, if it was started with one",
       set_word(options->state_dir)},
      {"--runtime-dir", "DIR", "Where the daemon is met, if not in the usual places",
       set_word(options->runtime_dir)}};
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    return rest ? run(*options, *rest) : fail("token", rest.error().message);
  };
  return command;
}

}  // namespace corral::cli
