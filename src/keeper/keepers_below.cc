#include "keeper/keepers_below.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "keeper/janitor.h"
#include "keeper/proc_fs.h"

namespace corral::keeper {
namespace {

/// What /proc appends to the name of a file that has been replaced.
constexpr std::string_view kDeleted = " (deleted)";
constexpr std::size_t kMostLookedAt = 512;

bool is_called_like_one(pid_t pid) {
  char comm[16];
  return read_comm(pid, comm) && (strcmp(comm, kKeeperName) == 0 || strcmp(comm, kJanitorName) == 0);
}

bool runs_a_file_of_that_name(pid_t pid) {
  char link[32];
  char target[PATH_MAX];
  snprintf(link, sizeof link, "/proc/%d/exe", pid);
  const ssize_t length = readlink(link, target, sizeof target);
  if (length <= 0) return false;
  std::string_view name(target, static_cast<std::size_t>(length));
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return name.substr(name.rfind('/') + 1) == kKeeperName;
}

/// The state of one walk.
struct Search {
  const FileId& helper;
  bool met = false;
};

}  // namespace

/// Uses cached attributes only: a network file system that does not answer would block the caller.
FileId file_id(const char* path) {
  struct statx status {};
  if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &status) != 0) return {};
  return {makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino};
}

/// The names come from the kernel alone and rule out nearly every process. The file is only examined if one
/// of the two names matches: a keeper that was just executed does not have its process name yet, and its file
/// may have been renamed.
bool is_keeper(pid_t pid, const FileId& helper) {
  const bool called = is_called_like_one(pid);
  const bool named = runs_a_file_of_that_name(pid);
  if (called && named) return true;
  if ((!called && !named) || helper.inode == 0) return false;
  char link[32];
  snprintf(link, sizeof link, "/proc/%d/exe", pid);
  return file_id(link) == helper;
}

bool any_keeper_below(pid_t root, const FileId& helper) {
  pid_t below[kMostLookedAt];
  constexpr int kLooks = 2;  // one pass may miss a keeper whose parent changes at that moment
  Search search{helper};
  for (int i = 0; i < kLooks && !search.met; ++i) {
    const std::size_t seen = walk_below(
        root, below,
        [](pid_t pid, void* context) {
          Search& own = *static_cast<Search*>(context);
          own.met = is_keeper(pid, own.helper);
          return own.met ? Step::Stop : Step::Into;
        },
        &search);
    if (seen == kMostLookedAt) break;  // a fork storm or a very large tree is not worth the time
  }
  return search.met;
}

std::size_t outside_keepers_below(pid_t root, const FileId& helper, std::span<pid_t> found) {
  Search search{helper};
  return walk_below(
      root, found,
      [](pid_t pid, void* context) {
        return is_keeper(pid, static_cast<Search*>(context)->helper) ? Step::Past : Step::Into;
      },
      &search);
}

}  // namespace corral::keeper
