// The facts about other programs that are built into corral, as data: which programs are clients and how they
// leave their servers behind, where their configuration is, which launchers hide a server, and which children
// of a client are never MCP servers. One row per program; tests/unit/known/known_programs_test.cc has a test
// per row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corral::known {

enum class ConfigFormat : std::uint8_t { Json, Toml };

struct ConfigFile {
  /// "~/…" from the home directory, "$NAME/…" from a variable (skipped if unset), "./…" from a project root.
  /// "…/*SUFFIX": every file of that folder whose name ends so.
  std::string_view path;
  ConfigFormat format = ConfigFormat::Json;
  /// Where the table of servers is: keys separated by '/', '*' for every key ("projects/*/mcpServers").
  std::string_view servers;
};

/// How a client leaves its servers behind, in one clause each; measured, see docs/clients.md.
struct Behaviour {
  std::string_view orphans;   // why servers outlive it
  std::string_view pile_ups;  // why it holds many copies; empty = not known
};

struct KnownClient {
  std::string_view id;                        // "claude-code": for --client and JSON
  std::string_view name;                      // "Claude Code"
  std::vector<std::string_view> executables;  // base names of the executable ("claude", "codex")
  std::vector<std::string_view> packages;     // npm packages of the script that node or bun runs
  std::vector<std::string_view>
      path_parts;  // parts of the executable's or script's path ("/.vscode-server/")
  std::vector<std::string_view>
      variables;  // names in the environment that it gives to its servers ("CLAUDECODE")
  std::vector<std::string_view> cgroup_parts;  // parts of the cgroup that a desktop puts it in ("app-cursor")
  std::vector<ConfigFile> configs;
  Behaviour behaviour;
  /// It starts nothing but MCP servers on pipes. An editor or agent that also runs other programs over pipes
  /// (language servers, tools) needs a second piece of evidence.
  bool only_servers_on_pipes = false;
  /// While it runs, it writes its whole file again from memory: what another program has changed in the file
  /// may be lost.
  bool rewrites_files = false;
  /// It passes the arguments of a server on as they are, so a variable in them is not expanded.
  bool plain_arguments = false;
  /// Words in the command line of a process of it that keeps the servers after its interface has ended, and
  /// that waits on a socket for the next interface. All of them; empty = it has no such process.
  std::vector<std::string_view> background = {};
};

std::span<const KnownClient> known_clients();

/// The client with this id; null if it is not known.
const KnownClient* find_client(std::string_view id);

enum class LauncherKind : std::uint8_t {
  Shell,
  NodePackage,
  PythonPackage,
  Interpreter,
  Container,
  Runner,
  Corral
};

struct KnownLauncher {
  std::string_view name;  // base name of the executable
  LauncherKind kind;
  /// Words that come before the program ("exec" of npm, "tool run" of uv, "run" of dotnet), any one of them.
  std::vector<std::string_view> subcommands;
  std::vector<std::string_view>
      options_with_value;  // so that a value is not taken for the program ("--from", "-p")
};

std::span<const KnownLauncher> known_launchers();
const KnownLauncher* find_launcher(std::string_view name);

/// Base names of programs that clients run over pipes and that are not MCP servers: git, rg, language
/// servers, ….
bool is_certainly_no_server(std::string_view base_name);

/// Names that MCP servers often have. A hint, never proof.
bool looks_like_a_server(std::string_view word);

}  // namespace corral::known
