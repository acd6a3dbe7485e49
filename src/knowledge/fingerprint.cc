#include "knowledge/fingerprint.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "base/text.h"
#include "knowledge/input_reader.h"
#include "knowledge/program_files.h"

namespace corral::knowledge {
namespace {

enum class Look : std::uint8_t { Found, Gone, Unknown };

Look look_at(const std::string& path, FilePrint& print) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? Look::Gone : Look::Unknown;
  }
  if (!S_ISREG(status.st_mode)) return Look::Gone;  // something else has its name
  constexpr std::int64_t kSecond = 1'000'000'000;
  print = {path, status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
           status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
  return Look::Found;
}

}  // namespace

Fingerprint learn_fingerprint(pid_t server, std::uint64_t input_inode) {
  const std::optional<Program> program = find_input_reader(server, input_inode);
  if (!program) return {};
  const char* const home = getenv("HOME");
  Fingerprint fingerprint;
  for (const std::string& path : files_of(*program, home == nullptr ? "" : home)) {
    FilePrint print;
    if (look_at(path, print) == Look::Found) fingerprint.files.push_back(std::move(print));
  }
  return fingerprint;
}

std::optional<std::string> what_changed(const Fingerprint& fingerprint) {
  for (const FilePrint& before : fingerprint.files) {
    FilePrint now;
    const Look look = look_at(before.path, now);
    if (look == Look::Gone) return printable(before.path) + " is gone";
    // Where we may not look for now, nothing is known to have changed.
    if (look == Look::Found && now != before) return printable(before.path) + " has changed";
  }
  return std::nullopt;
}

}  // namespace corral::knowledge
