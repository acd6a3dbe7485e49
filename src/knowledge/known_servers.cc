#include "knowledge/known_servers.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "known/launcher_words.h"
#include "known/package_manifest.h"
#include "known/server_command.h"

namespace corral::knowledge {
namespace {

// Before you add a row, read the source of the server and look for state that outlives a call. Either no such
// state changes the answer to another call, or the row names it. If you are not sure, add no row: the server
// is then judged by its annotations. Add images only of servers that write no files, because the files in a
// container belong to one session.
constexpr std::string_view kClock = "every call reads the clock and nothing else";
constexpr std::string_view kFetch = "every call fetches one page";
constexpr std::string_view kGit = "every call names its repository, and all state is in the repository";
constexpr std::string_view kFiles =
    "every call names its path; the folders come from its arguments, which are part of the key";
constexpr std::string_view kFilesByRoots =
    "started without folders, it works in those that its one client names as roots";
constexpr std::string_view kMemory =
    "every call reads and rewrites one file; copies of the server share that file anyway and overwrite each "
    "other";
constexpr std::string_view kThoughts = "the thoughts of all calls are numbered as one history";
constexpr std::string_view kRequests =
    "every call is a separate request to the service, with the key that the server was started with";
constexpr std::string_view kLimitedRequests =
    "every call is a separate search; its limit on searches then applies to all sessions together";
constexpr std::string_view kPostgres = "every query runs in its own read-only transaction";
constexpr std::string_view kRedis = "every call is one command that names its key; no transactions";
constexpr std::string_view kDocumentation = "every call is one look-up in a documentation service";
constexpr std::string_view kBrowser = "one browser, whose pages and logins are the session";
constexpr std::string_view kInsights = "the insights of all calls are collected in one memo";

// What makes no difference to a server: search the source and its dependencies for process.cwd(), relative
// paths, dotenv, child_process and process.env, or what Python has instead. What the launcher of a package
// sees is handled apart (notice.cc and below).
constexpr std::string_view kNoFile = "it opens no file by a relative path and reads no .env file";
constexpr std::string_view kNoProgram = "it starts no program";
constexpr std::string_view kOnlyThese = "neither its source nor its dependencies read another variable";
constexpr std::string_view kNoVariable = "neither its source nor its dependencies read a variable";
constexpr std::string_view kOnlyLogs = "the others that it reads only choose what it logs";

/// A server that only calls a service.
constexpr Unnoticed calls_a_service(std::string_view version, std::string_view variables) {
  return {.version = version,
          .directory = kNoFile,
          .path = kNoProgram,
          .variables = variables,
          .other_variables = variables.empty() ? kNoVariable : kOnlyThese};
}
/// A server that loads `.env` from its directory: what is set there comes with the directory.
constexpr Unnoticed reads_env_file(std::string_view version, std::string_view variables,
                                   std::string_view others) {
  return {.version = version, .path = kNoProgram, .variables = variables, .other_variables = others};
}

constexpr Unnoticed kBlindMemory = {
    .version = "2026.8.31",
    .directory = "its file is beside its program or where MEMORY_FILE_PATH says",
    .path = kNoProgram,
    .variables = "MEMORY_FILE_PATH",
    .other_variables = kOnlyThese};
constexpr Unnoticed kBlindFiles = {.version = "2026.8.31",
                                   .directory = "paths in calls are relative to its first directory",
                                   .path = kNoProgram,
                                   .variables = "__MINIMATCH_TESTING_PLATFORM__",
                                   .other_variables = kOnlyThese};
constexpr Unnoticed kBlindEverything = {
    .version = "2026.8.31",
    .directory = kNoFile,
    .path = "it starts no program; its tool get-env shows the PATH of the first session"};
constexpr Unnoticed kBlindPostgres = {
    .version = "0.6.2, with pg 8.23", .path = kNoProgram, .variables = "PG*", .other_variables = kOnlyThese};
constexpr Unnoticed kBlindContext7 = {
    .version = "4.1.1",
    .directory = "its one relative path would be in NODE_EXTRA_CA_CERTS, and it reads no .env file",
    .path = kNoProgram,
    .variables =
        "CONTEXT7_* MCP_* OTEL_* OAUTH_* EMA_* VERCEL_MARKETPLACE_* OPENAI_APPS_CHALLENGE_TOKEN "
        "AUTH_SERVER_URL RESOURCE_URL",
    .other_variables = kOnlyLogs};
constexpr Unnoticed kBlindNotion = {
    .version = "2.5.2",
    .directory =
        "the description of its interface is beside its program, none of its tools takes a file, and "
        "it reads no .env file",
    .path = kNoProgram,
    .variables = "NOTION_TOKEN OPENAPI_MCP_HEADERS BASE_URL AUTH_TOKEN ENABLE_TOKEN_PASSTHROUGH",
    .other_variables = kOnlyLogs};
constexpr Unnoticed kBlindExa = {.version = "3.4.1",
                                 .directory = "its one file is beside its program, and it reads no .env file",
                                 .path = kNoProgram,
                                 .variables =
                                     "EXA_* ENABLED_TOOLS TOOLS DEBUG MCP_SESSION_ID DEFAULT_SEARCH_TYPE "
                                     "MCP_MAX_DURATION_SECONDS AGENT_CALL_WINDOW_MS AGNOST_*",
                                 .other_variables = kOnlyLogs};
constexpr Unnoticed kBlindFetch = {
    .version = "commit 0075ab9, with readabilipy 00b76aa",
    .directory = "it writes only temporary files, runs node beside its program and reads no .env file",
    .path = "it starts only node, or npm to install what node needs; which ones PATH finds counts",
    .starts = "node npm",
    .other_variables = "httpx reads only proxies and certificates, readabilipy no variable"};
constexpr Unnoticed kBlindTime = {.version = "commit 019d40c, with tzlocal 0cb8de4",
                                  .directory = "it reads only the time zones of the system",
                                  .path = "it starts no program outside Android",
                                  .other_variables = "it reads only TZ, and Python its own variables"};
constexpr Unnoticed kBlindContainer = {
    .version = "any",
    .directory = "a container without mounts sees no directory of this machine",
    .path = "a container has the PATH of its image",
    .variables = "DOCKER_* PODMAN_* CONTAINER_* CONTAINERS_* REGISTRY_AUTH_FILE BUILDAH_* SSH_AUTH_SOCK",
    .other_variables = "a container gets only variables that its command line names"};

constexpr KnownServer kServers[] = {
    {"npm:@brave/brave-search-mcp-server", true, kRequests,
     reads_env_file("2.1.4", "BRAVE_* DOTENV_*", kOnlyLogs)},
    {"npm:@modelcontextprotocol/server-aws-kb-retrieval", true, kRequests},
    {"npm:@modelcontextprotocol/server-brave-search", true, kLimitedRequests,
     calls_a_service("0.6.2", "BRAVE_API_KEY")},
    {"npm:@modelcontextprotocol/server-everything", false,
     "it switches log messages and updates on and off for its one client, and asks it questions",
     kBlindEverything},
    {"npm:@modelcontextprotocol/server-filesystem", true, kFiles, kBlindFiles},
    {"npm:@modelcontextprotocol/server-gdrive", true, kRequests},
    {"npm:@modelcontextprotocol/server-github", true, kRequests,
     calls_a_service("2025.4.8", "GITHUB_PERSONAL_ACCESS_TOKEN")},
    {"npm:@modelcontextprotocol/server-gitlab", true, kRequests,
     calls_a_service("2025.4.25", "GITLAB_PERSONAL_ACCESS_TOKEN GITLAB_API_URL")},
    {"npm:@modelcontextprotocol/server-google-maps", true, kRequests,
     calls_a_service("0.6.2", "GOOGLE_MAPS_API_KEY")},
    {"npm:@modelcontextprotocol/server-memory", true, kMemory, kBlindMemory},
    {"npm:@modelcontextprotocol/server-postgres", true, kPostgres, kBlindPostgres},
    {"npm:@modelcontextprotocol/server-puppeteer", false, kBrowser},
    {"npm:@modelcontextprotocol/server-redis", true, kRedis, calls_a_service("2025.4.25", "")},
    {"npm:@modelcontextprotocol/server-sequential-thinking", false, kThoughts},
    {"npm:@modelcontextprotocol/server-slack", true, kRequests,
     calls_a_service("2025.4.25", "SLACK_BOT_TOKEN SLACK_TEAM_ID SLACK_CHANNEL_IDS")},
    {"npm:@notionhq/notion-mcp-server", true, kRequests, kBlindNotion},
    {"npm:@playwright/mcp", false, kBrowser},
    {"npm:@sentry/mcp-server", true, kRequests},
    {"npm:@upstash/context7-mcp", true, kDocumentation, kBlindContext7},
    {"npm:@wonderwhy-er/desktop-commander", false, "running terminals and open searches are the session"},
    {"npm:chrome-devtools-mcp", false, kBrowser},
    {"npm:exa-mcp-server", true, kRequests, kBlindExa},
    {"npm:firecrawl-mcp", true, kRequests},
    {"npm:tavily-mcp", true, kRequests,
     reads_env_file("0.2.22", "TAVILY_* DEFAULT_PARAMETERS DOTENV_* YARGS_* DEBUG", kOnlyThese)},
    {"pypi:awslabs-aws-documentation-mcp-server", true,
     "every call is one look-up; the last searches are kept only to tell the service which one led to a "
     "page"},
    {"pypi:duckduckgo-mcp-server", true, kLimitedRequests},
    {"pypi:mcp-server-fetch", true, kFetch, kBlindFetch},
    {"pypi:mcp-server-git", true, kGit},
    {"pypi:mcp-server-sentry", true, kRequests},
    {"pypi:mcp-server-sqlite", false, kInsights},
    {"pypi:mcp-server-time", true, kClock, kBlindTime},
    {"pypi:serena-agent", false, "one active project, which calls switch"},
    {"docker:mcp/brave-search", true, kRequests, kBlindContainer},
    {"docker:mcp/fetch", true, kFetch, kBlindContainer},
    {"docker:mcp/puppeteer", false, kBrowser},
    {"docker:mcp/sequentialthinking", false, kThoughts},
    {"docker:mcp/sqlite", false, kInsights},
    {"docker:mcp/time", true, kClock, kBlindContainer},
};

// Without a folder among its arguments the filesystem server asks its client for folders: it needs another
// row.
constexpr KnownServer kFilesystemByRoots = {"npm:@modelcontextprotocol/server-filesystem", false,
                                            kFilesByRoots};

using Words = std::vector<std::string>;

/// The words of the command that a shell is to run; nothing if it is more than one simple command.
std::optional<known::SimpleCommand> command_in_shell(const Words& argv) {
  const auto text = std::find_if(argv.begin() + 1, argv.end(),
                                 [](const std::string& word) { return !word.starts_with("-"); });
  return text == argv.end() ? std::nullopt : known::read_simple_command(*text);
}

bool is_address(std::string_view word) {
  return word.find("://") != std::string_view::npos || word.find("git+") != std::string_view::npos;
}

/// Whether the program may differ from the one in the registry: a fork, a local copy, or another command in
/// the image.
bool comes_from_elsewhere(const Words& launcher_words, const known::ServerCommand& command) {
  const auto has = [&launcher_words](std::string_view option) {
    return std::any_of(launcher_words.begin(), launcher_words.end(),
                       [option](const std::string& word) { return word.starts_with(option); });
  };
  // A URL in a variable of a container does not change the image.
  if (command.key.starts_with("docker:")) return has("--entrypoint");
  if (command.version.find_first_of(":/") != std::string::npos) return true;
  if (std::any_of(launcher_words.begin(), launcher_words.end(), is_address)) return true;
  if (has("--with-editable") || (command.launcher == "uv" && !has("tool")))
    return true;  // a local copy in a project
  for (auto word = launcher_words.begin(); word != launcher_words.end(); ++word) {
    const bool is_source = *word == "--from" || *word == "--spec";
    const bool is_folder = word + 1 != launcher_words.end() && (word + 1)->find('/') != std::string::npos;
    if ((is_source && is_folder) || word->starts_with("--from=") || word->starts_with("--spec=")) return true;
  }
  return false;
}

/// `uvx --from PACKAGE COMMAND` can start any command of the package and its dependencies, so the command
/// must have the name of the package.
bool names(const std::string& word, const std::string& key) {
  const std::size_t begin = key.find_last_of(":/") + 1;
  return known::normalised_python_name(word).find(known::normalised_python_name(key.substr(begin))) !=
         std::string::npos;
}

/// `python -m mcp_server_time`, unless the directory has a module of that name.
std::string package_key(const known::ServerCommand& command, const std::string& directory) {
  constexpr std::string_view kModule = "module:";
  if (directory.empty() || !command.key.starts_with(kModule)) return command.key;
  return "pypi:" + known::normalised_python_name(command.key.substr(kModule.size()));
}

/// All words of a command line, also those of a shell's text and of options such as `-e=A`.
bool any_word(const Words& argv, bool (*holds)(std::string_view word)) {
  return std::any_of(argv.begin(), argv.end(), [holds](std::string_view argument) {
    constexpr std::string_view kApart = " \t\n'\"";
    for (std::size_t begin = 0; begin < argument.size();) {
      const std::size_t end = std::min(argument.find_first_of(kApart, begin), argument.size());
      if (holds(argument.substr(begin, end - begin))) return true;
      begin = end + 1;
    }
    return false;
  });
}

/// An option that gives a container a directory, a file or all variables of this machine. Any short option
/// with a v is taken for `-v`, because one word can hold several (`-itv`).
bool opens_container(std::string_view word) {
  constexpr std::string_view kOptions[] = {"--volume", "--mount", "--env-host", "--env-file", "--device"};
  const auto begins = [word](std::string_view option) { return word.starts_with(option); };
  if (std::any_of(std::begin(kOptions), std::end(kOptions), begins)) return true;
  const bool short_options = word.starts_with('-') && !word.starts_with("--");
  return word.find('*') != std::string_view::npos ||
         (short_options && word.substr(0, word.find('=')).find('v') != std::string_view::npos);
}

/// `python -m` looks for modules in the directory, `pipx run` for packages.
bool imports_from_directory(std::string_view word) {
  return (word.starts_with("-m") && !word.starts_with("--")) || word == "pipx" || word.ends_with("/pipx");
}

}  // namespace

Unnoticed unnoticed_by(const KnownServer* known, const Words& argv) {
  if (known == nullptr) return {};
  Unnoticed unnoticed = known->unnoticed;
  if (known->package.starts_with("docker:") && any_word(argv, opens_container)) return {};
  if (known->package.starts_with("pypi:") && any_word(argv, imports_from_directory)) unnoticed.directory = {};
  return unnoticed;
}

std::span<const KnownServer> known_servers() { return kServers; }

const KnownServer* find_known_server(const Words& argv, const std::string& directory,
                                     const std::string& path) {
  if (argv.empty()) return nullptr;
  const known::ServerCommand command = known::understand(argv, "", directory, path);
  if (command.is_shell) {
    const std::optional<known::SimpleCommand> inner = command_in_shell(argv);
    // After a `cd`, relative names would mean other files.
    if (!inner || !inner->directory.empty()) return nullptr;
    return find_known_server(inner->words, directory, path);  // terminates: the inner text is shorter
  }
  if (command.arguments.size() >= argv.size()) return nullptr;
  const Words launcher_words(argv.begin(),
                             argv.end() - static_cast<std::ptrdiff_t>(command.arguments.size()));
  const std::string key = package_key(command, directory);
  const auto same = [&key](const KnownServer& server) { return server.package == key; };
  const auto* const found = std::find_if(std::begin(kServers), std::end(kServers), same);
  if (found == std::end(kServers) || comes_from_elsewhere(launcher_words, command)) return nullptr;
  if (!names(launcher_words.back(), key)) return nullptr;
  if (found->evidence == kFiles && command.arguments.empty()) return &kFilesystemByRoots;
  return found;
}

}  // namespace corral::knowledge
