#include "control/runtime_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.h"

namespace corral::control {
namespace {

constexpr const char* kOther = "choose another directory with --runtime-dir";

/// The path may be used from another working directory later: the daemon's is /.
std::string absolute(const std::string& path) {
  char here[PATH_MAX];
  if (path.starts_with('/') || getcwd(here, sizeof here) == nullptr) return path;
  return std::string(here) + "/" + path;
}

Error wrong(const std::string& path, const std::string& what, const std::string& help) {
  return Error{"the runtime directory '" + path + "' " + what + ": " + help};
}

std::string octal(mode_t mode) {
  char text[8];
  snprintf(text, sizeof text, "%04o", mode & 07777U);
  return text;
}

Error cannot_open(const std::string& path, int error) {
  if (error == ENOENT) {
    Error missing = wrong(path, "does not exist", "`corral serve` creates it");
    missing.kind = Error::Kind::NotFound;
    return missing;
  }
  if (error == ELOOP) return wrong(path, "is a symbolic link", std::string("remove it, or ") + kOther);
  if (error == ENOTDIR) return wrong(path, "is not a directory", std::string("remove it, or ") + kOther);
  return wrong(path, std::string("cannot be opened: ") + strerror(error), kOther);
}

/// Uses one descriptor, so that the directory that is checked is the one that was opened.
Result<UniqueFd> open_folder(const std::string& path) {
  UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (folder.valid()) return folder;
  const int error = errno;
  struct stat link {};
  // With O_DIRECTORY a symbolic link gives ENOTDIR as well.
  const bool is_link = lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
  return cannot_open(path, is_link ? ELOOP : error);
}

Result<void> prove(const std::string& path, int folder) {
  struct stat status {};
  if (fstat(folder, &status) != 0) return cannot_open(path, errno);
  if (status.st_uid != geteuid()) {
    return wrong(path, "belongs to user " + std::to_string(status.st_uid) + ", not to you", kOther);
  }
  if ((status.st_mode & 07777U) != 0700) {
    return wrong(path, "has mode " + octal(status.st_mode) + ", which lets other users in or locks you out",
                 "`chmod 0700 " + path + "`, or " + kOther);
  }
  return {};
}

Result<void> fits_a_socket(const std::string& path) {
  constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  const std::size_t length = socket_path(path).size();
  if (length <= kLongest) return {};
  return wrong(path,
               "has too long a path: a socket in it would be " + std::to_string(length) +
                   " bytes long, and the limit is " + std::to_string(kLongest),
               "choose a shorter one with --runtime-dir");
}

}  // namespace

std::vector<std::string> candidates(const std::string& given, uid_t uid) {
  if (!given.empty()) return {absolute(given)};
  const std::string number = std::to_string(uid);
  return {"/run/user/" + number + "/corral", "/tmp/corral-" + number};
}

Result<void> ensure_runtime_dir(const std::string& path) {
  const Result<void> fits = fits_a_socket(path);
  if (!fits) return fits.error();
  const mode_t before = umask(0077);  // with a stricter one we could not enter the directory
  const int error = mkdir(path.c_str(), 0700) == 0 ? 0 : errno;
  umask(before);
  if (error != 0 && error != EEXIST) {
    return wrong(path, std::string("cannot be created: ") + strerror(error),
                 error == ENOENT ? "create its parent directory first" : kOther);
  }
  const Result<UniqueFd> folder = open_folder(path);
  if (!folder) return folder.error();
  return prove(path, folder->get());
}

Result<void> check_runtime_dir(const std::string& path) {
  const Result<UniqueFd> folder = open_folder(path);
  if (!folder) return folder.error();
  return prove(path, folder->get());
}

std::string socket_path(const std::string& runtime_dir) { return runtime_dir + "/corral.sock"; }
std::string http_socket_path(const std::string& runtime_dir) { return runtime_dir + "/http.sock"; }
std::string lock_path(const std::string& runtime_dir) { return runtime_dir + "/corral.lock"; }
std::string starting_path(const std::string& runtime_dir) { return runtime_dir + "/starting.lock"; }
std::string pid_path(const std::string& runtime_dir) { return runtime_dir + "/corral.pid"; }
std::string log_path(const std::string& runtime_dir) { return runtime_dir + "/daemon.log"; }

std::string default_state_directory() {
  const char* const state = getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/corral";
  const char* const home = getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.local/state/corral";
  return {};
}

std::string state_directory_for(const std::string& runtime_dir) {
  const std::vector<std::string> usual = candidates("", geteuid());
  // A directory inside a usual one belongs to `serve -- COMMAND`, which shares what is known about servers.
  const std::string above = runtime_dir.substr(0, runtime_dir.rfind('/'));
  const bool own = std::none_of(usual.begin(), usual.end(), [&](const std::string& place) {
    return place == runtime_dir || place == above;
  });
  return own ? runtime_dir + "/state" : default_state_directory();
}

}  // namespace corral::control
