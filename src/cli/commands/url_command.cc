// `corral url`: prints the URLs of a server, or what to enter in a client to use it.
#include <chrono>
#include <iostream>
#include <memory>

#include "base/ip_address.h"
#include "cli/commands/next_steps.h"
#include "cli/commands/registration.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "config/configuration.h"
#include "daemon/built_in_server.h"
#include "daemon/origin.h"

namespace corral::cli {
namespace {

constexpr const char* kExamples = R"EX(Examples:
  corral url files                                   the addresses of the server `files`
  corral url files --client claude                   the command that adds it to Claude Code, for each transport
  eval "$(corral url files --client claude --transport http)"
  corral url files --client vscode --transport http > .vscode/mcp.json
  corral url files --client zed --transport stdio    needs no port and no daemon

The port is that of the running daemon, or the configured one if none is running. Without a port this command prints the form
for stdio, unless --transport asks for another one. On this machine you need no token, because
the daemon recognises your own connections. Others send one (`corral token create NAME`) as the header
Authorization: Bearer TOKEN.
Exit code: 0, or 1 if there is no such server, or no port for --transport http or sse.)EX";

constexpr int kNotAvailable = 1;

struct UrlOptions {
  std::string runtime_dir;
  std::string config;
  RegisteredClient client = RegisteredClient::Any;
  std::optional<ClientTransport> transport;
};

/// The servers and the HTTP address, from the daemon or, if none is running, from the configuration.
struct Knowledge {
  config::Configuration configuration;  // names, and the file
  std::string base;                     // of the URLs; empty = no port is open
  std::string unix_socket;
  bool runs = false;
};

Error complaint(const std::string& what) { return Error{what}; }

/// The status of the running daemon; nothing if none is running.
Result<KnownStatus> ask_running(const std::string& runtime_dir) {
  control::DaemonAnswer answer = control::ask_daemon(runtime_dir, control::status_hello());
  if (answer.kind == control::DaemonAnswer::Kind::NoDaemon) return KnownStatus();
  const Result<JsonAnswer> parsed = read_answer(std::move(answer));
  if (!parsed) return parsed.error();
  return KnownStatus(observe::read_status(parsed->value));
}

std::string base_from(const config::Http& http) {
  const std::optional<IpAddress> address = parse_ip_address(http.bind);
  if (!http.port || *http.port == 0 || !address) return "";
  return "http://" + address->host() + ":" + std::to_string(*http.port);
}

Result<Knowledge> learn(const UrlOptions& options) {
  Knowledge knowledge;
  Result<KnownStatus> answer = ask_running(options.runtime_dir);
  // A command for stdio is the same whatever the daemon does.
  if (!answer && options.transport == ClientTransport::Stdio) answer = KnownStatus();
  if (!answer) return answer.error();
  const KnownStatus& status = *answer;
  const std::string file = options.config.empty() ? config::default_file() : options.config;
  const Result<config::Configuration> configured = config::read(file);
  if (!configured && (configured.error().kind != Error::Kind::NotFound || !options.config.empty())) {
    return configured.error();
  }
  if (configured) knowledge.configuration = *configured;
  knowledge.base = base_from(knowledge.configuration.options.http);
  if (!status) return knowledge;
  knowledge.runs = true;
  if (!status->http.url.empty()) knowledge.base = status->http.url;
  knowledge.unix_socket = status->http.unix_path;
  // The daemon may use a different file from the one that we found.
  knowledge.configuration.servers.clear();
  for (const observe::ServerView& server : status->servers) {
    knowledge.configuration.servers.emplace_back().name = server.name;
  }
  knowledge.configuration.file = status->daemon.config;
  return knowledge;
}

Error no_port(const Knowledge& knowledge) {
  const bool any_port = knowledge.configuration.options.http.port == std::optional<std::uint16_t>(0);
  if (any_port && !knowledge.runs) {
    return complaint(
        "the daemon chooses the port when it starts, and none is running: run `corral serve --background`");
  }
  return complaint(
      std::string("no port is open for clients that connect by URL: run `corral serve --port 8765") +
      (knowledge.runs ? " --replace" : "") +
      "`, or add \"corral\": {\"http\": {\"port\": 8765}} to the configuration (`corral config path`); "
      "`--transport stdio` needs no port");
}

int tell_one(const UrlOptions& options, const Endpoint& endpoint, ClientTransport transport) {
  const Result<std::string> text = registration(options.client, endpoint, transport);
  if (!text) return fail("url", text.error().message);
  std::cout << *text;
  return 0;
}

void tell_all(const UrlOptions& options, const Endpoint& endpoint, const Knowledge& knowledge) {
  const std::string file = file_for(options.client);
  if (!file.empty()) std::cout << "One of these, in " << file << ":\n\n";
  for (const ClientTransport transport : kClientTransports) {
    const Result<std::string> text = registration(options.client, endpoint, transport);
    const bool short_form = options.client == RegisteredClient::Any;
    std::cout << "# " << name_of(transport)
              << (transport == ClientTransport::Sse ? " (for clients that speak only HTTP+SSE)" : "") << "\n"
              << (text ? *text : "# " + text.error().message + "\n") << (short_form ? "" : "\n");
  }
  if (options.client != RegisteredClient::Any || knowledge.unix_socket.empty()) return;
  std::cout << "# http, by local socket\ncurl --unix-socket " << knowledge.unix_socket << " http://localhost"
            << address_of({endpoint.name, "", {}}, ClientTransport::Http) << "\n";
}

/// What to tell without a port: the command, because it needs none, and how to get a URL. Empty transport =
/// the user did not ask for one.
int tell_without_port(const UrlOptions& options, const Endpoint& endpoint, const Knowledge& knowledge) {
  if (speaks(options.client, ClientTransport::Http)) {
    std::cerr << "corral url: this is the form for stdio; " << no_port(knowledge).message << "\n";
  }
  const std::string file = file_for(options.client);
  if (!file.empty()) std::cerr << "corral url: write it into " << file << "\n";
  return tell_one(options, endpoint, ClientTransport::Stdio);
}

int run(const UrlOptions& options, const std::vector<std::string>& args) {
  if (args.size() != 1)
    return fail("url", "give the name of one server: `corral url NAME`; see `corral url --help`");
  const std::string& name = args.front();
  const Endpoint for_stdio{name, "", connect_words(options.runtime_dir, options.config, name)};
  const auto refuse = [](const Error& error) {
    fail("url", error.message);
    return kNotAvailable;
  };
  // Before anything else: which transports a client supports depends on nothing here.
  if (options.transport && !speaks(options.client, *options.transport)) {
    return tell_one(options, for_stdio, *options.transport);
  }
  const Result<Knowledge> knowledge = learn(options);
  if (!knowledge) return fail("url", knowledge.error().message);
  if (knowledge->configuration.find(name) == nullptr && name != daemon::kBuiltInServer) {
    return refuse(daemon::no_such_server(name, knowledge->configuration));
  }
  const bool needs_port = options.transport != ClientTransport::Stdio;
  if (needs_port && knowledge->base.empty()) {
    return options.transport ? refuse(no_port(*knowledge))
                             : tell_without_port(options, for_stdio, *knowledge);
  }
  if (needs_port && !knowledge->runs && speaks(options.client, ClientTransport::Http)) {
    std::cerr << "corral url: " << control::no_daemon_is_running(control::Purpose::Listen) << '\n';
  }
  const Endpoint endpoint{name, knowledge->base, for_stdio.connect};
  if (options.transport) return tell_one(options, endpoint, *options.transport);
  tell_all(options, endpoint, *knowledge);
  return 0;
}

}  // namespace

Command url_command() {
  auto options = std::make_shared<UrlOptions>();

  Command command;
  command.name = "url";
  command.summary = "Print how to add a server to a client: by URL, or as a command.";
  command.usage = "corral url NAME [options]";
  command.examples = kExamples;
  command.argument.kind = Argument::Kind::Server;
  command.options.push_back(
      {"--client", "CLIENT",
       "claude, claude-desktop, codex, copilot, cursor, gemini, vscode, windsurf or zed",
       [options](const std::string& word) -> Result<void> {
         const std::optional<RegisteredClient> client = client_by_name(word);
         if (!client) {
           return Error{"'" + word + "' is not known: write one of " + client_words() + ", or leave it out"};
         }
         options->client = *client;
         return {};
       }});
  command.options.push_back({"--transport", "TRANSPORT", "Print only this transport: http, sse or stdio",
                             [options](const std::string& word) -> Result<void> {
                               options->transport = transport_by_name(word);
                               if (!options->transport)
                                 return Error{"invalid transport '" + word + "': use http, sse or stdio"};
                               return {};
                             }});
  command.options.push_back(
      {"--config", "FILE", "The configuration, if it is not the default file", set_word(options->config)});
  command.options.push_back(runtime_dir_option(options->runtime_dir));
  command.options_anywhere = true;
  command.run = [options, known = command.options](const std::vector<std::string>& args) {
    const Result<std::vector<std::string>> rest = apply_late_options(known, args);
    return rest ? run(*options, *rest) : fail("url", rest.error().message);
  };
  return command;
}

}  // namespace corral::cli
