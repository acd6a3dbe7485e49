#include "cli/commands/kept_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/text.h"
#include "base/utc_time.h"

namespace corral::cli {
namespace {

constexpr std::size_t kMostFiles = 10;                            // the daemon keeps fewer
constexpr std::size_t kLongestKeptLine = std::size_t{128} << 10;  // the daemon writes shorter ones

std::string rotated(const std::string& path, std::size_t number) {
  return number == 0 ? path : path + "." + std::to_string(number);
}

}  // namespace

std::optional<KeptLine> parse_kept_line(std::string_view line) {
  constexpr std::size_t kInstance = kUtcLength + 1;
  constexpr std::size_t kText = kInstance + 9;
  if (line.size() < kText || line[kUtcLength] != ' ' || line[kText - 1] != ' ') return std::nullopt;
  const std::optional<std::int64_t> time = parse_utc(line.substr(0, kUtcLength));
  const std::string_view instance = line.substr(kInstance, 8);
  if (!time || instance.find(' ') != std::string_view::npos) return std::nullopt;
  return KeptLine{*time, printable(std::string(instance)), printable(std::string(line.substr(kText)))};
}

bool KeptLog::exists() const {
  for (std::size_t i = 0; i < kMostFiles; ++i) {
    struct stat status {};
    if (stat(rotated(path_, i).c_str(), &status) == 0 && S_ISREG(status.st_mode)) return true;
  }
  return false;
}

void KeptLog::read(const Sink& sink) {
  read_rest(sink);
  std::vector<File> later = later_files();
  for (auto file = later.rbegin(); file != later.rend(); ++file) {
    read_rest(sink);  // the rest, written before it was rotated
    begun_.clear();
    file_ = std::move(*file);
  }
  if (!later.empty()) read_rest(sink);
}

/// The files that are newer than the one that was read last, newest first; all of them if it is gone. Because
/// they are opened in this order, a rotation in between makes us see one file twice but never miss one.
std::vector<KeptLog::File> KeptLog::later_files() const {
  std::vector<File> later;
  for (std::size_t i = 0; i < kMostFiles; ++i) {
    File file{UniqueFd(open(rotated(path_, i).c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)), 0, 0};
    struct stat status {};
    if (!file.fd.valid() || fstat(file.fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      if (i == 0) continue;  // between two steps of a rotation
      break;
    }
    file.inode = status.st_ino;
    file.device = status.st_dev;
    const auto is_same = [&file](const File& other) {
      return other.fd.valid() && other.inode == file.inode && other.device == file.device;
    };
    if (is_same(file_)) break;
    if (later.empty() || !is_same(later.back())) later.push_back(std::move(file));
  }
  return later;
}

void KeptLog::read_rest(const Sink& sink) {
  if (!file_.fd.valid()) return;
  struct stat status {};
  // The file was truncated.
  if (fstat(file_.fd.get(), &status) == 0 && status.st_size < lseek(file_.fd.get(), 0, SEEK_CUR)) {
    lseek(file_.fd.get(), 0, SEEK_SET);
    begun_.clear();
  }
  std::array<char, 65536> chunk;
  ssize_t got = 0;
  while ((got = ::read(file_.fd.get(), chunk.data(), chunk.size())) > 0) {
    std::string_view rest(chunk.data(), static_cast<std::size_t>(got));
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      begun_.append(rest.substr(0, end));
      rest.remove_prefix(end + 1);
      sink(begun_);
      begun_.clear();
    }
    if (begun_.size() + rest.size() <= kLongestKeptLine) begun_.append(rest);
  }
}

}  // namespace corral::cli
