#include "base/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

namespace corral {
namespace {

std::atomic<bool> bounded{false};
std::mutex cutting;  // a line that is written while the file is trimmed would be lost

bool append(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

UniqueFd open_log_file(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.valid()) cut_log_file(file.get());
  return file;
}

void cut_log_file(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= kLongestLog) return;
  std::string newest(static_cast<std::size_t>(kLongestLog / 2), '\0');
  const ssize_t size = pread(file, newest.data(), newest.size(), status.st_size - kLongestLog / 2);
  newest.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t line_end = newest.find('\n');
  // If the file cannot be trimmed, it stays as it is; if the rest cannot be written back, it is lost. The
  // bound matters more.
  if (ftruncate(file, 0) == 0 && line_end != std::string::npos) {
    append(file, std::string_view(newest).substr(line_end + 1));
  }
}

void bound_standard_error(const std::string& path) {
  struct stat file {};
  struct stat error {};
  const bool same = stat(path.c_str(), &file) == 0 && fstat(STDERR_FILENO, &error) == 0 &&
                    file.st_dev == error.st_dev && file.st_ino == error.st_ino;
  bounded = same;
}

bool write_to_standard_error(std::string_view line) {
  if (!bounded) return write(STDERR_FILENO, line.data(), line.size()) >= 0;
  const std::lock_guard<std::mutex> lock(cutting);
  const bool written = write(STDERR_FILENO, line.data(), line.size()) >= 0;
  cut_log_file(STDERR_FILENO);
  return written;
}

}  // namespace corral
