#include "keeper/proc_fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace corral::keeper {
namespace {

constexpr pid_t kLargestPid = 4'194'304;  // the kernel's bound, PID_MAX_LIMIT on 64 bit

/// Reads a small file whole. Returns its length, or -1 if it cannot be read.
ssize_t read_file(const char* path, std::span<char> buffer) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  std::size_t used = 0;
  while (used < buffer.size()) {
    const ssize_t got = read(fd, buffer.data() + used, buffer.size() - used);
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  close(fd);
  return static_cast<ssize_t>(used);
}

/// Calls `visit` for every numeric name in a directory. Does not use opendir, which allocates.
template <class Visit>
void for_each_number(const char* directory, Visit visit) {
  const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  alignas(dirent64) char buffer[4096];
  for (;;) {
    const long got = syscall(SYS_getdents64, fd, buffer, sizeof buffer);
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      const long number = strtol(entry->d_name, nullptr, 10);
      if (number > 0) visit(static_cast<pid_t>(number));
    }
  }
  close(fd);
}

/// A bounded list of pids that drops what does not fit; the caller asks again to get the rest.
class PidList {
 public:
  explicit PidList(std::span<pid_t> storage) : storage_(storage) {}
  void add(pid_t pid) {
    if (!full()) storage_[used_++] = pid;
  }
  bool full() const { return used_ == storage_.size(); }
  std::size_t size() const { return used_; }
  pid_t operator[](std::size_t index) const { return storage_[index]; }

 private:
  std::span<pid_t> storage_;
  std::size_t used_ = 0;
};

/// A bounded list of pids that keeps the last ones added.
class NewestPids {
 public:
  explicit NewestPids(std::span<pid_t> storage) : storage_(storage) {}
  void add(pid_t pid) {
    if (!storage_.empty()) storage_[added_++ % storage_.size()] = pid;
  }
  static bool full() { return false; }
  /// Sorts the pids, newest first.
  std::size_t finish() {
    const std::size_t size = added_ < storage_.size() ? added_ : storage_.size();
    if (added_ > size)
      std::rotate(storage_.begin(), storage_.begin() + static_cast<std::ptrdiff_t>(added_ % size),
                  storage_.end());
    std::reverse(storage_.begin(), storage_.begin() + static_cast<std::ptrdiff_t>(size));
    return size;
  }

 private:
  std::span<pid_t> storage_;
  std::size_t added_ = 0;
};

/// Stores nothing and calls `visit` for each pid.
class Visitor {
 public:
  Visitor(bool (*visit)(pid_t child, void* context), void* context) : visit_(visit), context_(context) {}
  void add(pid_t pid) { going_ = going_ && visit_(pid, context_); }
  bool full() const { return !going_; }

 private:
  bool (*visit_)(pid_t child, void* context);
  void* context_;
  bool going_ = true;
};

/// Reads numbers separated by spaces, in pieces: a number may be cut in two. Stops when the list is full,
/// because a fork storm makes the file longer while it is read.
template <class List>
void read_pids(const char* path, List& list) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char buffer[4096];
  pid_t number = 0;
  while (!list.full()) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got <= 0) break;
    for (ssize_t i = 0; i < got; ++i) {
      if (buffer[i] >= '0' && buffer[i] <= '9') {
        number = number * 10 + (buffer[i] - '0');
      } else if (number > 0) {
        list.add(number);
        number = 0;
      }
    }
  }
  if (number > 0) list.add(number);
  close(fd);
}

/// On a kernel without CONFIG_PROC_CHILDREN the file is missing for every process.
bool have_children_files() {
  static const bool have = access("/proc/thread-self/children", R_OK) == 0;
  return have;
}

/// A child belongs to the *thread* that forked it, so the files of all threads are read.
template <class List>
void add_children_by_file(pid_t pid, List& list) {
  char directory[64];
  snprintf(directory, sizeof directory, "/proc/%d/task", pid);
  for_each_number(directory, [&](pid_t thread) {
    char path[96];
    snprintf(path, sizeof path, "%s/%d/children", directory, thread);
    read_pids(path, list);
  });
}

template <class List>
void add_children_by_scan(pid_t parent, List& list) {
  for_each_number("/proc", [&](pid_t pid) {
    StatLine line;
    if (read_stat(pid, line) && line.parent == parent) list.add(pid);
  });
}

template <class List>
void add_children(pid_t pid, List& list) {
  have_children_files() ? add_children_by_file(pid, list) : add_children_by_scan(pid, list);
}

std::uint64_t kilobytes_after(const char* text, const char* label) {
  const char* found = strstr(text, label);
  return found == nullptr ? 0 : strtoull(found + strlen(label), nullptr, 10) * 1024;
}

}  // namespace

bool parse_stat(const char* text, std::size_t length, StatLine& line) {
  const char* close = static_cast<const char*>(memrchr(text, ')', length));
  if (close == nullptr) return false;
  const char* end = text + length;
  // ") S 123 ": a space, the state, a space, the parent.
  if (end - close < 5 || close[1] != ' ' || close[3] != ' ') return false;
  pid_t parent = 0;
  const char* at = close + 4;
  for (; at < end && *at >= '0' && *at <= '9' && parent < kLargestPid; ++at)
    parent = parent * 10 + (*at - '0');
  if (at == close + 4) return false;
  line.state = close[2];
  line.parent = parent;
  return true;
}

bool read_stat(pid_t pid, StatLine& line) {
  char path[32];
  char text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const ssize_t length = read_file(path, text);
  return length > 0 && parse_stat(text, static_cast<std::size_t>(length), line);
}

bool read_comm(pid_t pid, char (&comm)[16]) {
  char path[32];
  char text[sizeof comm + 1];
  snprintf(path, sizeof path, "/proc/%d/comm", pid);
  const ssize_t length = read_file(path, text);
  if (length <= 0) {
    snprintf(comm, sizeof comm, "?");
    return false;
  }
  const auto name = static_cast<std::size_t>(length) - 1;  // without the newline at the end
  const std::size_t used = name < sizeof comm ? name : sizeof comm - 1;
  memcpy(comm, text, used);
  comm[used] = '\0';
  return true;
}

uid_t read_uid(pid_t pid) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d", pid);
  struct stat status {};
  return stat(path, &status) == 0 ? status.st_uid : static_cast<uid_t>(-1);
}

std::size_t own_children(std::span<pid_t> found) {
  PidList list(found);
  add_children(getpid(), list);
  return list.size();
}

std::size_t newest_children(std::span<pid_t> found) {
  NewestPids list(found);
  add_children(getpid(), list);
  return list.finish();
}

void visit_children(bool (*visit)(pid_t child, void* context), void* context) {
  Visitor visitor(visit, context);
  add_children(getpid(), visitor);
}

std::size_t descendants(pid_t root, std::span<pid_t> found) {
  return walk_below(
      root, found, [](pid_t, void*) { return Step::Into; }, nullptr);
}

std::size_t walk_below(pid_t root, std::span<pid_t> found, Step (*visit)(pid_t pid, void* context),
                       void* context) {
  PidList list(found);
  add_children(root, list);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Step step = visit(list[i], context);
    if (step == Step::Stop) break;
    if (step == Step::Into) add_children(list[i], list);
  }
  return list.size();
}

std::uint64_t memory_of(pid_t pid) {
  char path[48];
  char text[2048];
  snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
  ssize_t length = read_file(path, std::span(text, sizeof text - 1));
  if (length > 0) {
    text[length] = '\0';
    return kilobytes_after(text, "\nPss:");
  }
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  length = read_file(path, std::span(text, sizeof text - 1));
  if (length <= 0) return 0;
  text[length] = '\0';
  return kilobytes_after(text, "\nVmRSS:");
}

}  // namespace corral::keeper
