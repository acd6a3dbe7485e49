#include "keeper/cgroup_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace corral::keeper {
namespace {

int open_in(const char* directory, const char* name, int flags) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return open(path, flags | O_CLOEXEC);
}

/// Finds the number in a file of "key N" lines.
std::uint64_t read_counter(const char* directory, const char* name, const char* key) {
  const int fd = open_in(directory, name, O_RDONLY);
  if (fd < 0) return 0;
  char text[1024];
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = '\0';
  const std::size_t key_length = strlen(key);
  for (const char* line = text; line != nullptr && *line != '\0';) {
    if (strncmp(line, key, key_length) == 0 && line[key_length] == ' ')
      return strtoull(line + key_length, nullptr, 10);
    line = strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return 0;
}

/// The server may have created groups inside, as another corral does. `path` is used as scratch space.
void remove_below(char (&path)[PATH_MAX], int depth) {
  constexpr int kDeepest = 16;
  const int fd = depth < kDeepest ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  const std::size_t length = strlen(path);
  alignas(dirent64) char buffer[1024];
  for (long got = 0; fd >= 0 && (got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
      snprintf(path + length, sizeof path - length, "/%s", entry->d_name);
      remove_below(path, depth + 1);
      path[length] = '\0';
    }
  }
  if (fd >= 0) close(fd);
  rmdir(path);
}

}  // namespace

void kill_cgroup(const char* directory) {
  if (*directory == '\0') return;
  const int fd = open_in(directory, "cgroup.kill", O_WRONLY);
  if (fd < 0) return;  // before Linux 5.14: the sweep alone has to do it
  if (write(fd, "1", 1) != 1) errno = 0;
  close(fd);
}

bool cgroup_limit_hit(const char* directory, LimitName name) {
  if (*directory == '\0') return false;
  switch (name) {
    case LimitName::Memory: return read_counter(directory, "memory.events", "oom_kill") > 0;
    case LimitName::Pids: return read_counter(directory, "pids.events", "max") > 0;
    case LimitName::Cpu: break;
  }
  return read_counter(directory, "cpu.stat", "nr_throttled") > 0;
}

void remove_cgroup(const char* directory) {
  if (*directory == '\0') return;
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", directory);
  remove_below(path, 0);
}

}  // namespace corral::keeper
