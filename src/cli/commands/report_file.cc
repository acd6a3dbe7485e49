#include "cli/commands/report_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace corral::cli {
namespace {

/// The reader of a pipe gets a moment to open it.
UniqueFd open_to_append(const std::string& path) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{50};
  UniqueFd file;
  for (int i = 0; i < kTries; ++i) {
    file =
        UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600));
    if (file.valid() || errno != ENXIO) break;
    std::this_thread::sleep_for(kPause);
    errno = ENXIO;
  }
  if (file.valid()) fcntl(file.get(), F_SETFL, O_APPEND);  // only open() must not block
  return file;
}

}  // namespace

Result<UniqueFd> open_report(const std::string& path, int lowest) {
  if (path.empty()) return UniqueFd();
  UniqueFd file(path == "-" ? UniqueFd(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, lowest)) : open_to_append(path));
  if (!file.valid() && errno == ENXIO) {
    return Error{"the report file '" + path +
                 "' is a pipe without a reader: start the reader first, or correct --report"};
  }
  if (!file.valid()) {
    return Error{"cannot open the report file '" + path + "': " + strerror(errno) + "; correct --report"};
  }
  return file;
}

}  // namespace corral::cli
