#include "cli/commands/bundle_parts.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>
#include <ctime>
#include <deque>
#include <filesystem>
#include <system_error>

#include "base/files.h"
#include "base/keep_limit.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "base/utc_time.h"
#include "cli/commands/bundle_mask.h"
#include "cli/commands/kept_history.h"
#include "cli/frame/help_page.h"
#include "cli/screen/last_page.h"
#include "config/configuration.h"
#include "config/show.h"
#include "control/runtime_dir.h"
#include "proc/levels.h"
#include "survey/findings.h"
#include "survey/snapshot.h"
#include "survey/survey_json.h"

namespace corral::cli {
namespace {

constexpr std::size_t kMostEvents = 500;
constexpr off_t kMostOfLog = off_t{128} << 10;

/// What becomes of a part that is too long.
enum class Keep : std::uint8_t { Beginning, End };

/// Cut at the end of a line.
std::string bounded(std::string text, Keep keep) {
  if (text.size() <= kLargestPart) return text;
  const std::string cut =
      "… " + std::to_string(text.size() - kLargestPart) + " bytes or more are left out here …\n";
  if (keep == Keep::Beginning) {
    text.resize(text.rfind('\n', kLargestPart - 1) + 1);
    return text + cut;
  }
  const std::size_t begin = text.find('\n', text.size() - kLargestPart);
  return cut + text.substr(begin == std::string::npos ? text.size() : begin + 1);
}

BundlePart part(const std::string& name, std::string text, Keep keep = Keep::Beginning) {
  return {name, bounded(std::move(text), keep), false};
}

BundlePart failed(const BundleMask& mask, const std::string& name, const std::string& why) {
  return {name, "not collected: " + mask.lines(why), true};
}

std::vector<std::string> homes() {
  std::vector<std::string> found = {survey::own_places().home};
  std::error_code unknown;
  const std::filesystem::path real = std::filesystem::canonical(found.front(), unknown);
  if (!unknown && real != found.front()) found.push_back(real.string());
  return found;
}

/// The value of NAME= in /etc/os-release.
std::string distribution() {
  const std::string text = read_text("/etc/os-release");
  constexpr std::string_view kName = "PRETTY_NAME=";
  const std::size_t at = text.find(kName);
  if (at == std::string::npos) return "unknown";
  const std::size_t begin = at + kName.size();
  std::string name = text.substr(begin, text.find('\n', begin) - begin);
  std::erase(name, '"');
  return printable(name);
}

std::string libc() {
#ifdef _CS_GNU_LIBC_VERSION
  char version[64] = {};
  if (confstr(_CS_GNU_LIBC_VERSION, version, sizeof version) > 0) return version;
#endif
  return "unknown";
}

std::string setting(const char* file) {
  const std::string text = printable_line(read_text(file));
  return text.empty() ? "not there" : text;
}

/// Versions, and what the kernel allows.
std::string about_machine(const proc::Levels& levels) {
  utsname system{};
  uname(&system);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  const auto yes = [](bool value) { return std::string(value ? "yes" : "no"); };
  return version_line() + "\nsystem: " + system.sysname + " " + system.release + " " + system.machine +
         "\ndistribution: " + distribution() + "\nlibc: " + libc() +
         "\nruns as root: " + yes(geteuid() == 0) + "\nopen files: " + std::to_string(files.rlim_cur) +
         " of " + std::to_string(files.rlim_max) +
         "\nuser namespaces: " + setting("/proc/sys/user/max_user_namespaces") +
         "\ncgroup for each server: " + yes(levels.cgroup) +
         "\ncgroup controllers: " + yes(levels.controllers) +
         "\nstrict containment: " + (levels.strict ? "yes" : "no: " + levels.why_not_strict) + "\n";
}

BundlePart status_part(const BundleMask& mask, const control::DaemonAnswer& answer) {
  if (!answer.ok()) return failed(mask, "status.json", answer.text);
  return part("status.json", mask.json(answer.text));
}

/// What ran last and how each server failed last: the registry has it also without a daemon.
BundlePart servers_part(const BundleMask& mask, const std::string& runtime_dir, const KnownStatus& status) {
  const Result<std::string> file = registry_file(runtime_dir, status);
  if (!file) return failed(mask, "servers.json", file.error().message);
  const Result<LastRuns> last = read_last_runs(*file, status);
  if (!last) return failed(mask, "servers.json", last.error().message);
  return part("servers.json", mask.json(last_runs_json(*last)));
}

BundlePart events_part(const BundleMask& mask, const std::string& runtime_dir, const KnownStatus& status) {
  const Result<std::string> file = registry_file(runtime_dir, status);
  if (!file) return failed(mask, "events.jsonl", file.error().message);
  std::deque<std::string> lines;
  const Result<void> read = each_kept_event(*file, [&](const boost::json::value& event) {
    lines.push_back(boost::json::serialize(event));
    if (lines.size() > kMostEvents) lines.pop_front();
  });
  if (!read) return failed(mask, "events.jsonl", read.error().message);
  std::string text;
  for (const std::string& line : lines) text += mask.line(line) + "\n";
  return part("events.jsonl", std::move(text), Keep::End);
}

BundlePart doctor_part(const BundleMask& mask, const proc::Levels& levels, std::size_t keep) {
  const Result<survey::Survey> survey = survey::look_around();
  if (!survey) return failed(mask, "doctor.json", survey.error().message);
  const std::string json = survey::to_json(*survey, survey::find(*survey, keep), levels, keep);
  return part("doctor.json", mask.json(json));
}

/// The end of the log of a daemon that a client or `serve --background` has started.
BundlePart log_part(const BundleMask& mask, const std::string& runtime_dir) {
  std::string why;
  for (const std::string& directory : control::candidates(runtime_dir, geteuid())) {
    const Result<void> usable = control::check_runtime_dir(directory);
    const std::string file = control::log_path(directory);
    const UniqueFd opened(usable ? open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) : -1);
    struct stat status {};
    if (!opened.valid() || fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      why +=
          (why.empty() ? "" : "; ") + (usable ? "there is no log at '" + file + "'" : usable.error().message);
      continue;
    }
    std::string text(static_cast<std::size_t>(std::min(status.st_size, kMostOfLog)), '\0');
    const ssize_t got =
        pread(opened.get(), text.data(), text.size(), std::max<off_t>(status.st_size - kMostOfLog, 0));
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    // The first line may be the end of one, without the word that announces a secret in it.
    if (status.st_size > kMostOfLog) text.erase(0, text.find('\n') + 1);
    return part("daemon.log", mask.lines(text), Keep::End);
  }
  return failed(mask, "daemon.log", why);
}

}  // namespace

std::vector<BundlePart> collect_bundle(const std::string& runtime_dir, const std::string& config_file) {
  const BundleMask mask(homes());
  const control::DaemonAnswer answer =
      control::ask_daemon(runtime_dir, control::status_hello(control::Measure::Yes));
  KnownStatus status;
  if (answer.ok()) {
    if (const Result<JsonAnswer> parsed = read_answer(answer)) status = observe::read_status(parsed->value);
  }
  const std::string file = !config_file.empty() ? config_file : config::default_file();
  const Result<config::Configuration> configuration = config::read(file);
  const std::size_t keep =
      keep_in_use(configuration ? configuration->options.keep : keep_from_environment_or_default());
  const proc::Levels levels = proc::probe_levels();

  std::vector<BundlePart> parts;
  parts.push_back(part("about.txt", mask.lines(about_machine(levels))));
  parts.push_back(status_part(mask, answer));
  parts.push_back(servers_part(mask, runtime_dir, status));
  parts.push_back(events_part(mask, runtime_dir, status));
  parts.push_back(doctor_part(mask, levels, keep));
  parts.push_back(configuration ? part("config.json", mask.configuration(config::to_json(*configuration)))
                                : failed(mask, "config.json", configuration.error().message));
  parts.push_back(log_part(mask, runtime_dir));
  return parts;
}

std::string bundle_text(const std::vector<BundlePart>& parts) {
  std::string text =
      "corral support archive, format 1, made " + show_utc_seconds(time(nullptr)) +
      "\nWhat looks like a secret is ***, and a home directory is ~. Read it before you send it: no "
      "rule knows every secret.\n";
  for (const BundlePart& one : parts) {
    text += "\n==== " + one.name + (one.failed ? " (not collected)" : "") + " ====\n";
    std::string_view rest = one.text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      // A server that writes such a line must not begin another section.
      if (rest.starts_with("====")) text += ' ';
      text.append(rest.substr(0, end)).push_back('\n');
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return text;
}

}  // namespace corral::cli
