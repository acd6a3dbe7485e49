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
// Why a server cannot notice where it is started: search the source and that of its dependencies for
// process.cwd(), relative paths, dotenv and child_process. A launcher that looks for a local package in the
// working directory is handled apart (notice.cc).
constexpr std::string_view kAlone =
    "it opens no file by a relative path, reads no .env file and starts no program";
constexpr std::string_view kAloneBesideItsFile =
    "its file is beside its program or where MEMORY_FILE_PATH says, and it starts no program";
constexpr std::string_view kAloneInFolders =
    "paths in calls are relative to its first directory, and it starts no program";
constexpr std::string_view kInsights = "the insights of all calls are collected in one memo";

constexpr KnownServer kServers[] = {
    {"npm:@brave/brave-search-mcp-server", true, kRequests},
    {"npm:@modelcontextprotocol/server-aws-kb-retrieval", true, kRequests},
    {"npm:@modelcontextprotocol/server-brave-search", true, kLimitedRequests, kAlone},
    {"npm:@modelcontextprotocol/server-everything", false,
     "it switches log messages and updates on and off for its one client, and asks it questions", kAlone},
    {"npm:@modelcontextprotocol/server-filesystem", true, kFiles, kAloneInFolders},
    {"npm:@modelcontextprotocol/server-gdrive", true, kRequests},
    {"npm:@modelcontextprotocol/server-github", true, kRequests, kAlone},
    {"npm:@modelcontextprotocol/server-gitlab", true, kRequests, kAlone},
    {"npm:@modelcontextprotocol/server-google-maps", true, kRequests, kAlone},
    {"npm:@modelcontextprotocol/server-memory", true, kMemory, kAloneBesideItsFile},
    {"npm:@modelcontextprotocol/server-postgres", true, kPostgres},
    {"npm:@modelcontextprotocol/server-puppeteer", false, kBrowser},
    {"npm:@modelcontextprotocol/server-redis", true, kRedis, kAlone},
    {"npm:@modelcontextprotocol/server-sequential-thinking", false, kThoughts},
    {"npm:@modelcontextprotocol/server-slack", true, kRequests, kAlone},
    {"npm:@notionhq/notion-mcp-server", true, kRequests},
    {"npm:@playwright/mcp", false, kBrowser},
    {"npm:@sentry/mcp-server", true, kRequests},
    {"npm:@upstash/context7-mcp", true, kDocumentation},
    {"npm:@wonderwhy-er/desktop-commander", false, "running terminals and open searches are the session"},
    {"npm:chrome-devtools-mcp", false, kBrowser},
    {"npm:exa-mcp-server", true, kRequests},
    {"npm:firecrawl-mcp", true, kRequests},
    {"npm:tavily-mcp", true, kRequests},
    {"pypi:awslabs-aws-documentation-mcp-server", true,
     "every call is one look-up; the last searches are kept only to tell the service which one led to a "
     "page"},
    {"pypi:duckduckgo-mcp-server", true, kLimitedRequests},
    {"pypi:mcp-server-fetch", true, kFetch},
    {"pypi:mcp-server-git", true, kGit},
    {"pypi:mcp-server-sentry", true, kRequests},
    {"pypi:mcp-server-sqlite", false, kInsights},
    {"pypi:mcp-server-time", true, kClock},
    {"pypi:serena-agent", false, "one active project, which calls switch"},
    {"docker:mcp/brave-search", true, kRequests},
    {"docker:mcp/fetch", true, kFetch},
    {"docker:mcp/puppeteer", false, kBrowser},
    {"docker:mcp/sequentialthinking", false, kThoughts},
    {"docker:mcp/sqlite", false, kInsights},
    {"docker:mcp/time", true, kClock},
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

}  // namespace

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
