#include "serve/file_watch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/files.h"

namespace corral::serve {
namespace {

// Editors write in several steps, and some write often.
constexpr std::chrono::milliseconds kSettle{200};
constexpr std::chrono::seconds kLongestSettle{2};
constexpr int kMostLinks = 8;
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE |
                                  IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

/// Where a symbolic link points; empty = it is not a link.
std::string target_of(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), target, sizeof target);
  if (size <= 0 || size == static_cast<ssize_t>(sizeof target)) return {};
  const std::string text(target, static_cast<std::size_t>(size));
  return text.front() == '/' ? text : folder_of(path) + "/" + text;
}

bool exists(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

}  // namespace

FileWatch::FileWatch(Loop& loop, std::string file, Task changed)
    : file_(std::move(file)),
      changed_(std::move(changed)),
      inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      settle_(loop) {
  if (!works()) return;
  watch_.emplace(loop, inotify_.get());
  look_at_folders();
  last_ = fingerprint();
  wait();
}

void FileWatch::wait() {
  watch_->when_readable([this] {
    read_events();
    wait();
  });
}

void FileWatch::read_events() {
  alignas(inotify_event) std::array<char, 16384> bytes;
  bool ours = false;
  for (ssize_t got = 0; (got = read(inotify_.get(), bytes.data(), bytes.size())) > 0;) {
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      memcpy(&event, bytes.data() + at, sizeof event);
      ours = ours || concerns_us(*reinterpret_cast<const inotify_event*>(bytes.data() + at));
      at += sizeof event + event.len;
    }
  }
  if (ours) something_happened();
}

bool FileWatch::concerns_us(const inotify_event& event) const {
  if ((event.mask & IN_Q_OVERFLOW) != 0) return true;
  const auto place = places_.find(event.wd);
  if (place == places_.end()) return false;
  return event.len == 0 || place->second.contains(event.name);
}

/// The directory of the file, of the file that it points to, and so on. If one is missing, the nearest
/// directory above it that exists.
void FileWatch::look_at_folders() {
  std::map<int, std::set<std::string>> places;
  std::string path = file_;
  for (int links = 0; links < kMostLinks && watch_way_to(path, places); ++links) {
    path = target_of(path);
    if (path.empty()) break;
  }
  for (const auto& [watch, names] : places_) {
    if (!places.contains(watch)) inotify_rm_watch(inotify_.get(), watch);
  }
  places_ = std::move(places);
}

/// True if the directory itself exists.
bool FileWatch::watch_way_to(const std::string& path, std::map<int, std::set<std::string>>& places) const {
  int again = 3;
  std::string below = path;
  for (;;) {
    const std::string folder = folder_of(below);
    const int watch = inotify_add_watch(inotify_.get(), folder.c_str(), kEvents);
    if (watch >= 0) places[watch].insert(base_name(below));
    // A missing directory may have been created before we watched the one above it.
    if (watch >= 0 && below != path && exists(below) && --again > 0) {
      below = path;
      continue;
    }
    if (watch >= 0 || folder == "/") return watch >= 0 && below == path;
    below = folder;
  }
}

void FileWatch::something_happened() {
  const Clock::time_point now = Clock::now();
  if (!unsettled_since_) unsettled_since_ = now;
  if (settle_.running() && now - *unsettled_since_ >= kLongestSettle) return;
  settle_.start(kSettle, [this] { settled(); });
}

void FileWatch::settled() {
  unsettled_since_.reset();
  look_at_folders();
  const Fingerprint now = fingerprint();
  if (now == last_) return;
  last_ = now;
  changed_();
}

FileWatch::Fingerprint FileWatch::fingerprint() const {
  struct stat status {};
  if (stat(file_.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_dev),
          static_cast<std::int64_t>(status.st_ino),
          status.st_size,
          status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec,
          status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

}  // namespace corral::serve
