#include "app/service.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "app/daemon.h"
#include "app/instance_lock.h"
#include "app/start.h"
#include "base/log.h"
#include "control/runtime_dir.h"
#include "keeper/janitor.h"

namespace corral::app {
namespace {

int descriptor(const std::string& text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > STDERR_FILENO ? number : -1;
}

/// The janitor's words are no interface: whoever types them holds no lock.
int serve_under_janitor(const ServeOptions& options) {
  const std::vector<std::string>& words = options.from_janitor;
  const bool proper = words.size() == 3 && words[0] == keeper::kUnderJanitor && !options.runtime_dir.empty();
  const int lock = proper ? descriptor(words[1]) : -1;
  const int lifeline = proper ? descriptor(words[2]) : -1;
  if (lifeline < 0 || !is_our_lock(lock, options.runtime_dir)) {
    log_line("`corral serve` takes no words; see `corral serve --help`");
    return 1;
  }
  return run_daemon(options, UniqueFd(lock), UniqueFd(lifeline));
}

}  // namespace

std::string pid_file_of(const ServeOptions& options, const std::string& runtime_dir) {
  if (options.pid_file.empty()) return control::pid_path(runtime_dir);
  return std::filesystem::absolute(options.pid_file).string();
}

int serve(const ServeOptions& options) {
  if (!options.from_janitor.empty()) return serve_under_janitor(options);
  return options.background ? start_in_background(options) : start(options);
}

}  // namespace corral::app
