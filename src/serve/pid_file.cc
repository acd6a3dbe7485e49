#include "serve/pid_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "base/unique_fd.h"
#include "keeper/proc_fs.h"

namespace corral::serve {
namespace {

constexpr std::size_t kLongest = 4096;

/// A zombie still has its pid, but does not run.
bool lives(pid_t pid) {
  keeper::StatLine line;
  if (keeper::read_stat(pid, line)) return line.state != 'Z';
  return kill(pid, 0) == 0 || errno != ESRCH;
}

/// The whole text of a short regular file. The path may be anything: a pipe must not block us.
std::optional<std::string> read_short(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::array<char, kLongest + 1> bytes;
  const ssize_t got = read(file.get(), bytes.data(), bytes.size());
  if (got < 0 || static_cast<std::size_t>(got) > kLongest) return std::nullopt;
  return std::string(bytes.data(), static_cast<std::size_t>(got));
}

/// The text may be printed to a terminal, so only plain characters are accepted.
bool plain(std::string_view text) {
  for (const char byte : text) {
    if (byte <= ' ' || byte > '~') return false;
  }
  return !text.empty();
}

Error cannot_write(const std::string& path, int error) {
  return Error{"the pid file '" + path + "' cannot be written: " + strerror(error) + "; correct --pid-file"};
}

}  // namespace

std::string encode(const PidRecord& record) {
  return std::to_string(record.pid) + "\n" + record.version + "\n" + record.started + "\n";
}

std::optional<PidRecord> decode_pid_record(std::string_view text) {
  std::array<std::string_view, 3> lines;
  for (std::string_view& line : lines) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    line = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  PidRecord record;
  const auto [end, error] = std::from_chars(lines[0].data(), lines[0].data() + lines[0].size(), record.pid);
  const bool number = error == std::errc{} && end == lines[0].data() + lines[0].size() && record.pid > 0;
  if (!text.empty() || !number || !plain(lines[1]) || !plain(lines[2])) return std::nullopt;
  record.version = lines[1];
  record.started = lines[2];
  return record;
}

std::optional<PidRecord> read_pid_file(const std::string& path) {
  const std::optional<std::string> text = read_short(path);
  return text ? decode_pid_record(*text) : std::nullopt;
}

std::string describe_stale(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return "";
  const std::optional<PidRecord> record = read_pid_file(path);
  if (!record) return "replacing '" + path + "', which is not a pid file of corral";
  return "replacing a stale pid file, '" + path + "': it names pid " + std::to_string(record->pid) +
         " (version " + record->version + ", started " + record->started + "), " +
         (lives(record->pid) ? "which now belongs to another process"
                             : "which has ended without removing the file");
}

Result<void> write_pid_file(const std::string& path, const PidRecord& record) {
  const std::string fresh = path + ".new-" + std::to_string(record.pid);
  unlink(fresh.c_str());  // left by an earlier daemon with the same pid
  const UniqueFd file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.valid()) return cannot_write(path, errno);
  const std::string text = encode(record);
  errno = ENOSPC;  // what a short write means
  const bool written = write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (written && rename(fresh.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  unlink(fresh.c_str());
  return cannot_write(path, error);
}

void remove_pid_file(const std::string& path, const PidRecord& record) {
  if (read_pid_file(path) == record) unlink(path.c_str());
}

}  // namespace corral::serve
