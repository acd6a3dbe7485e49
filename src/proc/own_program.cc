#include "proc/own_program.h"

#include <sys/stat.h>

#include <filesystem>

#include "proc/command_lookup.h"

namespace corral::proc {

std::string doubt_about_path(std::string_view path) {
  const std::string written = "'" + std::string(path) + "' ";
  if (path.find("/_npx/") != std::string_view::npos) {
    return written + "is in the cache of npx, which may be emptied. Install corral, then repeat this.";
  }
  std::error_code unknown;
  for (std::filesystem::path folder = std::filesystem::path(path).parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (!std::filesystem::exists(folder / "CMakeCache.txt", unknown)) continue;
    return written + "is in a build tree, and clients cannot start their servers if that is removed. Run " +
           "`make install PREFIX=DIR`, then repeat this.";
  }
  if (path.starts_with("/tmp/") || path.starts_with("/var/tmp/") || path.starts_with("/dev/shm/")) {
    return written + "is in a directory for temporary files. Install corral, then repeat this.";
  }
  return "";
}

Result<OwnProgram> own_program(const std::vector<std::string>& environment) {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return Error{"corral's own file cannot be found: " + unknown.message() + "."};
  const Result<Executable> found = find_command("corral", environment, "");
  OwnProgram own;
  const bool in_path = found && std::filesystem::equivalent(found->path, self, unknown);
  own.path =
      in_path ? std::filesystem::absolute(found->path, unknown).lexically_normal().string() : self.string();
  if (!std::filesystem::exists(own.path, unknown)) {
    return Error{"'" + own.path + "' was replaced or removed while it runs. Run the new one."};
  }
  const std::string real = std::filesystem::weakly_canonical(own.path, unknown).string();
  own.doubt = doubt_about_path(real.empty() ? own.path : real);
  return own;
}

RunningProgram running_program() { return running_program("/proc/self"); }

RunningProgram running_program(const std::string& process) {
  constexpr std::string_view kDeleted = " (deleted)";
  const std::string link = process + "/exe";
  std::error_code unknown;
  RunningProgram program{std::filesystem::read_symlink(link, unknown).string()};
  if (unknown) return {};
  struct stat runs {};
  struct stat there {};
  if (stat(link.c_str(), &runs) != 0) return program;
  const bool deleted = program.path.ends_with(kDeleted);
  if (deleted) program.path.resize(program.path.size() - kDeleted.size());
  if (stat(program.path.c_str(), &there) != 0) {
    program.file = deleted ? RunningProgram::File::Gone : RunningProgram::File::Same;
  } else if (runs.st_dev != there.st_dev || runs.st_ino != there.st_ino) {
    program.file = RunningProgram::File::Other;
  }
  return program;
}

}  // namespace corral::proc
