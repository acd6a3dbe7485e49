#include "instance/error_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/utc_time.h"
#include "proc/proc_files.h"

namespace corral::instance {
namespace {

std::string because(int error) { return std::generic_category().message(error); }

/// Creates the directory and its parents, accessible to this user only.
bool make_log_folder(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
      struct stat status {};
      const int error = errno;
      // The directory may exist although this user may not create anything in it.
      if (stat(part.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        errno = error;
        return false;
      }
    }
    if (at == std::string::npos) return true;
  }
}

struct LogOnDisk {
  std::int64_t written_ns;
  std::string name;
};

}  // namespace

ErrorFiles::ErrorFiles(std::string directory, ErrorFileLimits limits)
    : directory_(std::move(directory)), limits_(limits) {}

std::string ErrorFiles::path_of(const std::string& server) const {
  return directory_.empty() ? std::string() : directory_ + "/" + log_file_name(server);
}

void ErrorFiles::write(const std::string& server, const std::string& instance, std::string_view bytes) {
  if (directory_.empty() || bytes.empty()) return;
  std::string lines;
  const std::string prefix = error_line_prefix(unix_time_ms(), instance);
  const std::uint64_t count = begun_[instance].take(bytes, prefix, lines);
  put(server, lines, count);
}

void ErrorFiles::ended(const std::string& server, const std::string& instance) {
  auto rest = begun_.extract(instance);
  if (rest.empty()) return;
  std::string lines;
  const std::uint64_t count = rest.mapped().take_rest(error_line_prefix(unix_time_ms(), instance), lines);
  put(server, lines, count);
}

/// Logs once that writing fails, and once that it works again.
void ErrorFiles::put(const std::string& server, const std::string& lines, std::uint64_t count) {
  if (lines.empty()) return;
  const std::int64_t now = unix_time_ms();
  // If the clock was set back, the next try must not be years away.
  if (failing_ && now < not_before_ && not_before_ - now <= limits_.retry_ms) {
    lost_ += count;
    return;
  }
  if (try_to_put(server, lines)) {
    if (std::exchange(failing_, false)) {
      log_line("what servers write to stderr is kept in " + directory_ + " again; " +
               std::to_string(lost_ - told_) + " lines were lost");
    }
    return;
  }
  if (!std::exchange(failing_, true)) {
    told_ = lost_;
    log_line("what servers write to stderr is not kept, because " + why_ + "; this is tried again",
             LogLevel::Warn);
  }
  lost_ += count;
  not_before_ = now + limits_.retry_ms;
  open_.clear();
  folder_.reset();
}

bool ErrorFiles::try_to_put(const std::string& server, const std::string& lines) {
  if (!folder_.valid() && !open_folder()) return false;
  File* const file = file_called(log_file_name(server));
  if (file == nullptr) return false;
  const ssize_t written = ::write(file->fd.get(), lines.data(), lines.size());
  if (written == static_cast<ssize_t>(lines.size())) {
    file->size += lines.size();
    return true;
  }
  why_ = "the file " + directory_ + "/" + file->name +
         " cannot be written: " + because(written < 0 ? errno : ENOSPC);
  // Half a line would look like a whole one.
  struct stat status {};
  if (written > 0 && fstat(file->fd.get(), &status) == 0 && status.st_size >= written &&
      ftruncate(file->fd.get(), status.st_size - written) != 0) {
    why_ += ", and ends in the middle of a line";
  }
  return false;
}

bool ErrorFiles::open_folder() {
  const bool made = make_log_folder(directory_);
  UniqueFd folder(made ? open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1);
  struct stat status {};
  if (!folder.valid() || fstat(folder.get(), &status) != 0) {
    why_ = "the directory " + directory_ + " cannot be " + (made ? "opened: " : "made: ") + because(errno);
    return false;
  }
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    why_ = "the directory " + directory_ +
           " belongs to another user, or others may write to it: run `chmod 0700` on it, or remove it";
    return false;
  }
  folder_ = std::move(folder);
  return true;
}

/// The open file with this name that has room for more; null if it cannot be opened.
ErrorFiles::File* ErrorFiles::file_called(const std::string& name) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&name](const File& file) { return file.name == name; });
  if (found != open_.end()) {
    open_.splice(open_.begin(), open_, found);
    if (is_still(open_.front()) && open_.front().size < limits_.bytes) return &open_.front();
    open_.pop_front();
  }
  File file{name, {}, 0, 0};
  if (!open_file(file)) return nullptr;
  if (file.size >= limits_.bytes) {
    rotate(name);
    if (!open_file(file)) return nullptr;
  }
  open_.push_front(std::move(file));
  if (open_.size() > limits_.open) open_.pop_back();
  return &open_.front();
}

/// False if another daemon has rotated the file or a person has removed it.
bool ErrorFiles::is_still(const File& file) const {
  struct stat status {};
  return fstatat(folder_.get(), file.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         status.st_ino == file.inode;
}

bool ErrorFiles::open_file(File& file) {
  constexpr int kHow = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  file.fd = UniqueFd(openat(folder_.get(), file.name.c_str(), kHow));
  if (!file.fd.valid() && errno == ENOENT) {
    forget_oldest();
    file.fd = UniqueFd(openat(folder_.get(), file.name.c_str(), kHow | O_CREAT, 0600));
  }
  struct stat status {};
  if (!file.fd.valid() || fstat(file.fd.get(), &status) != 0) {
    why_ = "the file " + directory_ + "/" + file.name + " cannot be opened: " + because(errno);
    return false;
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
    why_ = directory_ + "/" + file.name + " is not a regular file that belongs to you; remove it";
    return false;
  }
  if ((status.st_mode & 07777U) != 0600) fchmod(file.fd.get(), 0600);
  file.inode = status.st_ino;
  file.size = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  return true;
}

/// NAME.log becomes NAME.log.1, and that becomes NAME.log.2; the oldest is overwritten. If a file cannot be
/// renamed, more is written to it.
void ErrorFiles::rotate(const std::string& name) const {
  for (std::size_t i = limits_.files - 1; i > 0; --i) {
    const std::string from = i == 1 ? name : name + "." + std::to_string(i - 1);
    renameat(folder_.get(), from.c_str(), folder_.get(), (name + "." + std::to_string(i)).c_str());
  }
  if (limits_.files < 2) unlinkat(folder_.get(), name.c_str(), 0);
}

/// Removes the oldest files, so that another server can have one.
void ErrorFiles::forget_oldest() const {
  const UniqueFd again = proc::open_directory(folder_.get(), ".");
  if (!again.valid()) return;
  std::vector<LogOnDisk> logs;
  proc::DirectoryNames names(again.get());
  while (const char* const name = names.next()) {
    struct stat status {};
    if (!std::string_view(name).ends_with(".log")) continue;
    if (fstatat(folder_.get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
    logs.push_back({status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec, name});
  }
  if (logs.size() < limits_.servers) return;
  std::sort(logs.begin(), logs.end(),
            [](const LogOnDisk& one, const LogOnDisk& other) { return one.written_ns < other.written_ns; });
  logs.resize(logs.size() - limits_.servers + 1);
  for (const LogOnDisk& oldest : logs) {
    unlinkat(folder_.get(), oldest.name.c_str(), 0);
    for (std::size_t i = 1; i < limits_.files; ++i) {
      unlinkat(folder_.get(), (oldest.name + "." + std::to_string(i)).c_str(), 0);
    }
  }
}

}  // namespace corral::instance
