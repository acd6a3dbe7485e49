#include "config/machine_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "config/file.h"

namespace corral::config {
namespace {

/// Every message says whose file it is, because the user who reads it can usually not correct it.
Error refused(const std::string& path, const std::string& cause, const std::string& next) {
  return Error{"the administrator's file '" + path + "' cannot be used: " + cause +
               ". corral does not go on without it, because it may lock keys. " + next +
               ", or ask the administrator of this machine to."};
}

Error cannot_be_read(const std::string& path, int error) {
  if (error == EACCES) return refused(path, strerror(error), "Make it readable for every user");
  if (error == ELOOP) return refused(path, "it is a symbolic link", "Put the file itself there");
  if (error == EFBIG) return refused(path, "it is larger than 64 MiB", "Make it smaller");
  if (error == EINVAL) return refused(path, "it is not a regular file", "Put a file there");
  return refused(path, strerror(error), "Correct this");
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// A user who may write to the directory may replace the file. NotFound if there is no such directory.
Result<void> check_folder(const MachineFile& machine) {
  const std::string folder = folder_of(machine.path);
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0) {
    if (errno == ENOENT) return Error{"there is no directory '" + folder + "'", Error::Kind::NotFound};
    return cannot_be_read(machine.path, errno);
  }
  if (!S_ISDIR(status.st_mode)) {
    return refused(machine.path, "'" + folder + "' is not a directory", "Put a directory there");
  }
  const std::string objection = objection_to_machine(folder, status.st_uid, status.st_mode, machine);
  if (objection.empty()) return {};
  return refused(machine.path, objection, "Run `chown root:root` and `chmod 755` on it");
}

}  // namespace

std::string objection_to_machine(const std::string& path, uid_t owner, mode_t mode,
                                 const MachineFile& machine) {
  if (owner != machine.owner) return "'" + path + "' does not belong to root";
  if ((mode & (S_IWGRP | S_IWOTH)) != 0) return "others than its owner can write to '" + path + "'";
  return "";
}

Result<FileText> read_machine_text(const MachineFile& machine) {
  const Result<void> folder = check_folder(machine);
  if (!folder) return folder.error();
  const UniqueFd opened(
      open(machine.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  if (!opened.valid() && errno == ENOENT) {
    return Error{"there is no file '" + machine.path + "'", Error::Kind::NotFound};
  }
  struct stat status {};
  if (!opened.valid() || fstat(opened.get(), &status) != 0) return cannot_be_read(machine.path, errno);
  if (!S_ISREG(status.st_mode)) return cannot_be_read(machine.path, EINVAL);
  const std::string objection = objection_to_machine(machine.path, status.st_uid, status.st_mode, machine);
  if (!objection.empty()) {
    return refused(machine.path, objection, "Run `chown root:root` and `chmod 644` on it");
  }
  Result<FileText> text = read_opened(opened.get());
  if (!text) return cannot_be_read(machine.path, errno);
  return text;
}

}  // namespace corral::config
