#include "shim/client_limits.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <sstream>

#include "base/files.h"
#include "base/unique_fd.h"

namespace corral::shim {
namespace {

struct Known {
  __rlimit_resource resource;
  std::string_view name;   // in /proc/PID/limits
  std::string_view words;  // for messages
};

/// Each of them ends a long-running process, or makes it fail, sooner or later.
constexpr std::array<Known, 4> kKnown = {{{RLIMIT_CPU, "Max cpu time", "a CPU time limit"},
                                          {RLIMIT_AS, "Max address space", "an address space limit"},
                                          {RLIMIT_DATA, "Max data size", "a memory limit"},
                                          {RLIMIT_FSIZE, "Max file size", "a file size limit"}}};
constexpr rlim_t kUsualFiles = 1024;

std::optional<rlim_t> number_of(const std::string& word) {
  if (word == "unlimited") return RLIM_INFINITY;
  rlim_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

/// A limit that may not be raised fully is raised as far as possible.
void take_limit(__rlimit_resource resource, const rlimit& wanted) {
  rlimit own{};
  if (getrlimit(resource, &own) != 0 || setrlimit(resource, &wanted) == 0) return;
  const rlim_t most = std::min(own.rlim_max, wanted.rlim_max);
  const rlimit possible{std::min(wanted.rlim_cur, most), most};
  setrlimit(resource, &possible);
}

/// Finds out by trying, because the required privilege also depends on the namespace.
bool may_lift(__rlimit_resource resource, const rlimit& own, rlim_t most) {
  const rlimit lifted{own.rlim_cur, most};
  return setrlimit(resource, &lifted) == 0 && setrlimit(resource, &own) == 0;
}

/// Raises the soft limit of processes to the hard limit, and that of open files to the usual value if it is
/// lower.
void lift_soft_limits() {
  rlimit own{};
  if (getrlimit(RLIMIT_NPROC, &own) == 0) {
    own.rlim_cur = own.rlim_max;
    setrlimit(RLIMIT_NPROC, &own);
  }
  if (getrlimit(RLIMIT_NOFILE, &own) == 0 && own.rlim_cur < kUsualFiles) {
    own.rlim_cur = std::min(own.rlim_max, kUsualFiles);
    setrlimit(RLIMIT_NOFILE, &own);
  }
}

void take_schedule_of(pid_t adopter) {
  const sched_param usual{};
  sched_setscheduler(0, SCHED_OTHER, &usual);
  errno = 0;
  const int niceness = getpriority(PRIO_PROCESS, static_cast<id_t>(adopter));
  if (errno == 0) setpriority(PRIO_PROCESS, 0, niceness);
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (sched_getaffinity(adopter, sizeof processors, &processors) == 0) {
    sched_setaffinity(0, sizeof processors, &processors);
  }
  constexpr int kOneProcess = 1;  // IOPRIO_WHO_PROCESS
  syscall(SYS_ioprio_set, kOneProcess, 0, 0);
}

void take_oom_score_of(pid_t adopter) {
  const std::string score = read_text("/proc/" + std::to_string(adopter) + "/oom_score_adj");
  const UniqueFd file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (score.empty() || !file.valid()) return;
  if (write(file.get(), score.data(), score.size()) < 0)
    errno = 0;  // without privileges it can only be raised
}

}  // namespace

std::optional<rlimit> limit_in(std::string_view limits, std::string_view name) {
  std::istringstream lines{std::string(limits)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream words(line.substr(name.size()));
    std::string soft;
    std::string hard;
    words >> soft >> hard;
    const std::optional<rlim_t> current = number_of(soft);
    const std::optional<rlim_t> most = number_of(hard);
    if (!current || !most) return std::nullopt;
    return rlimit{*current, *most};
  }
  return std::nullopt;
}

std::string limit_for_good(std::string_view adopters_limits) {
  for (const Known& known : kKnown) {
    const std::optional<rlimit> adopters = limit_in(adopters_limits, known.name);
    rlimit own{};
    if (!adopters || getrlimit(known.resource, &own) != 0) continue;
    if (own.rlim_max < adopters->rlim_max && !may_lift(known.resource, own, adopters->rlim_max)) {
      return std::string(known.words);
    }
  }
  return "";
}

void leave_limits_behind(pid_t adopter) {
  const std::string limits = read_text("/proc/" + std::to_string(adopter) + "/limits");
  for (const Known& known : kKnown) {
    if (const std::optional<rlimit> adopters = limit_in(limits, known.name)) {
      take_limit(known.resource, *adopters);
    }
  }
  lift_soft_limits();
  take_schedule_of(adopter);
  take_oom_score_of(adopter);
  personality(PER_LINUX);
  prctl(PR_SET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);  // back to the default
}

}  // namespace corral::shim
