#include "proc/command_lookup.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace corral::proc {
namespace {

constexpr std::string_view kDefaultPath = "/usr/local/bin:/usr/bin:/bin";  // the shell's default without PATH

enum class Found { Nothing, Directory, NotExecutable, Program };

Found look_at(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return Found::Nothing;
  if (S_ISDIR(status.st_mode)) return Found::Directory;
  return access(path.c_str(), X_OK) == 0 ? Found::Program : Found::NotExecutable;
}

Error not_executable(const std::string& path, Found found) {
  const std::string why = found == Found::Directory
                              ? "is a directory: name a program in it"
                              : "is not executable: run `chmod +x` on it, or name its interpreter before it";
  return {"command '" + path + "' " + why, Error::Kind::NotExecutable};
}

Result<Executable> at_path(const std::string& command, const std::string& directory) {
  const bool relative = command.front() != '/';
  const std::string path = relative && !directory.empty() ? directory + "/" + command : command;
  const Found found = look_at(path);
  if (found == Found::Program) return Executable{path};
  if (found != Found::Nothing) return not_executable(path, found);
  return Error{"command '" + path + "' does not exist: check the path" +
                   (relative ? ", which is relative to the working directory" : ""),
               Error::Kind::NotFound};
}

std::string interpreter_of(const std::string& script) {
  std::ifstream file(script);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with("#!")) return {};
  const std::size_t begin = line.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return {};
  return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

}  // namespace

std::string_view environment_value(const std::vector<std::string>& environment, std::string_view name) {
  for (std::string_view entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

Result<Executable> find_command(const std::string& command, const std::vector<std::string>& environment,
                                const std::string& directory) {
  if (command.empty()) return Error{"the command is empty: name the server's program after --"};
  if (command.find('/') != std::string::npos) return at_path(command, directory);

  std::string_view path = environment_value(environment, "PATH");
  if (path.empty()) path = kDefaultPath;
  std::string refused;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder(path.substr(begin, end - begin));
    // A server's working directory is not ours.
    const bool nearby = !folder.starts_with('/') && !directory.empty();
    std::string candidate =
        (nearby ? directory + "/" : "").append(folder.empty() ? "." : folder).append("/").append(command);
    const Found found = look_at(candidate);
    if (found == Found::Program) return Executable{std::move(candidate)};
    if (found == Found::NotExecutable && refused.empty()) refused = candidate;
    begin = end + 1;
  }
  if (!refused.empty()) return not_executable(refused, Found::NotExecutable);
  return Error{
      "command '" + command + "' was not found in PATH: install it, give its full path, or correct PATH",
      Error::Kind::NotFound};
}

Error explain_exec_failure(const std::string& executable, int error) {
  const std::string interpreter = interpreter_of(executable);
  if (error == ENOENT && !interpreter.empty()) {
    return {"script '" + executable + "' needs '" + interpreter +
                "', which does not exist: install it or correct the first line of the script",
            Error::Kind::NotFound};
  }
  if (error == ENOENT) {
    return {
        "command '" + executable + "' cannot start: it, or the loader it needs, does not exist; reinstall it",
        Error::Kind::NotFound};
  }
  if (error == E2BIG) {
    return {"command '" + executable +
            "' cannot start: its arguments and environment are too long; shorten them"};
  }
  return {"command '" + executable + "' cannot start: " + strerror(error) +
              "; check that it is a program for this machine and that you may execute it",
          Error::Kind::NotExecutable};
}

}  // namespace corral::proc
