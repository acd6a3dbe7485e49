#include "server/manifest_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/unique_fd.h"
#include "server/name_digest.h"
#include "survey/proc_files.h"

namespace corral::server {
namespace {

constexpr std::string_view kEnding = ".json";
constexpr std::string_view kTemporary = ".tmp";
constexpr std::size_t kDigest = 36;  // characters of a UUID
constexpr time_t kAbandoned = 3600;  // seconds: no write takes so long

std::string error_text(int error) { return strerror(error); }

/// What is wrong with an open file; empty = nothing.
std::string objection_to(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return "cannot be looked at: " + error_text(errno);
  if (!S_ISREG(status.st_mode)) return "is no regular file";
  if (status.st_uid != geteuid()) return "belongs to user " + std::to_string(status.st_uid) + ", not to you";
  if (status.st_size > static_cast<off_t>(kLargestManifest)) return "is larger than 8 MiB";
  return {};
}

/// Nothing, and an empty `why`, if there is no such file.
std::optional<std::string> read_file(const std::string& path, std::string& why) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) {
    const int error = errno;
    if (error == ELOOP) why = "is a symbolic link";
    if (error != ELOOP && error != ENOENT) why = "cannot be opened: " + error_text(error);
    return std::nullopt;
  }
  why = objection_to(file.get());
  if (!why.empty()) return std::nullopt;
  std::string text;
  std::vector<char> chunk(std::size_t{64} << 10);
  while (text.size() <= kLargestManifest) {  // it may grow meanwhile
    const ssize_t got = read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) why = "cannot be read: " + error_text(errno);
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// With everything above it, as others would make it: only for us.
bool make_directories(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      struct stat status {};
      // A folder that is there may still be one in which we may make nothing.
      if (const int error = errno; stat(part.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        errno = error;
        return false;
      }
    }
    if (at == std::string::npos) return true;
  }
}

/// By one descriptor, so that what is judged is what is written to.
UniqueFd open_store(const std::string& directory, std::string& why) {
  if (!make_directories(directory)) {
    why = "cannot be made: " + error_text(errno);
    return {};
  }
  UniqueFd folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!folder.valid() || fstat(folder.get(), &status) != 0) {
    why = "cannot be opened: " + error_text(errno);
    return {};
  }
  constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
  if (status.st_uid == geteuid() && (status.st_mode & kOthersWrite) == 0) return folder;
  why = "is not yours alone to write to: `chmod 0700` it, or remove it";
  return {};
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Whoever reads meanwhile sees the old file or the new one. Not synced: after a power failure a file may be
/// empty, which is as good as none.
bool replace_file(int folder, const std::string& name, std::string_view text) {
  // Not our pid: daemons in different namespaces may have the same, and one home.
  const std::string temporary = name + "." + std::to_string(std::random_device()()) + std::string(kTemporary);
  const UniqueFd file(
      openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return false;
  if (write_all(file.get(), text) && renameat(folder, temporary.c_str(), folder, name.c_str()) == 0)
    return true;
  const int error = errno;
  unlinkat(folder, temporary.c_str(), 0);
  errno = error;
  return false;
}

/// Only names that we make: the directory may hold other things.
bool is_ours(std::string_view name) {
  if (name.size() < kDigest + kEnding.size() || name.substr(kDigest, kEnding.size()) != kEnding) return false;
  if (name.substr(0, kDigest).find_first_not_of("0123456789abcdef-") != std::string_view::npos) return false;
  return name.size() == kDigest + kEnding.size() || name.ends_with(kTemporary);
}

struct Kept {
  std::int64_t written_ns;
  std::string name;
};

void prune(int folder, const std::string& just_written) {
  const UniqueFd again = survey::open_directory(folder, ".");
  if (!again.valid()) return;
  std::vector<Kept> kept;
  survey::DirectoryNames names(again.get());
  while (const char* name = names.next()) {
    struct stat status {};
    if (!is_ours(name) || name == just_written) continue;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(status.st_mode)) continue;
    if (!std::string_view(name).ends_with(kTemporary)) {
      kept.push_back({status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec, name});
    } else if (status.st_mtim.tv_sec + kAbandoned < time(nullptr)) {
      unlinkat(folder, name, 0);  // of a process that died while it wrote
    }
  }
  if (kept.size() < kMostManifests) return;
  std::sort(kept.begin(), kept.end(), [](const Kept& one, const Kept& other) {
    return std::tie(one.written_ns, one.name) < std::tie(other.written_ns, other.name);
  });
  kept.resize(kept.size() - (kMostManifests - 1));  // room for the one just written
  for (const Kept& oldest : kept) unlinkat(folder, oldest.name.c_str(), 0);
}

}  // namespace

ManifestStore::ManifestStore(std::string directory) : directory_(std::move(directory)) {}

Manifest ManifestStore::load(const std::string& key) const {
  if (directory_.empty()) return {};
  const std::string path = directory_ + "/" + name_digest(key) + std::string(kEnding);
  std::string why;
  if (const std::optional<std::string> text = read_file(path, why)) {
    if (std::optional<Manifest> manifest = parse_manifest(*text, why)) return std::move(*manifest);
  }
  if (!why.empty() && warned_.insert(path).second) {
    log_line("what was known of a server is learned anew, because the file " + path + " " + why);
  }
  return {};
}

void ManifestStore::save(const std::string& key, const std::string& server, const Manifest& manifest) {
  const std::string text = directory_.empty() ? std::string() : manifest_text(server, manifest);
  if (text.empty()) return;
  std::string why;
  const std::string name = name_digest(key) + std::string(kEnding);
  const UniqueFd folder = open_store(directory_, why);
  if (folder.valid() && !replace_file(folder.get(), name, text)) {
    why = "takes no file: " + error_text(errno);
  }
  if (why.empty()) return prune(folder.get(), name);
  if (std::exchange(failed_, true)) return;
  log_line("what is known of servers is not kept for the next daemon, because the folder " + directory_ +
           " " + why);
}

}  // namespace corral::server
