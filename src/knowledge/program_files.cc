#include "knowledge/program_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/files.h"
#include "base/unique_fd.h"
#include "known/known_programs.h"
#include "known/program_identity.h"
#include "known/server_command.h"

namespace corral::knowledge {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> kManifests = {"package.json", "pyproject.toml"};
constexpr std::array<std::string_view, 5> kLocks = {"package-lock.json", "uv.lock", "poetry.lock",
                                                    "pnpm-lock.yaml", "yarn.lock"};
constexpr int kMostLevels = 12;
// A script is named by one of the first words; each word costs an access to the disk.
constexpr std::size_t kMostWords = 256;

bool is_regular(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// Whether a file argument of an unknown program may be the code that it runs. A database or a configuration
/// is not code: a server that writes to it would seem to have new code after each call.
bool looks_like_code(const std::string& path) {
  constexpr std::array<std::string_view, 18> kEndings = {".js", ".mjs", ".cjs", ".ts",  ".mts", ".tsx",
                                                         ".py", ".pyz", ".rb",  ".pl",  ".php", ".lua",
                                                         ".sh", ".jar", ".dll", ".exs", ".R",   ".wasm"};
  if (std::any_of(kEndings.begin(), kEndings.end(), [&](auto ending) { return path.ends_with(ending); })) {
    return true;
  }
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::array<char, 2> start{};
  return file.valid() && read(file.get(), start.data(), start.size()) == 2 && start[0] == '#' &&
         start[1] == '!';
}

/// The script of a program that is not in a table.
std::string first_code(const Program& program) {
  for (std::size_t i = 1; i < program.argv.size(); ++i) {
    if (program.argv[i].empty() || program.argv[i].starts_with('-')) continue;
    std::string path = known::absolute_path(program.argv[i], program.directory);
    if (is_regular(path) && looks_like_code(path)) return path;
  }
  return {};
}

/// The word that names this file, as a path. `real` is a path without links.
std::string as_found(const std::string& real, const Program& program) {
  for (std::size_t i = 1; i < program.argv.size(); ++i) {
    std::string path = known::absolute_path(program.argv[i], program.directory);
    if (!path.empty() && known::resolved(path) == real) return path;
  }
  return real;
}

std::string script_of(const Program& program, const known::ServerCommand& command) {
  if (known::find_launcher(base_name(program.executable)) == nullptr && command.launcher.empty()) {
    return first_code(program);
  }
  if (command.script.empty() || command.script == program.executable || !is_regular(command.script))
    return {};
  return as_found(command.script, program);
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// Those of the names that exist in the nearest directory that has any of them.
void add_nearest(const std::string& script, Names names, const std::string& home,
                 std::vector<std::string>& files) {
  struct stat start {};
  std::string folder = folder_of(script);
  if (stat(folder.c_str(), &start) != 0) return;
  for (int level = 0; level < kMostLevels && folder != home; ++level, folder = folder_of(folder)) {
    struct stat status {};
    if (stat(folder.c_str(), &status) != 0 || status.st_dev != start.st_dev) return;
    const std::size_t before = files.size();
    for (const std::string_view name : names) {
      std::string path = (folder == "/" ? "" : folder) + "/" + std::string(name);
      if (is_regular(path)) files.push_back(std::move(path));
    }
    if (files.size() > before || folder == "/") return;
  }
}

}  // namespace

std::vector<std::string> files_of(const Program& given, const std::string& home) {
  Program program = given;
  program.argv.resize(std::min(program.argv.size(), kMostWords));
  std::vector<std::string> files;
  if (!program.executable.empty()) files.push_back(program.executable);
  const known::ServerCommand command = known::understand(program.argv, program.executable, program.directory);
  const std::string script = script_of(program, command);
  if (script.empty()) {
    // `python -m NAME`: the record of the installed package changes with it.
    if (is_regular(command.manifest)) files.push_back(command.manifest);
    return files;
  }
  files.push_back(script);
  // Start at the real path: npx runs `node_modules/.bin/NAME`, which is a link into the package.
  const std::string real = known::resolved(script);
  add_nearest(real, kManifests, known::resolved(home), files);
  add_nearest(real, kLocks, known::resolved(home), files);
  return files;
}

}  // namespace corral::knowledge
