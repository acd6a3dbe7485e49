#include "known/command_name.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/files.h"
#include "known/server_command.h"

namespace corral::known {
namespace {

constexpr std::size_t kLongest = 64;
constexpr std::string_view kReserved = "corral";

// These say nothing about one server among others, so the name of what is around it is used as well.
constexpr std::array<std::string_view, 12> kGeneric = {"index",      "main",       "server",   "app",
                                                       "cli",        "mcp",        "start",    "run",
                                                       "mcp-server", "mcp_server", "__main__", "bin"};
// Directories of a project that hold programs and say nothing about it.
constexpr std::array<std::string_view, 8> kBuildDirectories = {"dist", "build", "src",    "lib",
                                                               "bin",  "out",   "target", "scripts"};

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

template <std::size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "server" of "server.js".
std::string_view stem(std::string_view file) {
  const std::size_t dot = file.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? file : file.substr(0, dot);
}

/// "mcp-server-git" of "@scope/mcp-server-git"; "sentry-mcp-server" of "@sentry/mcp-server".
std::string name_of_package(std::string_view package) {
  const std::size_t slash = package.rfind('/');
  if (slash == std::string_view::npos) return std::string(package);
  const std::string_view last = package.substr(slash + 1);
  if (!is_one_of(kGeneric, last)) return std::string(last);
  std::string_view around = package.substr(0, slash);
  around.remove_prefix(around.rfind('/') + 1);  // npos + 1 is 0
  if (around.starts_with('@')) around.remove_prefix(1);
  return std::string(around).append("-").append(last);
}

/// "weather.py" of "/srv/weather.py"; "notes" of "/srv/notes/dist/index.js".
std::string name_of_script(const std::string& script) {
  std::string file = base_name(script);
  if (!is_one_of(kGeneric, stem(file))) return file;
  std::string_view directory = script;
  for (;;) {
    const std::size_t slash = directory.rfind('/');
    if (slash == std::string_view::npos || slash == 0) return file;
    directory = directory.substr(0, slash);
    const std::string_view last = directory.substr(directory.rfind('/') + 1);
    if (!last.empty() && !is_one_of(kBuildDirectories, last)) return std::string(last);
  }
}

}  // namespace

std::string plain_name(const std::string& name) {
  std::string text;
  for (const char c : name.substr(0, kLongest)) text += is_plain(c) ? c : '-';
  text.erase(0, text.find_first_not_of("-."));
  text.erase(text.find_last_not_of("-.") + 1);
  return text;
}

CommandName command_name(const std::vector<std::string>& argv, const std::string& directory,
                         const std::string& path) {
  const ServerCommand command = understand(argv, "", directory, path);
  const bool of_package = command.key.starts_with("npm:") || command.key.starts_with("pypi:") ||
                          command.key.starts_with("docker:");
  CommandName found;
  if (of_package) {
    found.name = name_of_package(command.name);
  } else if (!command.script.empty() && !command.launcher.empty()) {
    found.name = name_of_script(command.script);
  } else {
    found.name = command.name;
  }
  found.name = plain_name(found.name);
  if (found.name.empty() || found.name == kReserved)
    found.name = plain_name(base_name(argv.front()) + "-command");
  found.identity = command.key;
  if (found.identity.empty()) {
    for (const std::string& word : argv) found.identity.append(word).append(1, '\0');
  }
  return found;
}

std::string objection_to_name(const std::string& name) {
  if (name.empty() || name.size() > kLongest || !std::all_of(name.begin(), name.end(), is_plain) ||
      name.front() == '-' || name.front() == '.') {
    return "use at most 64 letters, digits, '.', '_' and '-', and begin with a letter or a digit";
  }
  if (name == kReserved) return "'corral' is the name of corral's own server";
  return {};
}

}  // namespace corral::known
