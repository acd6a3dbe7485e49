#include "knowledge/manifest_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/log.h"
#include "base/unique_fd.h"
#include "knowledge/manifest_store.h"
#include "survey/proc_files.h"
#include "wire/json_text.h"

namespace corral::knowledge {
namespace {

constexpr std::string_view kEnding = ".json";
constexpr std::string_view kTemporary = ".tmp";
constexpr std::size_t kDigest = 36;  // characters of a UUID
constexpr time_t kAbandoned = 3600;  // seconds: no write takes so long
constexpr std::size_t kMostNames = 4096;

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

std::optional<std::string> read_manifest_file(int folder, const std::string& name, std::string& why) {
  const UniqueFd file(
      openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) {
    why = errno == ELOOP ? "is a symbolic link" : "cannot be opened: " + error_text(errno);
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
  if (!parse_manifest(text, why)) return std::nullopt;
  return text;
}

/// Only names that we made: the folder may hold other things.
bool is_ours(std::string_view name) {
  if (name.size() < kDigest + kEnding.size() || name.substr(kDigest, kEnding.size()) != kEnding) return false;
  if (name.substr(0, kDigest).find_first_not_of("0123456789abcdef-") != std::string_view::npos) return false;
  return name.size() == kDigest + kEnding.size() || name.ends_with(kTemporary);
}

struct ManifestFile {
  std::int64_t written_ns;
  std::string name;
};

/// Oldest first. Those of a process that died while it wrote are removed.
std::vector<ManifestFile> manifest_files_in(int folder) {
  std::vector<ManifestFile> found;
  survey::DirectoryNames names(folder);
  while (const char* name = names.next()) {
    struct stat status {};
    if (found.size() == kMostNames) break;  // the rest comes next time
    if (!is_ours(name) || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(status.st_mode) || status.st_uid != geteuid()) continue;
    if (!std::string_view(name).ends_with(kTemporary)) {
      found.push_back({status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec, name});
    } else if (status.st_mtim.tv_sec + kAbandoned < time(nullptr)) {
      unlinkat(folder, name, 0);
    }
  }
  std::sort(found.begin(), found.end(), [](const ManifestFile& one, const ManifestFile& other) {
    return std::tie(one.written_ns, one.name) < std::tie(other.written_ns, other.name);
  });
  return found;
}

/// Whether the file is no longer needed.
bool take_over(int folder, const std::string& path, const std::string& name, registry::Registry& registry) {
  const std::string digest = name.substr(0, kDigest);
  // Whoever wrote the registry knew better than an older corral.
  if (registry.manifest(digest)) return true;
  std::string why;
  const std::optional<std::string> text = read_manifest_file(folder, name, why);
  if (!text) {
    log_line("what was known of a server is learned anew, because the file " + path + "/" + name + " " + why);
    return true;
  }
  const std::string server = wire::string_value(wire::member_text(*text, "server")).value_or("");
  registry.keep_manifest(digest, server, *text);
  return registry.degraded().empty() && registry.manifest(digest) == *text;
}

}  // namespace

void move_manifests(const std::string& folder, registry::Registry& registry) {
  const UniqueFd opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!opened.valid() || fstat(opened.get(), &status) != 0 || !registry.degraded().empty()) return;
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return log_line("the manifests in " + folder +
                    " are not taken over, because it is not yours alone to write to: `chmod 0700` it, or "
                    "remove it");
  }
  std::vector<ManifestFile> files = manifest_files_in(opened.get());
  const std::size_t beyond = files.size() - std::min(files.size(), kMostManifests);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string& name = files[i].name;
    if (i >= beyond && !take_over(opened.get(), folder, name, registry)) return;
    unlinkat(opened.get(), name.c_str(), 0);
  }
  rmdir(folder.c_str());  // stays if there is anything else in it
}

}  // namespace corral::knowledge
